//! Calls of stages, which may panic or hang.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;

use crate::stage::StageError;

/// What a call comes to; a panic is a failure that may pass.
pub(crate) async fn caught<T>(call: impl Future<Output = T>) -> Result<T, StageError> {
    let panicked =
        |panic: Box<dyn Any + Send>| StageError::Passing(format!("it panicked: {}", text_of(&*panic)));
    AssertUnwindSafe(call).catch_unwind().await.map_err(panicked)
}

/// The same for a call that may take only so much time.
pub(crate) async fn caught_within<T>(
    timeout: Duration,
    call: impl Future<Output = T>,
) -> Result<T, StageError> {
    let late = |_| StageError::Passing(format!("it did not answer within {timeout:?}"));
    tokio::time::timeout(timeout, caught(call)).await.map_err(late)?
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
