//! Commits: one group of batches becomes one batch of the engine, forced to the disk.

use std::collections::BTreeMap;
use std::time::Duration;

use fjall::{OwnedWriteBatch, PersistMode};

use super::errors::{engine_error, guarded};
use super::layout::{FRESH_BYTES, checked, leading_u64, seal};
use super::read::Moment;
use super::recent::Recent;
use super::{Database, own_row};
use crate::batch::{BatchId, Write};
use crate::engine::ApplyError;
use crate::group::{Decision, Group, Verdict, add, decide};
use crate::key::Key;
use crate::limits::GROUPS_REMEMBERED;
use crate::options::Durability;
use crate::table::Kind;
use crate::{Error, Result};

/// Unflushed bytes above which commits wait: twice what the keyspaces hold before they are flushed.
const FRESH_BYTES_MAX: u64 = 2 * FRESH_BYTES;
/// How long and how often a commit waits for a flush.
const MEMORY_WAIT: Duration = Duration::from_millis(1);
const MEMORY_WAITS_MAX: u32 = 50;
/// Versions and amounts that are cached at least.
const RECENT_MAX: usize = 1 << 16;

pub(super) struct Progress {
    /// The number of the last group in the database.
    pub(super) group: u64,
    /// Zero: there is no such row.
    versions: Recent<u64>,
    amounts: Recent<i64>,
}

impl Progress {
    pub(super) fn after(group: u64) -> Self {
        let (versions, amounts) = (Recent::new(RECENT_MAX), Recent::new(RECENT_MAX));
        Self { group, versions, amounts }
    }

    /// Caches the results of a group.
    fn note(&mut self, writes: BTreeMap<Key, Write>, sums: Vec<(Key, i64)>) {
        let versioned = writes.into_iter().filter(|(key, _)| key.table().kind == Kind::Versioned);
        for (key, write) in versioned {
            let version = if let Write::Put { version, .. } = write { version } else { 0 };
            self.versions.note(key, version);
        }
        for (key, sum) in sums {
            self.amounts.note(key, sum);
        }
    }
}

struct Prepared {
    /// One write for each key.
    batch: OwnedWriteBatch,
    /// The new amounts of counters.
    sums: Vec<(Key, i64)>,
}

/// The first row of every batch: it counts groups, and is a lower bound of the sequence number of
/// fjall.
#[derive(Clone, Copy)]
pub(super) struct GroupRow {
    pub(super) group: u64,
    pub(super) sequence_min: u64,
}

impl GroupRow {
    fn key() -> Vec<u8> {
        own_row(b'm', &[])
    }

    fn sealed(self) -> Vec<u8> {
        seal(&Self::key(), &self.group.to_be_bytes(), &self.sequence_min.to_be_bytes())
    }

    pub(super) fn parse(key: &[u8], value: &[u8]) -> Option<Self> {
        let content = (key == Self::key()).then(|| checked(key, value))??;
        (content.len() == 16)
            .then(|| Self { group: leading_u64(content), sequence_min: leading_u64(&content[8..]) })
    }

    /// `None` in a new database.
    pub(super) fn read(database: &Database) -> Result<Option<Self>> {
        let stored = database.keyspaces.small.get(Self::key());
        let Some(stored) = stored.map_err(|e| engine_error(&e, &database.place()))? else { return Ok(None) };
        Self::parse(&Self::key(), &stored).map(Some).ok_or_else(|| Error::Corrupt {
            place: database.place(),
            detail: "the row that counts groups is damaged".to_owned(),
        })
    }
}

/// The error of every later commit.
fn stopped(error: &Error) -> Error {
    Error::Stopped { detail: format!("an earlier one failed ({error})") }
}

/// The row with the ids of a group's batches. Rows are reused after [`GROUPS_REMEMBERED`] groups.
fn ids_key(group: u64) -> Vec<u8> {
    own_row(b'g', &((group % GROUPS_REMEMBERED) as u16).to_be_bytes())
}

impl Database {
    /// Applies a group. Blocks for one forced write.
    pub(super) fn commit(&self, group: &Group) -> Result<Vec<Verdict>, ApplyError> {
        let mut progress = self.progress.lock();
        if let Some(error) = self.failed.get() {
            return Err(error.clone().into());
        }
        self.require_free_space()?;
        self.wait_for_memory();
        let decision =
            guarded(|| self.place(), || decide(group, |key| self.version(&mut progress.versions, key)))?;
        if decision.verdicts.iter().all(|verdict| *verdict != Verdict::Applied) {
            return Ok(decision.verdicts);
        }
        let number = progress.group + 1;
        let Decision { verdicts, writes } = decision;
        let applied = group.ids().zip(&verdicts).filter(|(_, verdict)| **verdict == Verdict::Applied);
        let ids: Vec<u8> = applied.flat_map(|(id, _)| id.0.to_be_bytes()).collect();
        let prepared =
            guarded(|| self.place(), || self.prepare(number, &ids, &writes, &mut progress.amounts));
        let Prepared { batch, sums } = prepared?;
        let mut refused = false;
        let written = guarded(
            || self.place(),
            || {
                batch.commit().map_err(|error| {
                    refused = matches!(error, fjall::Error::Poisoned);
                    engine_error(&error, &self.place())
                })
            },
        );
        let marked = written.and_then(|()| self.mark_acknowledged(number));
        if let Err(error) = marked {
            tracing::error!(%error, group = number, "a commit failed, the store refuses further writes");
            // The first failure stays; no other commit runs meanwhile.
            let _ = self.failed.set(stopped(&error));
            // A stopped engine refuses before it writes.
            return Err(if refused { error.into() } else { ApplyError::Unknown { verdicts, error } });
        }
        progress.group = number;
        progress.note(writes, sums);
        Ok(verdicts)
    }

    fn version(&self, versions: &mut Recent<u64>, key: &Key) -> Result<u64> {
        versions.get_or_read(key, || self.home(key.table())?.version(&self.keyspaces, key))
    }

    fn amount(&self, key: &Key) -> Result<i64> {
        let row = self.get_one(&Moment::Latest, key)?;
        Ok(row.map_or(0, |row| row.amount()))
    }

    /// Waits for a flush while too much is unflushed, for a limited time: fjall may need the next
    /// commit to notice that it is behind.
    fn wait_for_memory(&self) {
        for _ in 0..MEMORY_WAITS_MAX {
            if self.engine.write_buffer_size() <= FRESH_BYTES_MAX {
                return;
            }
            std::thread::sleep(MEMORY_WAIT);
        }
    }

    fn mark_acknowledged(&self, group: u64) -> Result<()> {
        match self.durability {
            Durability::Fsync => {
                self.mark.write(group).map_err(|e| super::errors::io_error(&e, &self.place()))
            }
            Durability::Os => Ok(()),
        }
    }

    /// All rows of a group as one batch of fjall.
    fn prepare(
        &self,
        number: u64,
        ids: &[u8],
        writes: &BTreeMap<Key, Write>,
        amounts: &mut Recent<i64>,
    ) -> Result<Prepared> {
        let mode = match self.durability {
            Durability::Fsync => PersistMode::SyncData,
            Durability::Os => PersistMode::Buffer,
        };
        let mut batch = self.start_batch(number, 2 * writes.len() + 2).durability(Some(mode));
        let ids_key = ids_key(number);
        let sealed_ids = seal(&ids_key, &number.to_be_bytes(), ids);
        batch.insert(&self.keyspaces.small, ids_key, sealed_ids);
        let mut sums = Vec::new();
        for (key, write) in writes {
            match write {
                Write::Put { version, value } => self.put(&mut batch, key, *version, value)?,
                Write::Delete => self.delete(&mut batch, key)?,
                Write::Add(delta) => {
                    let amount = amounts.get_or_read(key, || self.amount(key))?;
                    let sum = add(key, amount, *delta)?;
                    self.set_amount(&mut batch, key, sum)?;
                    sums.push((key.clone(), sum));
                }
            }
        }
        Ok(Prepared { batch, sums })
    }

    /// A batch of fjall that starts with its group row.
    fn start_batch(&self, number: u64, capacity: usize) -> OwnedWriteBatch {
        let mut batch = OwnedWriteBatch::with_capacity(self.engine.clone(), capacity);
        let row = GroupRow { group: number, sequence_min: self.engine.seqno() };
        batch.insert(&self.keyspaces.small, GroupRow::key(), row.sealed());
        batch
    }

    /// Writes internal rows as a group of their own.
    pub(super) fn write_own_rows(&self, rows: Vec<(Vec<u8>, Vec<u8>)>) -> Result<()> {
        let mut progress = self.progress.lock();
        let number = progress.group + 1;
        let mut batch = self.start_batch(number, rows.len() + 1).durability(Some(PersistMode::SyncAll));
        for (key, sealed) in rows {
            batch.insert(&self.keyspaces.small, key, sealed);
        }
        batch.commit().map_err(|e| engine_error(&e, &self.place()))?;
        self.mark_acknowledged(number)?;
        progress.group = number;
        Ok(())
    }

    fn put(&self, batch: &mut OwnedWriteBatch, key: &Key, version: u64, value: &[u8]) -> Result<()> {
        let home = self.home(key.table())?;
        let stored_key = home.stored_key(key.bytes());
        let head = version.to_be_bytes();
        let head = if version == 0 { &[][..] } else { &head[..] };
        batch.insert(&home.keyspace, &*stored_key, seal(&stored_key, head, value));
        if let Some(version_key) = home.version_key(key.bytes()) {
            batch.insert(&self.keyspaces.small, &*version_key, seal(&version_key, head, &[]));
        }
        Ok(())
    }

    fn delete(&self, batch: &mut OwnedWriteBatch, key: &Key) -> Result<()> {
        let home = self.home(key.table())?;
        batch.remove(&home.keyspace, &*home.stored_key(key.bytes()));
        if let Some(version_key) = home.version_key(key.bytes()) {
            batch.remove(&self.keyspaces.small, &*version_key);
        }
        Ok(())
    }

    fn set_amount(&self, batch: &mut OwnedWriteBatch, key: &Key, amount: i64) -> Result<()> {
        let home = self.home(key.table())?;
        let stored_key = home.stored_key(key.bytes());
        batch.insert(&home.keyspace, &*stored_key, seal(&stored_key, &amount.to_be_bytes(), &[]));
        Ok(())
    }

    /// Whether one of the remembered groups applied this batch.
    pub(super) fn remembers(&self, batch: BatchId) -> Result<bool> {
        let wanted = batch.0.to_be_bytes();
        for guard in self.keyspaces.small.prefix(own_row(b'g', &[])) {
            let (key, stored) = guard.into_inner().map_err(|e| engine_error(&e, &self.place()))?;
            let content = checked(&key, &stored).ok_or_else(|| Error::Corrupt {
                place: self.place(),
                detail: "a row with the ids of a group is damaged".to_owned(),
            })?;
            if content.get(8..).unwrap_or_default().chunks_exact(16).any(|id| id == wanted) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
