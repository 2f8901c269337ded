//! Entities: what evolves.

use std::fmt::Display;
use std::str::FromStr;

use bytes::Bytes;
use store::{Batch, Key, Scan};
use xxhash_rust::xxh3::xxh3_64;

use crate::fields::Fields;
use crate::tables::ENTITIES;
use crate::time::Time;

/// Anything with an id that converts to and from text. Its version is the version of its row.
///
/// By default entities stand in a table of the watcher's own. One that belongs to another table says so with [`key`](Self::key)
/// and [`scan`](Self::scan).
pub trait Entity: Clone + Send + Sync + Sized + 'static {
    /// The id. Two ids are equal if their texts are.
    type Id: Clone + Ord + Display + FromStr + Send + Sync + 'static;

    /// The name of this kind of entity, unique in a store: `offer`.
    const KIND: &'static str;

    /// Which entity this is. It never changes.
    fn id(&self) -> Self::Id;

    /// As the store keeps it.
    fn encode(&self) -> Bytes;

    /// What [`encode`](Self::encode) wrote; the error says what is wrong with the bytes.
    fn decode(bytes: &Bytes) -> Result<Self, String>;

    /// What the topic carries of an encoded entity: all of it, unless it has state that consumers must not see.
    fn published(encoded: Bytes) -> Result<Bytes, String> {
        Ok(encoded)
    }

    /// The fields in which two versions differ. Nothing is lost if it names too many; one that it leaves out is not seen by the stages
    /// that asked for it.
    fn changed_fields(before: &Self, after: &Self) -> Fields;

    /// Takes over the values of some fields from another version.
    fn take_fields(&mut self, fields: &Fields, from: &Self);

    /// Adds to the batch of a change what must be saved together with it: rows of lists, counts, a history. It is called for every change, whoever makes it,
    /// and reads nothing: what it writes follows from the change alone. Rows that others may write need no check if they are sets, deletions
    /// and additions.
    fn follow_up(change: &Evolved<'_, Self>, batch: &mut Batch) {
        let _ = (change, batch);
    }

    /// Who made this version of an entity, if it keeps that. The topic hears it of changes that come from outside; stages sign with their ids.
    fn signature(&self) -> String {
        String::new()
    }

    /// Where the entity stands.
    #[must_use]
    fn key(shard: u32, id: &Self::Id) -> Key {
        ENTITIES.key((shard, Self::KIND, &*id.to_string()))
    }

    /// All entities of a shard.
    #[must_use]
    fn scan(shard: u32) -> Scan {
        ENTITIES.prefix((shard, Self::KIND))
    }

    /// An id as there may be one, as likely as any other, made of a random number: samples begin there. Without one they begin with the first of a shard.
    #[must_use]
    fn random_id(random: u64) -> Option<Self::Id> {
        let _ = random;
        None
    }
}

/// A change of an entity that is about to be saved.
#[derive(Clone, Copy, Debug)]
pub struct Evolved<'a, E> {
    /// The entity's shard,
    pub shard: u32,
    /// of so many.
    pub shards: u32,
    /// What it was; `None` if it is new.
    pub before: Option<&'a E>,
    /// What it becomes; `None` if it is removed.
    pub after: Option<&'a E>,
    /// The fields that differ; all of them if it is new or removed.
    pub changed: &'a Fields,
    /// The version that it gets.
    pub version: u64,
    /// The stage that makes the change; `None` if it comes from outside.
    pub stage: Option<&'a str>,
    /// What time it is.
    pub now: Time,
}

/// The shard of an entity, of so many shards.
#[must_use]
pub fn shard_of(id: &str, shards: u32) -> u32 {
    (xxh3_64(id.as_bytes()) % u64::from(shards.max(1))) as u32
}
