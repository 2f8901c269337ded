//! The contract between the store and an engine. Users of the crate see [`Store`](crate::Store) instead.

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

/// Why a group has no verdicts.
#[derive(Debug)]
pub enum ApplyError {
    /// Nothing of the group was or ever will be applied.
    NotApplied(Error),
    /// The group may or may not have been applied; [`Engine::resolve`] can tell. If it was, these are the verdicts.
    Unknown {
        /// What the batches' verdicts are if the group was applied.
        verdicts: Vec<Verdict>,
        /// What happened.
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
/// Engines may rely on keys and scans that were validated: [`Store`](crate::Store) and
/// [`Snapshot`](crate::Snapshot), which implement this trait too, do that.
#[async_trait]
pub trait Read: Send + Sync {
    /// The rows of these keys, in the same order; `None` for absent ones. Each row is whole; rows read from the latest
    /// state need not be of one moment.
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>>;

    /// One page of rows, all of one moment: it never shows a part of a batch. A page and what is read before or after it
    /// need not be of one moment.
    async fn scan(&self, scan: &Scan) -> Result<Page>;

    /// The row of one key.
    async fn get_one(&self, key: &Key) -> Result<Option<Row>> {
        Ok(self.get(std::slice::from_ref(key)).await?.pop().flatten())
    }

    /// The amount of one counter.
    async fn amount(&self, key: &Key) -> Result<i64> {
        Ok(self.get_one(key).await?.map_or(0, |row| row.amount()))
    }
}

/// A place that keeps tables.
#[async_trait]
pub trait Engine: Read {
    /// The engine's name, for people.
    fn name(&self) -> &'static str;

    /// The tables that were declared when the engine was opened, together with those that only its catalogue knows.
    fn schema(&self) -> &Schema;

    /// A consistent view over all tables: it sees each batch as a whole or not at all.
    async fn snapshot(&self) -> Result<Box<dyn Read>>;

    /// Decides the batches of a group in order, writes those that win, all in one atomic step, and answers when it is
    /// durable. Every later read, from any caller, sees what was written.
    async fn apply(&self, group: &Group) -> Result<Vec<Verdict>, ApplyError>;

    /// Whether this attempt at a group, whose outcome was unknown, was applied. After an answer it can no longer change:
    /// an attempt that was not applied never will be. May wait for a database that is away; an error says that it is still unknown.
    async fn resolve(&self, group: &Group) -> Result<bool>;

    /// Whether a batch of that id was applied. Engines remember the ids of at least the last
    /// [`GROUPS_REMEMBERED`](crate::limits::GROUPS_REMEMBERED) groups.
    async fn applied(&self, batch: BatchId) -> Result<bool>;

    /// Whether commits are possible; if not, why.
    fn health(&self) -> Result<()> {
        Ok(())
    }

    /// Asks whether commits are possible; if not, why. [`health`](Self::health) says only what is known without asking.
    async fn takes_writes(&self) -> Result<()> {
        self.health()
    }

    /// About how many rows there are, to show how far something has come; zero if that is not known.
    async fn approximate_rows(&self) -> Result<u64> {
        Ok(0)
    }

    /// How many groups may be applied at the same time.
    fn lanes(&self) -> usize {
        1
    }

    /// Lets the engine add hints about what other processes write.
    fn send_hints_to(&self, _hints: HintSender) {}

    /// Looks at everything that is stored and calls `found` for each damage. Returns the number of rows by table.
    async fn verify(&self, found: &mut (dyn FnMut(Error) + Send)) -> Result<BTreeMap<&'static str, u64>>;

    /// Figures for monitoring: name -> value.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Writes out what is buffered and lets go of files and connections.
    async fn close(&self) -> Result<()>;
}
