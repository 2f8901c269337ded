//! The contract between the store and an engine. Users of the crate see [`Store`](crate::Store)
//! instead.

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::batch::BatchId;
pub use crate::group::{Decision, Group, Verdict, decide};
pub use crate::hints::HintSender;

use crate::key::Key;
use crate::row::Row;
use crate::scan::{Page, Scan};
use crate::table::Schema;
use crate::{Error, Result};

#[derive(Debug)]
pub enum ApplyError {
    /// Nothing of the group was or ever will be applied.
    NotApplied(Error),
    /// The group may have been applied; [`Engine::resolve`] tells.
    Unknown {
        /// The verdicts if the group was applied.
        verdicts: Vec<Verdict>,
        error: Error,
    },
}

impl From<Error> for ApplyError {
    fn from(error: Error) -> Self {
        Self::NotApplied(error)
    }
}

/// Reads, from the latest state or from a snapshot.
///
/// Engines may rely on validated keys and scans: [`Store`](crate::Store) and
/// [`Snapshot`](crate::Snapshot), which implement this trait too, validate them.
#[async_trait]
pub trait Read: Send + Sync {
    /// The rows of these keys, in the same order; `None` for absent ones. Each row is whole; rows
    /// of the latest state may be of different moments.
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>>;

    /// One page of rows of one moment: it never shows a part of a batch. Different pages may be of
    /// different moments.
    async fn scan(&self, scan: &Scan) -> Result<Page>;

    async fn get_one(&self, key: &Key) -> Result<Option<Row>> {
        Ok(self.get(std::slice::from_ref(key)).await?.pop().flatten())
    }

    /// The amount of a counter; zero if it is absent.
    async fn amount(&self, key: &Key) -> Result<i64> {
        Ok(self.get_one(key).await?.map_or(0, |row| row.amount()))
    }
}

/// A storage engine.
#[async_trait]
pub trait Engine: Read {
    fn name(&self) -> &'static str;

    /// The declared tables and those that only the catalogue of the store knows.
    fn schema(&self) -> &Schema;

    /// A consistent view over all tables: it sees each batch as a whole or not at all.
    async fn snapshot(&self) -> Result<Box<dyn Read>>;

    /// Decides the batches of a group in order and writes the winners in one atomic step. Answers
    /// when they are durable; every later read of any caller sees them.
    async fn apply(&self, group: &Group) -> Result<Vec<Verdict>, ApplyError>;

    /// Whether an attempt with an unknown outcome was applied. After an answer the outcome is
    /// final. May wait for a database that is unavailable; an error means that the outcome is still
    /// unknown.
    async fn resolve(&self, group: &Group) -> Result<bool>;

    /// Whether a batch was applied. Engines remember the ids of at least the last
    /// [`GROUPS_REMEMBERED`](crate::limits::GROUPS_REMEMBERED) groups.
    async fn applied(&self, batch: BatchId) -> Result<bool>;

    /// Whether commits are possible, as far as is known without I/O; the error says why not.
    fn health(&self) -> Result<()> {
        Ok(())
    }

    /// Whether commits are possible, by asking the engine.
    async fn takes_writes(&self) -> Result<()> {
        self.health()
    }

    /// An estimate for progress displays; zero if unknown.
    async fn approximate_rows(&self) -> Result<u64> {
        Ok(0)
    }

    /// Groups that may be applied concurrently.
    fn lanes(&self) -> usize {
        1
    }

    /// Lets the engine send hints about the writes of other processes.
    fn send_hints_to(&self, _hints: HintSender) {}

    /// Checks all stored data and calls `found` for each damage. Returns the number of rows by
    /// table.
    async fn verify(&self, found: &mut (dyn FnMut(Error) + Send)) -> Result<BTreeMap<&'static str, u64>>;

    /// Metrics: name and value.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Flushes, and releases files and connections.
    async fn close(&self) -> Result<()>;
}
