//! What streams of answers have in common.

use connectrpc::{ConnectError, ErrorCode};
use futures::stream::once;
use futures::{Stream, StreamExt as _};
use tokio::sync::watch;

use crate::errors::Refusal;

/// A stream that ends with its first error. When the process stops, its last item is an error with
/// this text.
pub(crate) fn until_stopped<T: Send + 'static>(
    stream: impl Stream<Item = Result<T, ConnectError>> + Send + 'static,
    mut closing: watch::Receiver<bool>,
    text: &'static str,
) -> impl Stream<Item = Result<T, ConnectError>> + Send + 'static {
    let closed = async move {
        // An error means that the sender is gone, which is the end, too.
        let _ = closing.wait_for(|closing| *closing).await;
    };
    let stopping = async move {
        Err(ConnectError::from(Refusal::new(ErrorCode::Unavailable, "STOPPING", text).passing()))
    };
    stream.take_until(closed).chain(once(stopping)).scan(false, |failed, item| {
        let over = *failed;
        *failed = item.is_err();
        futures::future::ready((!over).then_some(item))
    })
}
