//! What can go wrong around runs. A run that fails is no error: it has an [`End`](crate::End).

use std::io;
use std::path::PathBuf;

use crate::id::RunId;

/// What this crate answers.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A text that is no id of a run.
    #[error("{text:?} is no id of a run: {what}")]
    RunId {
        /// The text, shortened.
        text: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A run that cannot be started as it is described. Nothing was claimed.
    #[error("{at}: {what}")]
    Spec {
        /// Where: `environment.PATH`.
        at: String,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// There is no such run, or nobody started it.
    #[error("the run {0} was not started here")]
    NotStarted(RunId),
    /// The run is under way, so it cannot be removed.
    #[error("the run {0} is under way: kill it first, or wait for its end")]
    UnderWay(RunId),
    /// The supervisor ended before it started anything. The run may be started again.
    #[error(
        "the supervisor of the run {run} could not begin ({said}): see that the program of Torg can be executed, then start the run again"
    )]
    Supervisor {
        /// The run.
        run: RunId,
        /// What it said.
        said: String,
    },
    /// Somebody tells the end of a run with another token than the run was given.
    #[error(
        "this is not the token of the run {0}: send back the one that came with the request, in `torg-callback-token`"
    )]
    Token(RunId),
    /// Somebody tells the end of a run that does not wait for that.
    #[error("the run {run} does not wait for a callback: {what}")]
    Callback {
        /// The run.
        run: RunId,
        /// What it is instead.
        what: String,
    },
    /// A file of a run cannot be understood: somebody else wrote it, or the disk is damaged.
    #[error("{} cannot be understood ({what}): remove the run, or mend the file", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The machine refuses.
    #[error("{doing}: {error}")]
    Machine {
        /// What was tried.
        doing: String,
        /// What it said.
        error: io::Error,
    },
}

impl Error {
    pub(crate) fn spec(at: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Spec { at: at.into(), what: what.into() }
    }

    /// For `map_err`: what was tried when the machine refused.
    pub(crate) fn while_doing<D: Into<String>>(doing: impl FnOnce() -> D) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Machine { doing: doing().into(), error }
    }
}
