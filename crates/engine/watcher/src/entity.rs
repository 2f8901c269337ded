//! Entities and what the engine needs to know of them.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use bytes::Bytes;
use store::{Batch, Key, Scan};
use xxhash_rust::xxh3::xxh3_64;

use crate::fields::Fields;
use crate::limits::{ENTITY_BYTES_MAX, ENTITY_ID_BYTES_MAX};
use crate::tables::ENTITIES;
use crate::watcher::Versioned;
use crate::{Error, Result};
use clock::Time;

/// Anything with an id that converts to and from text. Its version is the version of its row.
///
/// By default entities are stored in a table of the watcher. An entity with a table of its own
/// implements [`key`](Self::key) and [`scan`](Self::scan).
pub trait Entity: Clone + Send + Sync + Sized + 'static {
    /// Two ids are equal if their texts are.
    type Id: Clone + Ord + Display + FromStr + Send + Sync + 'static;

    /// The name of this kind of entity, unique in a store: `offer`.
    const KIND: &'static str;

    /// Never changes.
    fn id(&self) -> Self::Id;

    /// The value of the entity's row.
    fn encode(&self) -> Bytes;

    /// Reads what [`encode`](Self::encode) wrote; the error says what is wrong with the bytes.
    fn decode(bytes: &Bytes) -> Result<Self, String>;

    /// The part of an encoded entity that goes to the topic: all of it, unless the row has state
    /// that consumers must not see.
    fn published(encoded: Bytes) -> Result<Bytes, String> {
        Ok(encoded)
    }

    /// The fields in which two versions differ. Naming too many is safe; stages do not see the
    /// change of a field that is left out.
    fn changed_fields(before: &Self, after: &Self) -> Fields;

    /// Copies the values of some fields from another version.
    fn take_fields(&mut self, fields: &Fields, from: &Self);

    /// Adds rows that must be saved together with a change: list rows, counts, a history. Called
    /// for every change, by callers and by stages. It must depend on the change alone and read
    /// nothing. Rows that other changes write too need no check if they are sets, deletions and
    /// additions.
    fn derived_rows(change: &ChangeContext<'_, Self>, batch: &mut Batch) {
        let _ = (change, batch);
    }

    /// Who made this version, if the entity keeps that. It becomes a header in the topic for
    /// changes from outside; changes of stages carry the stage's id.
    fn author(&self) -> String {
        String::new()
    }

    /// The key of the entity's row.
    #[must_use]
    fn key(shard: u32, id: &Self::Id) -> Key {
        ENTITIES.key((shard, Self::KIND, &*id.to_string()))
    }

    /// All entities of a shard.
    #[must_use]
    fn scan(shard: u32) -> Scan {
        ENTITIES.prefix((shard, Self::KIND))
    }

    /// A uniformly distributed id made of a random number, where samples start. Without one,
    /// samples start at the beginning of a shard.
    #[must_use]
    fn random_id(random: u64) -> Option<Self::Id> {
        let _ = random;
        None
    }
}

/// A change of an entity that is about to be saved.
#[derive(Clone, Copy, Debug)]
pub struct ChangeContext<'a, E> {
    /// The entity's shard, out of `shards`.
    pub shard: u32,
    pub shards: u32,
    /// `None` if the entity is new.
    pub before: Option<&'a E>,
    /// `None` if the entity is removed.
    pub after: Option<&'a E>,
    /// The fields that differ; all of them if the entity is new or removed.
    pub fields: &'a Fields,
    /// The version that the entity gets.
    pub version: u64,
    /// The stage that makes the change; `None` for a change from outside.
    pub stage: Option<&'a str>,
    pub now: Time,
}

/// The next version of an entity, with its field difference and its encoding, each computed once.
#[derive(Clone, Debug)]
pub struct Prepared<'a, E: Entity> {
    pub(crate) after: Cow<'a, E>,
    pub(crate) fields: Fields,
    pub(crate) bytes: Bytes,
}

impl<'a, E: Entity> Prepared<'a, E> {
    /// Prepares a change for [`Watcher::save_prepared`](crate::Watcher::save_prepared).
    /// [`Refused`](Error::Refused) if the entity cannot be stored.
    pub fn new(before: Option<&Versioned<E>>, after: &'a E) -> Result<Self> {
        let id = after.id().to_string();
        let refuse = |what: String| Err(Error::Refused { kind: E::KIND, id: id.clone(), what });
        if id.is_empty() || id.len() > ENTITY_ID_BYTES_MAX || id.contains('\0') {
            return refuse(format!("an id must have 1 to {ENTITY_ID_BYTES_MAX} bytes and no NUL"));
        }
        if id.parse::<E::Id>().is_err() {
            return refuse("the id cannot be parsed from its own text".to_owned());
        }
        if before.is_some_and(|before| before.entity.id() != after.id()) {
            return refuse("an entity cannot change its id".to_owned());
        }
        let prepared = Self::between(before.map(|before| &before.entity), Cow::Borrowed(after));
        let bytes = prepared.bytes.len();
        if bytes > ENTITY_BYTES_MAX {
            return refuse(format!("it has {bytes} bytes, the limit is {ENTITY_BYTES_MAX}"));
        }
        Ok(prepared)
    }

    pub(crate) fn between(before: Option<&E>, after: Cow<'a, E>) -> Self {
        let fields = before.map_or_else(Fields::all, |before| E::changed_fields(before, &after));
        Self { bytes: after.encode(), after, fields }
    }

    /// The fields that differ; all of them for a new entity.
    #[must_use]
    pub fn fields(&self) -> &Fields {
        &self.fields
    }
}

/// The shard of an id, out of `shards`.
#[must_use]
pub fn shard_of(id: &str, shards: u32) -> u32 {
    (xxh3_64(id.as_bytes()) % u64::from(shards.max(1))) as u32
}
