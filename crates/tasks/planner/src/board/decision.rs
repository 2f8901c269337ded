//! What the board decides.

use std::fmt;

use jiff::Timestamp;
use triggers::Parameter;

use super::state::{Cause, TaskState};
use super::{Seen, TaskName};

/// A change of one task, to be committed as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Which task.
    pub task: TaskName,
    /// Its new state. It takes the place of the one whose version is one less; a task that was not known before has none.
    pub after: TaskState,
    /// What goes with it.
    pub act: Act,
    /// What somebody should be told.
    pub alerts: Vec<Alert>,
    /// What has led to it, in order.
    pub why: Vec<Why>,
}

/// What goes with a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Nothing: only the state is new.
    Nothing,
    /// A run is to be started, once the decision is committed.
    Start(Start),
    /// A run has ended.
    End(End),
}

/// A run to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Its number; with the name of the task it tells the run from all others.
    pub run: u64,
    /// What the check saw.
    pub seen: Seen,
    /// Which attempt in a row it is, from 1 on.
    pub attempt: u32,
    /// Why it is made; a chunk of a backfill is in it.
    pub cause: Cause,
}

/// A run that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Its number.
    pub run: u64,
    /// How.
    pub outcome: Outcome,
    /// When the check was that started it.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// What that check saw.
    pub seen: Seen,
    /// Why it was made.
    pub cause: Cause,
    /// Values to be set with it: those of `sets`, and those that the run itself has named. Who commits strikes out what is not
    /// written, and [`Board::commit`](super::Board::commit) takes the rest for current.
    pub writes: Seen,
}

/// How a run has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As it should.
    Succeeded {
        /// Values that the run has named, to be set with its end.
        wrote: Seen,
    },
    /// With an error; or it could not be started, or was killed.
    Failed {
        /// What it said.
        error: String,
    },
    /// Nobody knows: it has died without a word.
    Lost,
}

impl Outcome {
    /// A success that names no values.
    #[must_use]
    pub const fn success() -> Self {
        Self::Succeeded { wrote: Seen::new() }
    }
}

/// What somebody should be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alert {
    /// No run has succeeded for too long. Told once.
    Silent {
        /// Since the last success, or since the task is known.
        since: Timestamp,
    },
    /// A run has succeeded, or so long a silence is allowed now.
    SilenceEnded,
    /// So many attempts in a row have failed that the task is shown as failing. Told once in a row.
    Failing {
        /// How many.
        attempts: u32,
        /// What the last one came to.
        error: String,
    },
    /// A run has succeeded after that.
    Recovered,
    /// As many attempts as are allowed have failed: the task rests until one of its parameters changes.
    GaveUp {
        /// How many.
        attempts: u32,
    },
    /// A parameter was moved back below what is remembered.
    Regressed {
        /// Which.
        parameter: Parameter,
    },
    /// It is no longer below.
    Mended {
        /// Which.
        parameter: Parameter,
    },
    /// A chunk has failed, and the backfill waits for somebody to resume it.
    BackfillStopped {
        /// The beginning of the chunk.
        chunk: Timestamp,
        /// What it came to.
        error: String,
    },
    /// All chunks were run.
    BackfillDone {
        /// How many.
        chunks: u32,
    },
}

/// A step that has led to a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The task is new.
    FirstKnown,
    /// Its trigger holds.
    Fired,
    /// Somebody wants a run.
    Asked,
    /// A chunk is to be run.
    ChunkDue,
    /// Its turn came, and its trigger still holds, or does not matter.
    TurnCame,
    /// Its turn came, and its trigger no longer holds.
    NoLongerHolds,
    /// It was paused while it stood in the queue.
    Paused,
    /// Its definition is gone while it stood in the queue.
    Gone,
    /// It stood in the queue for a backfill that is over or stopped.
    BackfillOver,
    /// The pause after a failure is over.
    PauseOver,
    /// A value has changed since it went to rest.
    Woken,
    /// A run has succeeded.
    Succeeded,
    /// A run has failed.
    Failed,
    /// A run was lost.
    Lost,
    /// A parameter was moved back below what is remembered, or is no longer below.
    Moved,
    /// The silence has become too long, or is over.
    Silence,
    /// Its definition no longer says that it is paused.
    PauseDropped,
}

impl fmt::Display for Why {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::FirstKnown => "the task is new",
            Self::Fired => "its trigger holds",
            Self::Asked => "somebody wants a run",
            Self::ChunkDue => "a chunk is to be run",
            Self::TurnCame => "its turn came",
            Self::NoLongerHolds => "its turn came, and its trigger no longer holds",
            Self::Paused => "it was paused",
            Self::Gone => "its definition is gone",
            Self::BackfillOver => "the backfill is over",
            Self::PauseOver => "the pause after a failure is over",
            Self::Woken => "a value has changed since it went to rest",
            Self::Succeeded => "a run has succeeded",
            Self::Failed => "a run has failed",
            Self::Lost => "a run was lost",
            Self::Moved => "a value was moved back or has come forward again",
            Self::Silence => "the silence has become too long or is over",
            Self::PauseDropped => "its definition no longer pauses it",
        })
    }
}
