//! The layout of tables in fjall's keyspaces.
//!
//! There are three keyspaces (more would pin journals, see issue 288 of fjall): `large` for tables
//! whose values are stored apart from their keys, `queue` for rows that come and go, `small` for
//! everything else. The key of a row is the number of its table (two bytes) and its encoded key.
//! The value of a row starts with a checksum over key and content:
//!
//! ```text
//! versioned   sum (8) | version (8) | value
//! plain       sum (8) | value
//! counter     sum (8) | amount (8)
//! ```
//!
//! The version of a large row is stored again in a row of its own in `small`, under the number of
//! the table with the highest bit set, so that deciding a batch never reads large values. Table
//! number zero holds internal rows.

use std::sync::Arc;

use bytes::Bytes;
use fjall::compaction::Leveled;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions};
use smallvec::SmallVec;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::errors::engine_error;
use crate::key::Key;
use crate::row::Row;
use crate::table::{Kind, Placement, TableDef};
use crate::{Error, Result};

/// Values of this size and above are stored apart from their keys.
const SEPARATED_BYTES_MIN: u32 = 1024;
/// Memory of a keyspace for unflushed rows. A small row takes about four times the bytes that are
/// counted here.
const SMALL_MEMTABLE_BYTES: u64 = 8 << 20;
const LARGE_MEMTABLE_BYTES: u64 = 24 << 20;
const QUEUE_MEMTABLE_BYTES: u64 = 24 << 20;
pub(super) const FRESH_BYTES: u64 = SMALL_MEMTABLE_BYTES + LARGE_MEMTABLE_BYTES + QUEUE_MEMTABLE_BYTES;
/// Flushed tables that overlap before they are merged into the next level. A merge rewrites the
/// whole level, because keys are random: with 8 instead of the default of 4, an update of one among
/// 2,000,000 offers costs 11.6 KB and 74 us instead of 15.0 KB and 99 us, and reads are as fast.
const FRESH_TABLES_MAX: u8 = 8;
const SUM_BYTES: usize = 8;
/// Set in the number of a table of versions.
const VERSIONS: u16 = 1 << 15;

/// The keyspaces of an open database.
pub(super) struct Keyspaces {
    pub(super) small: Keyspace,
    pub(super) large: Keyspace,
    pub(super) queue: Keyspace,
}

/// Keyspaces of a complete database, including the internal one of fjall.
pub(super) const KEYSPACE_COUNT: usize = 4;

impl Keyspaces {
    pub(super) fn open(database: &Database) -> fjall::Result<Self> {
        let merges = Arc::new(Leveled::default().with_l0_threshold(FRESH_TABLES_MAX));
        let options = || KeyspaceCreateOptions::default().compaction_strategy(merges.clone());
        // Also for queues: otherwise compactions move values that will be deleted anyway.
        let apart = || Some(KvSeparationOptions::default().separation_threshold(SEPARATED_BYTES_MIN));
        Ok(Self {
            small: database.keyspace("small", || options().max_memtable_size(SMALL_MEMTABLE_BYTES))?,
            large: database.keyspace("large", || {
                options().max_memtable_size(LARGE_MEMTABLE_BYTES).with_kv_separation(apart())
            })?,
            queue: database.keyspace("queue", || {
                options().max_memtable_size(QUEUE_MEMTABLE_BYTES).with_kv_separation(apart())
            })?,
        })
    }

    pub(super) fn of(&self, placement: Placement) -> &Keyspace {
        match placement {
            Placement::Small => &self.small,
            Placement::Large => &self.large,
            Placement::Queue => &self.queue,
        }
    }
}

/// The number of the table and the encoded key.
pub(super) type StoredKey = SmallVec<[u8; 64]>;

pub(super) struct Home {
    pub(super) table: &'static TableDef,
    /// From one.
    pub(super) number: u16,
    pub(super) keyspace: Keyspace,
}

impl Home {
    pub(super) fn stored_key(&self, key: &[u8]) -> StoredKey {
        numbered(self.number, key)
    }

    /// The key of the separate version, for tables that have one.
    pub(super) fn version_key(&self, key: &[u8]) -> Option<StoredKey> {
        let apart = self.table.kind == Kind::Versioned && self.table.placement == Placement::Large;
        apart.then(|| numbered(self.number | VERSIONS, key))
    }

    pub(super) fn stored_range(&self, from: &[u8], to: Option<&[u8]>) -> (StoredKey, StoredKey) {
        let end = to.map_or_else(|| numbered(self.number + 1, &[]), |to| self.stored_key(to));
        (self.stored_key(from), end)
    }

    pub(super) fn row(&self, stored_key: &[u8], stored: &Bytes) -> Result<Row> {
        let bytes = stored_key.get(2..).unwrap_or_default();
        let key = Key::from_encoded(self.table, bytes);
        self.row_of(key, stored_key, stored)
    }

    pub(super) fn row_of(&self, key: Key, stored_key: &[u8], stored: &Bytes) -> Result<Row> {
        let content = checked(stored_key, stored).ok_or_else(|| damaged(&key))?;
        Ok(match self.table.kind {
            Kind::Plain => Row { key, version: 0, value: stored.slice(SUM_BYTES..) },
            Kind::Counter if content.len() == 8 => Row { key, version: 0, value: stored.slice(SUM_BYTES..) },
            Kind::Versioned if content.len() >= 8 => {
                Row { key, version: leading_u64(content), value: stored.slice(SUM_BYTES + 8..) }
            }
            Kind::Counter | Kind::Versioned => return Err(damaged(&key)),
        })
    }

    /// The version of a row without reading a large value; zero if there is no such row.
    pub(super) fn version(&self, keyspaces: &Keyspaces, key: &Key) -> Result<u64> {
        let (keyspace, stored_key) = match self.version_key(key.bytes()) {
            Some(stored_key) => (&keyspaces.small, stored_key),
            None => (&self.keyspace, self.stored_key(key.bytes())),
        };
        let stored = keyspace.get(&stored_key).map_err(|e| engine_error(&e, &key.to_string()))?;
        let Some(stored) = stored else { return Ok(0) };
        let content = checked(&stored_key, &stored).filter(|content| content.len() >= 8);
        Ok(leading_u64(content.ok_or_else(|| damaged(key))?))
    }
}

/// The number of the table without the mark, whether it had the mark of versions, and the encoded
/// key.
pub(super) fn split_stored_key(stored_key: &[u8]) -> Option<(u16, bool, &[u8])> {
    let (number, key) = stored_key.split_first_chunk()?;
    let number = u16::from_be_bytes(*number);
    Some((number & !VERSIONS, number & VERSIONS != 0, key))
}

fn numbered(number: u16, key: &[u8]) -> StoredKey {
    let mut stored = StoredKey::new();
    stored.extend_from_slice(&number.to_be_bytes());
    stored.extend_from_slice(key);
    stored
}

/// The checksum and the parts of a value.
pub(super) fn seal(stored_key: &[u8], head: &[u8], tail: &[u8]) -> Vec<u8> {
    let mut stored = Vec::with_capacity(SUM_BYTES + head.len() + tail.len());
    stored.extend_from_slice(&[0; SUM_BYTES]);
    stored.extend_from_slice(head);
    stored.extend_from_slice(tail);
    let sum = checksum(stored_key, &stored[SUM_BYTES..]);
    stored[..SUM_BYTES].copy_from_slice(&sum.to_be_bytes());
    stored
}

/// `None` if the checksum does not match.
pub(super) fn checked<'a>(stored_key: &[u8], stored: &'a [u8]) -> Option<&'a [u8]> {
    let (sum, content) = stored.split_first_chunk()?;
    (u64::from_be_bytes(*sum) == checksum(stored_key, content)).then_some(content)
}

fn checksum(stored_key: &[u8], content: &[u8]) -> u64 {
    xxh3_64_with_seed(content, xxh3_64(stored_key))
}

/// Zero if there are fewer than eight bytes.
pub(super) fn leading_u64(content: &[u8]) -> u64 {
    content.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

fn damaged(key: &Key) -> Error {
    Error::Corrupt { place: key.to_string(), detail: "the row does not match its checksum".to_owned() }
}
