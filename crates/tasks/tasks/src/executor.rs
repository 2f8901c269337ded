//! Execution of runs.

use async_trait::async_trait;
use runs::{End, LogChunk, RunId, Runner, Spec};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecuteError {
    /// It can never be executed: the run has failed.
    #[error("{0}")]
    Permanent(String),
    /// Nothing has happened: it can be started.
    #[error("{0}")]
    NotStarted(String),
    /// The machine refuses at present. The status of the run is unknown.
    #[error("{0}")]
    Transient(String),
}

/// Executes runs, each once: starting an id again finds the first run.
#[async_trait]
pub trait Executor: Send + Sync {
    /// Starts a run, or finds it.
    async fn start(&self, run: &RunId, spec: &Spec) -> Result<(), ExecuteError>;

    async fn wait(&self, run: &RunId) -> Result<End, ExecuteError>;

    /// Requests a kill; returns whether the run was running.
    async fn kill(&self, run: &RunId) -> Result<bool, ExecuteError>;

    async fn log(&self, run: &RunId, offset: u64, bytes_max: usize) -> Result<LogChunk, ExecuteError>;

    async fn remove(&self, run: &RunId) -> Result<(), ExecuteError>;
}

#[async_trait]
impl Executor for Runner {
    async fn start(&self, run: &RunId, spec: &Spec) -> Result<(), ExecuteError> {
        Self::start(self, run, spec).await.map(drop).map_err(classify)
    }

    async fn wait(&self, run: &RunId) -> Result<End, ExecuteError> {
        Self::wait(self, run).await.map_err(classify)
    }

    async fn kill(&self, run: &RunId) -> Result<bool, ExecuteError> {
        Self::kill(self, run).await.map_err(classify)
    }

    async fn log(&self, run: &RunId, offset: u64, bytes_max: usize) -> Result<LogChunk, ExecuteError> {
        Self::log(self, run, offset, bytes_max).await.map_err(classify)
    }

    async fn remove(&self, run: &RunId) -> Result<(), ExecuteError> {
        Self::remove(self, run).await.map_err(classify)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn classify(error: runs::Error) -> ExecuteError {
    match error {
        runs::Error::Spec { .. } | runs::Error::RunId { .. } | runs::Error::Broken { .. } => {
            ExecuteError::Permanent(error.to_string())
        }
        runs::Error::NotStarted(_) | runs::Error::Supervisor { .. } => {
            ExecuteError::NotStarted(error.to_string())
        }
        _ => ExecuteError::Transient(error.to_string()),
    }
}
