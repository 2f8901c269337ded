//! What must always hold. Each invariant is a file with a small struct that is saved everything
//! that happens and says what it has seen.
//!
//! To add one: write it, list it in [`all_invariants`], and plant a bug that only it must catch
//! (`watcher::planted`, `bugs.rs`).

mod answers;
mod background;
mod converged;
mod crawl_asks;
mod crawl_runs;
mod due;
mod epochs;
mod exports;
mod fences;
mod hand_over;
mod leases;
mod on_saved;
mod one_at_a_time;
mod operations;
mod outbox;
mod parked;
mod paused;
mod queue_rows;
mod removals;
mod states;
mod timers;
mod touches;
mod versions;
mod visit_times;

use watcher::{Config, Schedule};

use crate::scenario::Scenario;
use crate::tables::{Commit, Tables};
use crate::world::{Call, Returned, SavedCall};

/// What is wrong, if something is.
pub(crate) type Seen = Result<(), String>;

/// How long something due may wait before it counts as left undone, in milliseconds.
pub(crate) const GRACE_MS: u64 = 15_000;

/// The end of a simulation.
pub(crate) struct End<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) now_ms: u64,
    /// The topic: entities with their versions, in the order in which they were written.
    pub(crate) exported: &'a [(String, u64)],
}

/// Something that must always hold. `None` means that there was nothing to check.
pub(crate) trait Invariant: Send {
    /// What holds, in a few words.
    fn name(&self) -> &'static str;

    /// A batch was applied.
    fn at_commit(&mut self, _commit: &Commit<'_>) -> Option<Seen> {
        None
    }

    /// A stage is called.
    fn at_call(&mut self, _call: &Call, _tables: &Tables) -> Option<Seen> {
        None
    }

    /// A call ended.
    fn at_return(&mut self, _call: &Call, _answer: &Returned) -> Option<Seen> {
        None
    }

    /// A stage answered a question.
    fn at_schedule(&mut self, _call: &Call, _schedule: Schedule, _tables: &Tables) -> Option<Seen> {
        None
    }

    /// `on_saved` was called.
    fn at_saved(&mut self, _call: &SavedCall<'_>) -> Option<Seen> {
        None
    }

    /// Faults have stopped, and time has passed.
    fn at_end(&mut self, _end: &End<'_>) -> Option<Seen> {
        None
    }

    /// All processes have ended in order.
    fn at_rest(&mut self, _tables: &Tables) -> Option<Seen> {
        None
    }
}

pub(crate) fn all_invariants(scenario: &Scenario) -> Vec<Box<dyn Invariant>> {
    let Config { shards, lease_time, .. } = scenario.config;
    vec![
        Box::new(versions::Versions),
        Box::new(operations::Operations::default()),
        Box::new(queue_rows::QueueRows::default()),
        Box::new(visit_times::VisitTimes::new(shards)),
        Box::new(outbox::Outbox::default()),
        Box::new(outbox::Emptied),
        Box::new(exports::Exports),
        Box::new(on_saved::SavedInOrder::default()),
        Box::new(fences::Fences),
        Box::new(epochs::Epochs),
        Box::new(leases::Leases::new(lease_time)),
        Box::new(one_at_a_time::OneAtATime::default()),
        Box::new(states::States),
        Box::new(answers::Answers::default()),
        Box::new(touches::Touches::default()),
        Box::new(timers::Timers::default()),
        Box::new(parked::Parked),
        Box::new(paused::Paused::new(lease_time)),
        Box::new(background::Background),
        Box::new(crawl_runs::CrawlRuns { shards }),
        Box::new(crawl_runs::CrawlProgresses { shards }),
        Box::new(crawl_asks::CrawlAsks::new(scenario.skew_ms)),
        Box::new(due::NothingDue),
        Box::new(removals::Removals),
        Box::new(converged::Converged),
        Box::new(hand_over::HandOver),
    ]
}

pub(crate) fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Seen {
    if holds { Ok(()) } else { Err(otherwise()) }
}
