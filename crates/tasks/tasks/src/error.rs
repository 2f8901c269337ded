//! What can go wrong.

use crate::limits::TASK_NAME_BYTES_MAX;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was not done. Every text says what to do.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Values could not be read or set.
    #[error(transparent)]
    Values(#[from] ctl::Error),
    /// An entity could not be read or saved.
    #[error(transparent)]
    Watcher(#[from] watcher::Error),
    /// What was asked for cannot be done with the task as it stands.
    #[error(transparent)]
    Task(#[from] planner::Error),
    /// Task files have mistakes; nothing of them is taken.
    #[error("the task files have mistakes:\n{0}")]
    Files(taskfile::Errors),
    /// A definition that no store can keep.
    #[error("task {task:?}: {what}")]
    Definition {
        /// The task.
        task: String,
        /// What is wrong with it, and what would be right.
        what: String,
    },
    /// A row cannot be read.
    #[error("{place} cannot be read: {detail}")]
    Damaged {
        /// Which.
        place: String,
        /// Why.
        detail: String,
    },
    /// Nothing is under way.
    #[error("no run of {0} is under way")]
    NotRunning(String),
    /// There is no such run, or it is not kept any more.
    #[error("task {task:?} has no run {run}: look at its runs")]
    NoRun {
        /// The task.
        task: String,
        /// The number.
        run: u64,
    },
    /// The log of a run is where the run was.
    #[error(
        "run {run} of {task:?} is at {place:?}, and this process has only what ran at {here:?}: ask that process, or read the run's folder there"
    )]
    Elsewhere {
        /// The task.
        task: String,
        /// The number.
        run: u64,
        /// Where it is.
        place: String,
        /// Where we are.
        here: String,
    },
    /// What a run left could not be read.
    #[error("{0}")]
    Runs(String),
    /// The task is defined, and the scheduler has not looked at it yet.
    #[error(
        "task {0:?} was put to work a moment ago, and no scheduler has taken it up yet: try again, and see that a process with the role `reactive` runs"
    )]
    NotTakenUp(String),
    /// Others change the same task all the time.
    #[error("others change the task all the time: try again")]
    Contended,
}

impl Error {
    /// Whether the same call may succeed later, with nothing changed by the caller.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Store(error) | Self::Watcher(watcher::Error::Store(error)) => error.is_passing(),
            Self::Values(error) => error.is_passing(),
            other => matches!(other, Self::Contended | Self::NotTakenUp(_)),
        }
    }

    pub(crate) fn long_name(task: &str) -> Self {
        let what = format!("its name has more than {TASK_NAME_BYTES_MAX} bytes: give it a shorter one");
        Self::Definition { task: task.to_owned(), what }
    }
}
