//! The relay: takes saved changes out of the outbox, writes them to the topic, and has the stages hear of them.
//!
//! ```text
//! watcher_outbox ── topic ──► deleted, or moved in the same batch to     (export)
//! watcher_saved  ── on_saved of the stage that made the change ──► deleted  (tell)
//! ```
//!
//! A row leaves only after its message is durable, or its stage has heard of it: at least once. No two changes of one entity are on their way
//! at the same time: in the order of versions. A stage that fails to hear is told again later, and holds up nobody else: exporting and telling
//! are two loops that share nothing but the tables.
//!
//! A row that cannot be read holds up nobody either. It is logged with its key, and counted. One of the outbox stays where it is, and is tried
//! again now and then; one of `watcher_saved` is deleted, as if its stage had refused to hear of it.

mod export;
mod pauses;
mod progress;
mod rests;
mod tell;
mod telling;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use store::{Batch, Key};
use tokio::sync::watch;

use crate::entity::Entity;
use crate::shards::Fence;
use crate::watcher::Watcher;
use crate::{Error, Result};

use export::Exporter;
use tell::Teller;

/// The pause before a shard is tried again that may not be ours any more: every attempt is a repeat in the topic, or for a stage.
const DOUBT_PAUSE: Duration = Duration::from_secs(1);
/// The pause after the first error of the store or the topic; it doubles with every further one.
const ERROR_PAUSE: Duration = Duration::from_millis(100);
/// The longest such pause.
const ERROR_PAUSE_MAX: Duration = Duration::from_secs(10);
/// Of errors that go on, one in so many is a warning.
const WARN_EVERY: u32 = 10;

/// The shards that this process serves.
pub(crate) type Serving = BTreeMap<u32, Fence>;

/// Moves changes out of the shards of this process.
pub(crate) struct Relay<E: Entity> {
    exporter: Exporter<E>,
    teller: Teller<E>,
}

impl<E: Entity> Relay<E> {
    pub(crate) fn new(watcher: Watcher<E>, serving: watch::Receiver<Serving>, moving: Moving) -> Self {
        let damage = Damage::default();
        let teller = Teller::new(watcher.clone(), serving.clone(), damage.clone());
        Self { exporter: Exporter::new(watcher, serving, moving, damage), teller }
    }

    /// Works until `stop` turns true. Exports that are under way are ended then. Calls of stages are dropped: who takes over makes them again.
    pub(crate) async fn run(self, stop: watch::Receiver<bool>) {
        let Self { exporter, teller } = self;
        tokio::join!(exporter.run(stop.clone()), teller.run(stop));
    }
}

/// The shards out of which changes are being exported. None of them is given away meanwhile: its next owner would export the same
/// changes again, and ours would arrive behind them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moving(Arc<Mutex<BTreeSet<u32>>>);

impl Moving {
    pub(crate) fn contains(&self, shard: u32) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&shard)
    }

    fn begin(&self, shard: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(shard);
    }

    fn end(&self, shard: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&shard);
    }
}

/// What became of the changes in a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moved {
    Nothing,
    /// Some were moved; there may be more.
    Some,
    /// The shard is not ours any more.
    NotOurs,
}

/// Commits as the owner of a shard.
async fn commit<E: Entity>(watcher: &Watcher<E>, fence: &Fence, mut batch: Batch) -> Result<Moved> {
    if batch.is_empty() {
        return Ok(Moved::Nothing);
    }
    fence.guard(&mut batch);
    let is_ours = watcher.store().commit(batch).await?.is_applied();
    Ok(if is_ours { Moved::Some } else { Moved::NotOurs })
}

/// Counts the rows that could not be read.
#[derive(Clone, Debug, Default)]
struct Damage(Arc<AtomicU64>);

impl Damage {
    fn note(&self, key: &Key, detail: &str, what_follows: &str) {
        let so_far = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::error!(row = %key, detail, so_far, "a change cannot be read: {what_follows}");
    }
}

/// The first shard behind the last one that had its turn, round and round.
fn next_in_turn(
    mut behind: impl Iterator<Item = u32>,
    mut before: impl Iterator<Item = u32>,
    can: impl Fn(u32) -> bool,
) -> Option<u32> {
    behind.find(|shard| can(*shard)).or_else(|| before.find(|shard| can(*shard)))
}

/// Whether an error that has come so many times in a row is worth a warning.
fn is_worth_a_warning(failures: u32) -> bool {
    failures % WARN_EVERY == 1
}

fn log_failure(kind: &str, shard: u32, error: &Error, failures: u32, what: &str) {
    if is_worth_a_warning(failures) {
        tracing::warn!(kind, shard, %error, failures, "cannot {what}, will try again");
    } else {
        tracing::debug!(kind, shard, %error, failures, "cannot {what}, will try again");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_goes_on_is_a_warning_at_first_and_every_tenth_time() {
        let warned: Vec<u32> = (1..=30).filter(|failures| is_worth_a_warning(*failures)).collect();
        assert_eq!(warned, [1, 11, 21]);
    }

    #[test]
    fn shards_take_turns() {
        let turn = |last: u32| next_in_turn(last + 1..5, 0..=last, |shard| [1, 3].contains(&shard));
        assert_eq!([turn(0), turn(1), turn(2), turn(3)], [Some(1), Some(3), Some(3), Some(1)]);
        assert_eq!(next_in_turn(1..5, 0..=0, |_| false), None);
    }
}
