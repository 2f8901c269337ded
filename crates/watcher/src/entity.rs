//! Entities: what evolves.

use std::fmt::Display;
use std::str::FromStr;

use bytes::Bytes;
use store::{Key, Scan};
use xxhash_rust::xxh3::xxh3_64;

use crate::fields::Fields;
use crate::tables::ENTITIES;

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

    /// The fields in which two versions differ. Nothing is lost if it names too many; one that it leaves out is not seen by the stages
    /// that asked for it.
    fn changed_fields(before: &Self, after: &Self) -> Fields;

    /// Takes over the values of some fields from another version.
    fn take_fields(&mut self, fields: &Fields, from: &Self);

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
}

/// The shard of an entity, of so many shards.
#[must_use]
pub fn shard_of(id: &str, shards: u32) -> u32 {
    (xxh3_64(id.as_bytes()) % u64::from(shards.max(1))) as u32
}
