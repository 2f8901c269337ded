//! What is durable of a task. Whoever stores it writes all fields and reads them back; the board needs nothing else.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use triggers::{Parameter, Scale};

use super::Seen;
use super::actions::Signed;

/// Everything that is durable of a task. States of tasks that are gone should be kept as long as their runs: numbers of runs go on
/// from [`TaskState::runs`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskState {
    /// Grows by one with every change, whoever makes it.
    pub version: u64,
    /// Where it stands.
    pub phase: Phase,
    /// What the check saw whose run succeeded last.
    pub remembered: Seen,
    /// Who has paused it, if somebody has.
    pub paused: Option<Signed>,
    /// Whether somebody has resumed it although its definition says that it is paused.
    pub resumed: bool,
    /// A run that was asked for and is not queued yet.
    pub manual: Option<Manual>,
    /// Chunks to be run, one after the other.
    pub backfill: Option<Backfill>,
    /// How many runs there have been. The next one has the next number.
    pub runs: u64,
    /// Failures in a row of runs that its trigger started.
    pub attempts: u32,
    /// What the last run came to, if it failed.
    pub error: Option<String>,
    /// Since when the task is known.
    pub known_since: Timestamp,
    /// When the last run began.
    pub last_run: Option<Timestamp>,
    /// When the last run ended that succeeded; chunks of a backfill do not count.
    pub last_success: Option<Timestamp>,
    /// When the last run ended that failed.
    pub last_failure: Option<Timestamp>,
    /// Parameters that were moved back below what is remembered, and when that was noticed.
    pub regressed: BTreeMap<Parameter, Timestamp>,
    /// When it was told that the task has been silent for too long.
    pub silent_since: Option<Timestamp>,
    /// Whether somebody was told that it is failing or gave up, and not yet that it succeeds again.
    pub told_failing: bool,
}

impl TaskState {
    /// A task that becomes known at this moment.
    #[must_use]
    pub fn new(known_since: Timestamp) -> Self {
        Self {
            version: 0,
            phase: Phase::Idle,
            remembered: Seen::new(),
            paused: None,
            resumed: false,
            manual: None,
            backfill: None,
            runs: 0,
            attempts: 0,
            error: None,
            known_since,
            last_run: None,
            last_success: None,
            last_failure: None,
            regressed: BTreeMap::new(),
            silent_since: None,
            told_failing: false,
        }
    }

    /// The run that is under way, and since when.
    #[must_use]
    pub const fn running(&self) -> Option<(u64, Timestamp)> {
        match self.phase {
            Phase::Running { run, since, .. } => Some((run, since)),
            _ => None,
        }
    }
}

/// Where a task stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its trigger is looked at when a value changes, and at computed moments.
    Idle,
    /// It waits for its turn. Its trigger is looked at again then.
    Queued {
        /// Since when.
        since: Timestamp,
        /// What the check saw that put it here.
        seen: Seen,
        /// Why it is to run.
        cause: Cause,
    },
    /// A run is under way, or about to be started.
    Running {
        /// Its number.
        run: u64,
        /// When the check was that started it.
        since: Timestamp,
        /// What that check saw.
        seen: Seen,
        /// Why it runs.
        cause: Cause,
    },
    /// A run has failed; its trigger is looked at again after a pause.
    Waiting {
        /// Until when.
        until: Timestamp,
    },
    /// It does not fire as long as its parameters have these values, though its trigger may hold.
    Resting {
        /// Since when.
        since: Timestamp,
        /// With these values.
        seen: Seen,
        /// Why.
        why: Rest,
    },
}

/// Why a run is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The trigger holds.
    Trigger,
    /// Somebody wants it.
    Manual(Manual),
    /// A chunk of a backfill.
    Chunk(Chunk),
}

/// Why a task rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rest {
    /// As many attempts as its definition allows have failed.
    GaveUp,
    /// Somebody has taken it out of the queue.
    Cancelled(Signed),
}

/// A run that somebody wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manual {
    /// Who, when and why.
    pub signed: Signed,
    /// Whether its success is remembered as that of a regular run.
    pub record: bool,
}

/// A chunk of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chunk {
    /// Its first moment.
    pub start: Timestamp,
    /// The first moment after it.
    pub end: Timestamp,
}

/// Chunks to be run, one after the other, before regular firings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backfill {
    /// Which chunks.
    pub scale: Scale,
    /// In the next one.
    pub next: Timestamp,
    /// Only chunks that begin before this.
    pub to: Timestamp,
    /// At most so many more.
    pub left: u32,
    /// So many were run.
    pub done: u32,
    /// Whether a chunk that succeeds moves forward what is remembered.
    pub record: bool,
    /// Who wants it, when and why.
    pub signed: Signed,
    /// What the chunk came to at which it stopped. It goes on when somebody resumes it.
    pub stopped: Option<String>,
}

impl fmt::Display for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trigger => out.write_str("its trigger holds"),
            Self::Manual(manual) => write!(out, "asked for by {}", manual.signed),
            Self::Chunk(chunk) => write!(out, "backfill of {} to {}", chunk.start, chunk.end),
        }
    }
}
