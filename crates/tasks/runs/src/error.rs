//! Errors around runs. A failed run is no error: it has an [`End`](crate::End).

use std::io;
use std::path::PathBuf;

use crate::id::RunId;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{text:?} is no id of a run: {what}")]
    RunId { text: String, what: &'static str },
    /// A spec that cannot be started. Nothing was claimed.
    #[error("{at}: {what}")]
    Spec { at: String, what: String },
    #[error("the run {0} was not started here")]
    NotStarted(RunId),
    #[error("the run {0} is running: kill it first, or wait for its end")]
    UnderWay(RunId),
    /// The supervisor ended before it started anything. The run may be started again.
    #[error(
        "the supervisor of the run {run} could not begin ({output}): see that the program of Torg can be executed, then start the run again"
    )]
    Supervisor { run: RunId, output: String },
    #[error(
        "this is not the token of the run {0}: send back the one that came with the request, in `torg-callback-token`"
    )]
    Token(RunId),
    #[error("the run {run} does not wait for a callback: {what}")]
    Callback { run: RunId, what: String },
    #[error("{} cannot be read ({what}): remove the run, or repair the file", path.display())]
    Broken { path: PathBuf, what: String },
    #[error("{doing}: {error}")]
    Machine { doing: String, error: io::Error },
}

impl Error {
    pub(crate) fn spec(at: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Spec { at: at.into(), what: what.into() }
    }

    /// For `map_err`: what was tried when the operating system refused.
    pub(crate) fn while_doing<D: Into<String>>(doing: impl FnOnce() -> D) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Machine { doing: doing().into(), error }
    }
}
