//! Errors of manual actions and simulations.

use triggers::Parameter;

use crate::limits::{BACKFILL_CHUNKS_MAX, REMEMBERED_MAX, SIMULATED_CHANGES_MAX};
use ctl::limits::{AUTHOR_CHARS_MAX, REASON_CHARS_MAX};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was refused. Every message says what to do instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("there is no task {0:?}: list the tasks to see their names")]
    NoTask(String),
    #[error("a reason is needed: say in at most {REASON_CHARS_MAX} characters why this is done")]
    Reason,
    #[error("an author is needed: a name of at most {AUTHOR_CHARS_MAX} characters")]
    Author,
    #[error("the task is paused already, by {by}: {reason}")]
    Paused { by: String, reason: String },
    #[error("the task is not paused")]
    NotPaused,
    #[error("{by} has already requested a run, and it has not started yet")]
    AlreadyRequested { by: String },
    #[error("the task is not queued: kill a current run, or pause a waiting task")]
    NotQueued,
    #[error("a chunk of a backfill is queued: cancel the backfill, or pause the task")]
    ChunkQueued,
    #[error("nothing is remembered of {0}: name one of the remembered parameters")]
    NotRemembered(Parameter),
    #[error("nothing is remembered: the task fires as soon as its parameters have values")]
    NothingRemembered,
    #[error("more than {REMEMBERED_MAX} values cannot be remembered of one task: delete some first")]
    TooManyRemembered,
    #[error("the trigger of {task} does not read {parameter}: it reads {known}")]
    NotOfTrigger { task: String, parameter: Parameter, known: String },
    #[error(
        "it is not clear which chunks to fill: the trigger has {found}; name one of minutes, hour, day, week, month, year"
    )]
    NoScale { found: String },
    #[error("the range is empty: it has to begin before it ends")]
    EmptyRange,
    #[error("the limit has to be between 1 and {BACKFILL_CHUNKS_MAX} chunks")]
    BackfillLimit,
    #[error("the task already has a backfill: let it end, or cancel it")]
    BackfillRunning,
    #[error("no backfill of the task {0}")]
    NoBackfill(&'static str),
    #[error("the log has {0} changes: at most {SIMULATED_CHANGES_MAX} can be simulated; take a shorter time")]
    LongLog(usize),
    #[error("a simulation has to begin before it ends")]
    SimulationRange,
}
