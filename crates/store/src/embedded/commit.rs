//! Commits: one group of batches becomes one batch of the engine, forced to the disk.

use std::collections::BTreeMap;

use fjall::{OwnedWriteBatch, PersistMode};

use super::errors::{engine_error, guarded};
use super::layout::{checked, leading_u64, seal};
use super::{Database, own_row};
use crate::batch::{BatchId, Write};
use crate::engine::ApplyError;
use crate::group::{Decision, Group, Verdict, add, decide};
use crate::key::Key;
use crate::limits::GROUPS_REMEMBERED;
use crate::options::Durability;
use crate::{Error, Result};

/// What the committing thread knows.
pub(super) struct Progress {
    /// The number of the last group in the database.
    pub(super) group: u64,
    /// Set when a write failed: what the engine holds on disk is no longer certain, so nothing more is written.
    pub(super) failed: Option<Error>,
}

impl Progress {
    pub(super) fn after(group: u64) -> Self {
        Self { group, failed: None }
    }
}

/// The row that starts every batch of the engine: it counts groups, and bounds the engine's own sequence number from below.
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

    /// The row, if key and value are one.
    pub(super) fn parse(key: &[u8], value: &[u8]) -> Option<Self> {
        let content = (key == Self::key()).then(|| checked(key, value))??;
        (content.len() == 16)
            .then(|| Self { group: leading_u64(content), sequence_min: leading_u64(&content[8..]) })
    }

    /// The row in a database; a new one has none.
    pub(super) fn read(database: &Database) -> Result<Option<Self>> {
        let stored = database.keyspaces.small.get(Self::key());
        let Some(stored) = stored.map_err(|e| engine_error(&e, &database.place()))? else { return Ok(None) };
        Self::parse(&Self::key(), &stored).map(Some).ok_or_else(|| Error::Corrupt {
            place: database.place(),
            detail: "the row that counts groups is damaged".to_owned(),
        })
    }
}

/// What every later commit hears.
fn stopped(error: &Error) -> Error {
    let detail = format!("an earlier write failed ({error}); start the process again once that is mended");
    Error::Engine { engine: "fjall", detail }
}

/// The row that holds the ids of a group's batches. There are as many rows as groups are remembered.
fn ids_key(group: u64) -> Vec<u8> {
    own_row(b'g', &((group % GROUPS_REMEMBERED) as u16).to_be_bytes())
}

impl Database {
    /// Applies a group. Blocks for the time of one forced write.
    pub(super) fn commit(&self, group: &Group) -> Result<Vec<Verdict>, ApplyError> {
        let mut progress = self.progress();
        if let Some(error) = &progress.failed {
            return Err(error.clone().into());
        }
        self.require_free_space()?;
        let decision = guarded(
            || self.place(),
            || decide(group, |key| self.home(key.table())?.version(&self.keyspaces, key)),
        )?;
        if decision.verdicts.iter().all(|verdict| *verdict != Verdict::Applied) {
            return Ok(decision.verdicts);
        }
        let number = progress.group + 1;
        let Decision { verdicts, writes } = decision;
        let applied = group.ids().zip(&verdicts).filter(|(_, verdict)| **verdict == Verdict::Applied);
        let ids: Vec<u8> = applied.flat_map(|(id, _)| id.0.to_be_bytes()).collect();
        let batch = guarded(|| self.place(), || self.prepare(number, &ids, &writes))?;
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
            tracing::error!(%error, group = number, "a commit failed: the store takes no more writes");
            progress.failed = Some(stopped(&error));
            // An engine that has stopped earlier refuses before it writes.
            return Err(if refused { error.into() } else { ApplyError::Unknown { verdicts, error } });
        }
        progress.group = number;
        Ok(verdicts)
    }

    fn mark_acknowledged(&self, group: u64) -> Result<()> {
        match self.durability {
            Durability::Fsync => {
                self.mark.write(group).map_err(|e| super::errors::io_error(&e, &self.place()))
            }
            Durability::Os => Ok(()),
        }
    }

    /// All rows of a group as one batch of the engine, one write for each key.
    fn prepare(&self, number: u64, ids: &[u8], writes: &BTreeMap<Key, Write>) -> Result<OwnedWriteBatch> {
        let mode = match self.durability {
            Durability::Fsync => PersistMode::SyncData,
            Durability::Os => PersistMode::Buffer,
        };
        let mut batch = self.start_batch(number, 2 * writes.len() + 2).durability(Some(mode));
        let ids_key = ids_key(number);
        let sealed_ids = seal(&ids_key, &number.to_be_bytes(), ids);
        batch.insert(&self.keyspaces.small, ids_key, sealed_ids);
        for (key, write) in writes {
            self.write(&mut batch, key, write)?;
        }
        Ok(batch)
    }

    /// An engine's batch that starts with its group row.
    fn start_batch(&self, number: u64, capacity: usize) -> OwnedWriteBatch {
        let mut batch = OwnedWriteBatch::with_capacity(self.engine.clone(), capacity);
        let row = GroupRow { group: number, sequence_min: self.engine.seqno() };
        batch.insert(&self.keyspaces.small, GroupRow::key(), row.sealed());
        batch
    }

    /// Writes rows of the store's own, as a group of their own.
    pub(super) fn write_own_rows(&self, rows: Vec<(Vec<u8>, Vec<u8>)>) -> Result<()> {
        let mut progress = self.progress();
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

    fn write(&self, batch: &mut OwnedWriteBatch, key: &Key, write: &Write) -> Result<()> {
        let home = self.home(key.table())?;
        let stored_key = home.stored_key(key.bytes());
        let version_key = home.version_key(key.bytes());
        match write {
            Write::Put { version, value } => {
                let head = version.to_be_bytes();
                let head = if *version == 0 { &[][..] } else { &head[..] };
                let stored = seal(&stored_key, head, value);
                batch.insert(&home.keyspace, &*stored_key, stored);
                if let Some(version_key) = version_key {
                    let stored = seal(&version_key, head, &[]);
                    batch.insert(&self.keyspaces.small, &*version_key, stored);
                }
            }
            Write::Delete => {
                batch.remove(&home.keyspace, &*stored_key);
                if let Some(version_key) = version_key {
                    batch.remove(&self.keyspaces.small, &*version_key);
                }
            }
            Write::Add(delta) => {
                let stored =
                    home.keyspace.get(&stored_key).map_err(|e| engine_error(&e, &key.to_string()))?;
                let amount = match stored {
                    Some(stored) => home.row_of(key.clone(), &stored_key, &stored.into())?.amount(),
                    None => 0,
                };
                let sum = add(key, amount, *delta)?;
                let stored = seal(&stored_key, &sum.to_be_bytes(), &[]);
                batch.insert(&home.keyspace, &*stored_key, stored);
            }
        }
        Ok(())
    }

    /// Whether one of the remembered groups applied a batch of this id.
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
