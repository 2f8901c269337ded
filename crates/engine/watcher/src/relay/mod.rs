//! The relay of the outbox: exports saved changes to the topic, and delivers them to `on_saved`.
//!
//! ```text
//! watcher_outbox ── topic ──► deleted, or moved in the same batch to       (export)
//! watcher_saved  ── on_saved of the stage that made the change ──► deleted  (on_saved)
//! ```
//!
//! A row is deleted only after its message is durable or its stage has answered: at least once. Two
//! changes of one entity are never under way at the same time: in the order of versions. A failed
//! `on_saved` is repeated later and delays nothing else: export and delivery are two loops that
//! share only the tables.
//!
//! A row that cannot be read delays nothing either. It is logged with its key and counted. In the
//! outbox it stays and is tried again; in `watcher_saved` it is deleted, as after a lasting error.

mod backoff;
mod cooldown;
mod export;
mod on_saved;
mod progress;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use store::{Batch, Key};
use tokio::sync::watch;

use crate::entity::Entity;
use crate::lease::Fence;
use crate::watcher::Watcher;
use crate::{Error, Result};

use export::Exporter;
use on_saved::Dispatcher;

/// The pause before a shard is tried again whose lease may be lost: every attempt is a duplicate.
const LEASE_LOST_PAUSE: Duration = Duration::from_secs(1);
/// The pause after the first error of the store or the topic; it doubles with every further one.
const ERROR_PAUSE: Duration = Duration::from_millis(100);
const ERROR_PAUSE_MAX: Duration = Duration::from_secs(10);
/// Of repeated errors, one out of this many is a warning.
const WARN_EVERY: u32 = 10;

/// The shards that this process serves.
pub(crate) type Serving = BTreeMap<u32, Fence>;

pub(crate) struct Relay<E: Entity> {
    exporter: Exporter<E>,
    dispatcher: Dispatcher<E>,
}

impl<E: Entity> Relay<E> {
    pub(crate) fn new(watcher: Watcher<E>, serving: watch::Receiver<Serving>, in_flight: InFlight) -> Self {
        let damage = DamagedRows::default();
        let dispatcher = Dispatcher::new(watcher.clone(), serving.clone(), damage.clone());
        Self { exporter: Exporter::new(watcher, serving, in_flight, damage), dispatcher }
    }

    /// Works until `stop` turns true. Exports under way are finished. Calls of stages are dropped:
    /// the next owner repeats them.
    pub(crate) async fn run(self, stop: watch::Receiver<bool>) {
        let Self { exporter, dispatcher } = self;
        tokio::join!(exporter.run(stop.clone()), dispatcher.run(stop));
    }
}

/// The shards that are being exported. They are not released meanwhile: the next owner would export
/// the same changes, and ours would arrive behind them.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFlight(Arc<Mutex<BTreeSet<u32>>>);

impl InFlight {
    pub(crate) fn contains(&self, shard: u32) -> bool {
        self.0.lock().contains(&shard)
    }

    fn begin(&self, shard: u32) {
        self.0.lock().insert(shard);
    }

    fn end(&self, shard: u32) {
        self.0.lock().remove(&shard);
    }
}

/// The outcome of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Committed {
    Nothing,
    /// There may be more.
    Some,
    LeaseLost,
}

/// Commits as the owner of a shard.
async fn commit<E: Entity>(watcher: &Watcher<E>, fence: &Fence, mut batch: Batch) -> Result<Committed> {
    if batch.is_empty() {
        return Ok(Committed::Nothing);
    }
    fence.guard(&mut batch);
    let is_ours = watcher.store().commit(batch).await?.is_applied();
    Ok(if is_ours { Committed::Some } else { Committed::LeaseLost })
}

/// Counts the rows that could not be read.
#[derive(Clone, Debug, Default)]
struct DamagedRows(Arc<AtomicU64>);

impl DamagedRows {
    fn note(&self, key: &Key, detail: &str, what_follows: &str) {
        let so_far = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::error!(row = %key, detail, so_far, "a change cannot be read: {what_follows}");
    }
}

/// The next shard in turn after the last one.
fn next_in_turn(
    mut behind: impl Iterator<Item = u32>,
    mut before: impl Iterator<Item = u32>,
    can: impl Fn(u32) -> bool,
) -> Option<u32> {
    behind.find(|shard| can(*shard)).or_else(|| before.find(|shard| can(*shard)))
}

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
