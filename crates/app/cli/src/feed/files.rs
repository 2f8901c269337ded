//! Uploads files to a server and downloads reports, over the connection of RPC calls.

use std::io::Read;
use std::path::Path;

use anyhow::Context as _;
use bytes::Bytes;
use connectrpc::client::{ClientBody, full_body};
use connectrpc::{ConnectError, ErrorCode};
use http::{Method, Response};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Frame, Incoming};
use serde::Deserialize;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::mpsc;

use super::super::remote::{Remote, advice};
use terminal::errors::advised;

/// Bytes of one chunk.
const PIECE_BYTES: usize = 64 << 10;
/// Chunks that are buffered for sending.
const READY: usize = 4;

/// The seller and the feed in the paths of files.
pub(super) struct FeedPath<'p> {
    pub(super) seller: &'p str,
    pub(super) namespace: &'p str,
}

impl FeedPath<'_> {
    fn under(&self, rest: &str) -> String {
        format!("/feeds/{}/{}/{rest}", escaped(self.seller), escaped(self.namespace))
    }
}

/// The response to an upload.
#[derive(Debug, Deserialize)]
struct Uploaded {
    number: String,
}

/// Uploads the whole input. Returns the number of its load.
pub(super) async fn upload(
    remote: &Remote,
    feed: &FeedPath<'_>,
    input: impl Read + Send + 'static,
) -> anyhow::Result<u64> {
    let answer = send(remote, Method::POST, &feed.under("upload"), streamed(input)).await?;
    let text = Remote::whole(answer).await?;
    let number =
        serde_json::from_slice::<Uploaded>(&text).ok().and_then(|uploaded| uploaded.number.parse().ok());
    number.context("the server answers an upload with something else than the number of its load")
}

pub(super) async fn download(
    remote: &Remote,
    feed: &FeedPath<'_>,
    (number, name, language): (u64, &str, &str),
    file: &Path,
) -> anyhow::Result<u64> {
    let path = feed.under(&format!("loads/{number}/{name}?language={}", escaped(language)));
    let mut body = send(remote, Method::GET, &path, full_body(Bytes::new())).await?.into_body();
    let unwritable = |error: std::io::Error| {
        advised(format!("{}: {error}", file.display()), "name a file that can be written")
    };
    let mut out = tokio::fs::File::create(file).await.map_err(unwritable)?;
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.context("the server went away")?.into_data() {
            bytes += data.len() as u64;
            out.write_all(&data).await.map_err(unwritable)?;
        }
    }
    out.flush().await.map_err(unwritable)?;
    Ok(bytes)
}

async fn send(
    remote: &Remote,
    method: Method,
    path: &str,
    body: ClientBody,
) -> anyhow::Result<Response<Incoming>> {
    let answer = remote.send(method, path, body).await?;
    if answer.status().is_success() {
        return Ok(answer);
    }
    let status = answer.status();
    Err(refused(status, &Remote::whole(answer).await?))
}

/// Converts an error response.
fn refused(status: http::StatusCode, text: &[u8]) -> anyhow::Error {
    let object: Option<serde_json::Value> = serde_json::from_slice(text).ok();
    let field = |name: &str| object.as_ref().and_then(|object| object[name].as_str()).map(str::to_owned);
    let plain = String::from_utf8_lossy(text).trim().to_owned();
    let words = field("message").or_else(|| field("error")).unwrap_or(plain);
    let words = if words.is_empty() { format!("the server answers {status}") } else { words };
    match code_of(status).and_then(advice) {
        Some(hint) => advised(words, hint),
        None => anyhow::anyhow!("{words}"),
    }
}

/// The RPC error code that matches the HTTP status.
fn code_of(status: http::StatusCode) -> Option<ErrorCode> {
    Some(match status {
        http::StatusCode::UNAUTHORIZED => ErrorCode::Unauthenticated,
        http::StatusCode::FORBIDDEN => ErrorCode::PermissionDenied,
        http::StatusCode::NOT_FOUND => ErrorCode::NotFound,
        http::StatusCode::TOO_MANY_REQUESTS => ErrorCode::ResourceExhausted,
        http::StatusCode::REQUEST_TIMEOUT | http::StatusCode::GATEWAY_TIMEOUT => ErrorCode::DeadlineExceeded,
        http::StatusCode::BAD_GATEWAY | http::StatusCode::SERVICE_UNAVAILABLE => ErrorCode::Unavailable,
        status if status.is_server_error() => ErrorCode::Internal,
        _ => return None,
    })
}

/// Reads the input on a blocking thread and streams it in chunks.
fn streamed(mut input: impl Read + Send + 'static) -> ClientBody {
    let (sender, mut pieces) = mpsc::channel::<Result<Frame<Bytes>, ConnectError>>(READY);
    tokio::task::spawn_blocking(move || {
        loop {
            let mut piece = vec![0; PIECE_BYTES];
            let sent = match input.read(&mut piece) {
                Ok(0) => return,
                Ok(read) => {
                    piece.truncate(read);
                    sender.blocking_send(Ok(Frame::data(piece.into())))
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => sender.blocking_send(Err(ConnectError::internal(error.to_string()))),
            };
            if sent.is_err() {
                return;
            }
        }
    });
    StreamBody::new(futures::stream::poll_fn(move |context| pieces.poll_recv(context))).boxed()
}

/// Escapes one segment of a path.
fn escaped(part: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    part.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_path_cannot_leave_it() {
        let feed = FeedPath { seller: "a/b ю", namespace: "x?y" };
        assert_eq!(feed.under("upload"), "/feeds/a%2Fb%20%D1%8E/x%3Fy/upload");
    }

    #[test]
    fn a_refusal_is_told_in_the_words_of_the_server() {
        let status = http::StatusCode::NOT_FOUND;
        let told = |text: &str| refused(status, text.as_bytes()).to_string();
        assert_eq!(told(r#"{"code":"not_found","message":"there is no feed"}"#), "there is no feed");
        assert_eq!(told("nothing here\n"), "nothing here");
        assert_eq!(told(""), "the server answers 404 Not Found");
        for (status, advice) in [(404, "spelt right"), (500, "the server's log"), (504, "try again")] {
            let status = http::StatusCode::from_u16(status).unwrap();
            let told = terminal::errors::report(&refused(status, b"no"));
            assert!(told.contains("hint: ") && told.contains(advice), "{told}");
        }
        assert!(!terminal::errors::report(&refused(http::StatusCode::BAD_REQUEST, b"no")).contains("hint: "));
    }
}
