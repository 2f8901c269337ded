//! Who carries out runs.

use async_trait::async_trait;
use runs::{End, Piece, RunId, Runner, Spec};

/// Why a run could not be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CarryError {
    /// It can never be: the run has failed.
    #[error("{0}")]
    Lasting(String),
    /// Nothing has happened: it can be started.
    #[error("{0}")]
    NotStarted(String),
    /// The machine refuses at present. Nobody knows how the run stands.
    #[error("{0}")]
    Passing(String),
}

/// Carries out runs, each once: whoever starts an id again finds the first run.
#[async_trait]
pub trait Carrier: Send + Sync {
    /// Starts a run, or finds it.
    async fn start(&self, run: &RunId, spec: &Spec) -> Result<(), CarryError>;

    /// Waits until a run has ended, or died.
    async fn wait(&self, run: &RunId) -> Result<End, CarryError>;

    /// Asks to kill a run, and says whether it was under way.
    async fn kill(&self, run: &RunId) -> Result<bool, CarryError>;

    /// A piece of what a run said.
    async fn log(&self, run: &RunId, offset: u64, bytes_max: usize) -> Result<Piece, CarryError>;

    /// Removes all that is known of a run that is over.
    async fn remove(&self, run: &RunId) -> Result<(), CarryError>;
}

#[async_trait]
impl Carrier for Runner {
    async fn start(&self, run: &RunId, spec: &Spec) -> Result<(), CarryError> {
        Self::start(self, run, spec).await.map(drop).map_err(why)
    }

    async fn wait(&self, run: &RunId) -> Result<End, CarryError> {
        Self::wait(self, run).await.map_err(why)
    }

    async fn kill(&self, run: &RunId) -> Result<bool, CarryError> {
        Self::kill(self, run).await.map_err(why)
    }

    async fn log(&self, run: &RunId, offset: u64, bytes_max: usize) -> Result<Piece, CarryError> {
        Self::log(self, run, offset, bytes_max).await.map_err(why)
    }

    async fn remove(&self, run: &RunId) -> Result<(), CarryError> {
        Self::remove(self, run).await.map_err(why)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn why(error: runs::Error) -> CarryError {
    match error {
        runs::Error::Spec { .. } | runs::Error::RunId { .. } | runs::Error::Broken { .. } => {
            CarryError::Lasting(error.to_string())
        }
        runs::Error::NotStarted(_) | runs::Error::Supervisor { .. } => {
            CarryError::NotStarted(error.to_string())
        }
        _ => CarryError::Passing(error.to_string()),
    }
}
