//! What can go wrong.

use triggers::Parameter;

use crate::limits::{
    AUTHOR_CHARS_MAX, BACKFILL_CHUNKS_MAX, REASON_CHARS_MAX, REMEMBERED_MAX, SIMULATED_CHANGES_MAX,
};

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was not done. Every text says what to do instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nobody has described such a task.
    #[error("there is no task {0:?}: look at the list of tasks")]
    NoTask(String),
    /// Every action of a person needs a reason.
    #[error("a reason is needed: say in at most {REASON_CHARS_MAX} characters why this is done")]
    Reason,
    /// Every action is somebody's.
    #[error("an author is needed: a name of at most {AUTHOR_CHARS_MAX} characters")]
    Author,
    /// It is paused by a person already.
    #[error("the task is paused already, by {by}: {reason}")]
    Paused {
        /// By whom.
        by: String,
        /// Why.
        reason: String,
    },
    /// There is nothing to resume.
    #[error("the task is not paused")]
    NotPaused,
    /// A run was asked for, and it has not started yet.
    #[error("{by} has asked for a run already, and it has not started yet")]
    AlreadyAsked {
        /// Who.
        by: String,
    },
    /// Only what is queued can be cancelled.
    #[error(
        "the task is not queued: a run that is under way has to be killed, a task that waits can be paused"
    )]
    NotQueued,
    /// The next chunk would be queued in its place.
    #[error("a chunk of a backfill is queued: cancel the backfill, or pause the task")]
    ChunkQueued,
    /// There is nothing to delete.
    #[error("nothing is remembered of {0}: look at what is, and name one of those")]
    NotRemembered(Parameter),
    /// There is nothing to delete at all.
    #[error("nothing is remembered: the task fires as soon as its parameters have values")]
    NothingRemembered,
    /// More than [`REMEMBERED_MAX`].
    #[error("more than {REMEMBERED_MAX} values cannot be remembered of one task: delete some first")]
    TooManyRemembered,
    /// The trigger does not look at it, so it would be remembered in vain.
    #[error("the trigger of {task} does not look at {parameter}: it looks at {known}")]
    NotOfTrigger {
        /// The task.
        task: String,
        /// What was named.
        parameter: Parameter,
        /// What could be named.
        known: String,
    },
    /// Neither the caller nor the trigger says which chunks.
    #[error(
        "it is not clear which chunks to fill: the trigger has {found}; name one of minutes, hour, day, week, month, year"
    )]
    NoScale {
        /// What the trigger has.
        found: String,
    },
    /// A range without any chunk.
    #[error("the range is empty: it has to begin before it ends")]
    EmptyRange,
    /// No chunk may be run.
    #[error("the limit has to be between 1 and {BACKFILL_CHUNKS_MAX} chunks")]
    BackfillLimit,
    /// One backfill of a task at a time.
    #[error("a backfill of the task is under way already: let it end, or cancel it")]
    BackfillUnderWay,
    /// There is nothing to resume or to cancel.
    #[error("no backfill of the task {0}")]
    NoBackfill(&'static str),
    /// More than [`SIMULATED_CHANGES_MAX`].
    #[error("the log has {0} changes: at most {SIMULATED_CHANGES_MAX} can be simulated; take a shorter time")]
    LongLog(usize),
    /// Time runs forward.
    #[error("a simulation has to begin before it ends")]
    SimulationRange,
}
