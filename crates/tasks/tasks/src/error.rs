//! What can go wrong.

use crate::limits::TASK_NAME_BYTES_MAX;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was not done. Every message says what to do.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Values(#[from] ctl::Error),
    #[error(transparent)]
    Watcher(#[from] watcher::Error),
    #[error(transparent)]
    Task(#[from] planner::Error),
    #[error("the task files have mistakes:\n{0}")]
    Files(taskfile::Errors),
    #[error("task {task:?}: {what}")]
    Definition { task: String, what: String },
    #[error("{place} cannot be read: {detail}")]
    Damaged { place: String, detail: String },
    #[error("{0} is not running")]
    NotRunning(String),
    #[error("task {task:?} has no run {run}: list its runs")]
    NoRun { task: String, run: u64 },
    #[error(
        "run {run} of {task:?} is at {place:?}, and this process has only what ran at {here:?}: ask that process, or read the run's folder there"
    )]
    Elsewhere { task: String, run: u64, place: String, here: String },
    #[error("{0}")]
    Runs(String),
    /// The task is defined, and no leader has loaded it yet.
    #[error(
        "task {0:?} is deployed, and no process has loaded it yet: try again, and make sure that a process with the role `tasks` runs"
    )]
    NotLoaded(String),
    #[error("too many concurrent changes of the task: try again")]
    Contended,
}

impl Error {
    /// Whether the same call may succeed later without any change by the caller.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Store(error) | Self::Watcher(watcher::Error::Store(error)) => error.is_passing(),
            Self::Values(error) => error.is_passing(),
            other => matches!(other, Self::Contended | Self::NotLoaded(_)),
        }
    }

    pub(crate) fn long_name(task: &str) -> Self {
        let what = format!("its name has more than {TASK_NAME_BYTES_MAX} bytes: give it a shorter one");
        Self::Definition { task: task.to_owned(), what }
    }
}
