//! Calls of stages, which may panic, hang or give the wrong number of answers.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;

use crate::stage::StageError;

/// Catches a panic, which is a failure that may pass.
pub(crate) async fn caught<T>(call: impl Future<Output = T>) -> Result<T, StageError> {
    let panicked =
        |panic: Box<dyn Any + Send>| StageError::Passing(format!("it panicked: {}", text_of(&*panic)));
    AssertUnwindSafe(call).catch_unwind().await.map_err(panicked)
}

/// A call about several entities that must give one answer for each within a time.
pub(crate) async fn caught_within<T>(
    timeout: Duration,
    count: usize,
    call: impl Future<Output = Vec<T>>,
) -> Result<Vec<T>, StageError> {
    let late = |_| StageError::Passing(format!("it did not answer within {timeout:?}"));
    let answers = tokio::time::timeout(timeout, caught(call)).await.map_err(late)??;
    if answers.len() == count {
        return Ok(answers);
    }
    Err(StageError::Passing(format!("it gave {} answers to {count} questions", answers.len())))
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
