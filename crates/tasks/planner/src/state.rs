//! The durable state of a task. A store writes and reads all fields; the planner needs nothing
//! else.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use triggers::{Parameter, Scale};

use crate::Seen;
use crate::actions::Signed;

/// The durable state of a task. Keep the states of removed tasks as long as their runs, because run
/// numbers continue from [`TaskState::runs`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskState {
    /// Grows by one with every change by anyone.
    pub version: u64,
    pub phase: Phase,
    /// What the check saw whose run succeeded last.
    pub remembered: Seen,
    /// By an operator.
    pub paused: Option<Signed>,
    /// An operator has resumed it although its definition pauses it.
    pub resumed: bool,
    /// A requested run that is not queued yet.
    pub manual: Option<Manual>,
    pub backfill: Option<Backfill>,
    /// The number of the last run.
    pub runs: u64,
    /// Failures in a row of runs that its trigger started.
    pub attempts: u32,
    pub error: Option<String>,
    pub known_since: Timestamp,
    pub last_run: Option<Timestamp>,
    /// When the last successful run ended; chunks of a backfill do not count.
    pub last_success: Option<Timestamp>,
    pub last_failure: Option<Timestamp>,
    /// Parameters below their remembered values, and when that was noticed.
    pub regressed: BTreeMap<Parameter, Timestamp>,
    pub silent_since: Option<Timestamp>,
    /// Whether an alert about failures was raised, and not yet that it succeeds again.
    pub told_failing: bool,
}

impl TaskState {
    /// A task that becomes known at this moment.
    #[must_use]
    pub fn new(known_since: Timestamp) -> Self {
        Self { known_since, ..Self::default() }
    }

    #[must_use]
    pub const fn running(&self) -> Option<(u64, Timestamp)> {
        match self.phase {
            Phase::Running { run, since, .. } => Some((run, since)),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Its trigger is evaluated when a value changes, and at computed moments.
    #[default]
    Idle,
    /// It waits for a slot. Its trigger is evaluated again then.
    Queued {
        since: Timestamp,
        /// What the check saw that queued it.
        seen: Seen,
        cause: Cause,
    },
    /// A run is current, or about to be started.
    Running {
        run: u64,
        /// When the check was that started it.
        since: Timestamp,
        seen: Seen,
        cause: Cause,
    },
    /// A run has failed; its trigger is evaluated again after a delay.
    Waiting { until: Timestamp },
    /// It does not fire as long as its parameters have these values, though its trigger may hold.
    Resting {
        since: Timestamp,
        /// With these values.
        seen: Seen,
        why: Rest,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    Trigger,
    Manual(Manual),
    Chunk(Chunk),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rest {
    GaveUp,
    /// An operator took it out of the queue.
    Cancelled(Signed),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manual {
    pub signed: Signed,
    /// Whether its success is remembered like that of a regular run.
    pub record: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chunk {
    pub start: Timestamp,
    pub end: Timestamp,
}

/// Chunks to run, one after the other, before regular firings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backfill {
    pub scale: Scale,
    /// From the chunk that contains this moment.
    pub next: Timestamp,
    /// Only chunks that begin before this.
    pub to: Timestamp,
    pub left: u32,
    pub done: u32,
    /// Whether a successful chunk advances the remembered values.
    pub record: bool,
    pub signed: Signed,
    /// The error of the failed chunk. It continues when an operator resumes it.
    pub stopped: Option<String>,
}

impl fmt::Display for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trigger => out.write_str("its trigger holds"),
            Self::Manual(manual) => write!(out, "requested by {}", manual.signed),
            Self::Chunk(chunk) => write!(out, "backfill of {} to {}", chunk.start, chunk.end),
        }
    }
}
