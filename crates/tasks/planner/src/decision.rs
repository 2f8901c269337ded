//! Decisions and their parts.

use std::fmt;

use jiff::Timestamp;
use triggers::Parameter;

use crate::state::{Cause, TaskState};
use crate::{Seen, TaskName};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub task: TaskName,
    /// The new state. It replaces the one whose version is one less; a new task has none.
    pub after: TaskState,
    pub act: Act,
    /// For operators.
    pub alerts: Vec<Alert>,
    pub why: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Nothing,
    /// A run is to be started once the decision is committed.
    Start(Start),
    End(End),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Its number; unique within the task.
    pub run: u64,
    pub seen: Seen,
    /// Attempts in a row, from 1 on.
    pub attempt: u32,
    pub cause: Cause,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    pub run: u64,
    pub outcome: Outcome,
    /// When the check was that started it.
    pub began: Timestamp,
    pub ended: Timestamp,
    pub seen: Seen,
    pub cause: Cause,
    /// Values to set with it: those of `sets`, and those that the run itself named. The caller
    /// removes the ones that it does not write; [`Planner::commit`](crate::Planner::commit) takes
    /// the rest as current.
    pub writes: Seen,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Succeeded {
        /// Values that the run named, to be set with its end.
        wrote: Seen,
    },
    /// It failed, could not be started, or was killed.
    Failed { error: String },
    /// It died and its end is unknown.
    Lost,
}

impl Outcome {
    /// A success that names no values.
    #[must_use]
    pub const fn success() -> Self {
        Self::Succeeded { wrote: Seen::new() }
    }
}

/// What operators are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alert {
    /// No run has succeeded for too long. Raised once.
    Silent {
        /// The last success, or when the task became known.
        since: Timestamp,
    },
    /// A run has succeeded, or the allowed silence is longer now.
    SilenceEnded,
    /// Enough attempts in a row have failed for the task to count as failing. Raised once in a row.
    Failing {
        attempts: u32,
        error: String,
    },
    Recovered,
    /// All allowed attempts have failed: the task rests until one of its parameters changes.
    GaveUp {
        attempts: u32,
    },
    /// A parameter moved back below the remembered value.
    Regressed {
        parameter: Parameter,
    },
    RegressionEnded {
        parameter: Parameter,
    },
    /// A chunk has failed, and the backfill waits for an operator to resume it.
    BackfillStopped {
        chunk: Timestamp,
        error: String,
    },
    BackfillDone {
        chunks: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    FirstKnown,
    Fired,
    Requested,
    ChunkDue,
    TurnCame,
    NoLongerHolds,
    Paused,
    Gone,
    BackfillOver,
    PauseOver,
    WokenByValue,
    Succeeded,
    Failed,
    Lost,
    Moved,
    Silence,
    PauseDropped,
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::FirstKnown => "the task is new",
            Self::Fired => "its trigger holds",
            Self::Requested => "a run was requested",
            Self::ChunkDue => "a chunk is to be run",
            Self::TurnCame => "its turn came",
            Self::NoLongerHolds => "a slot was free, and its trigger no longer holds",
            Self::Paused => "it was paused",
            Self::Gone => "its definition is gone",
            Self::BackfillOver => "the backfill is over",
            Self::PauseOver => "the pause after a failure is over",
            Self::WokenByValue => "a value has changed since it went to rest",
            Self::Succeeded => "a run has succeeded",
            Self::Failed => "a run has failed",
            Self::Lost => "a run was lost",
            Self::Moved => "a value was moved back or has come forward again",
            Self::Silence => "the silence has become too long or is over",
            Self::PauseDropped => "its definition no longer pauses it",
        })
    }
}
