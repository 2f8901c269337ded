//! File uploads by a form.
//!
//! The file is streamed to the feed service chunk by chunk. The CSRF token precedes the file and is
//! checked before the first byte of the file is sent on.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::Poll;

use axum::body::{Body, BodyDataStream};
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::{self, Stream};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use maud::{Markup, html};
use multer::{Constraints, Field, Multipart, SizeLimit, parse_boundary};
use serde::Deserialize;
use tokio::time::timeout;

use super::FeedRef;
use crate::address::Path;
use crate::form::{TOKEN_FIELD, is_own};
use crate::limits::{
    ANSWER_BYTES_MAX, TOKEN_BYTES_MAX, UPLOAD_BEGIN_TIME_MAX, UPLOAD_END_TIME_MAX, UPLOAD_FIELDS_BYTES_MAX,
};
use crate::services::{Failure, Kind, failure_of};
use crate::view::{piece, token};
use crate::visit::Visit;

const FILE_FIELD: &str = "file";

pub(super) fn form(visit: &Visit, named: &FeedRef) -> Markup {
    html! {
        form.drop method="post" action=(named.under(&["upload"])) enctype="multipart/form-data" data-drop {
            (token(visit))
            label for="file" { strong { (visit.t("Upload a file")) } }
            input #file type="file" name=(FILE_FIELD) required;
            p.hint { (visit.t("Drop it here, or choose it. XML, CSV, XLSX and others, also packed with gzip or zip.")) }
            button.main { (visit.t("Upload")) }
            p data-say="going" role="status" hidden { span {} br; progress aria-label=(visit.t("Upload")) {} }
            p.notice.bad data-say="many" role="alert" hidden { (visit.t("One file at a time: nothing was uploaded.")) }
            p.notice.bad data-say="broken" role="alert" hidden { (visit.t("The file did not arrive completely. Try again.")) }
            p.notice.bad data-say="refused" role="alert" hidden {}
        }
    }
}

/// The part of the form that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Small fields before the file.
    Fields = 0,
    /// The file is streamed to the feed service chunk by chunk. The CSRF token precedes the file
    /// and is checked before the first byte of the file is sent on.
    File = 1,
    /// The rest is discarded.
    Rest = 2,
}

/// The current stage, shared by the parser and the stream of chunks.
#[derive(Clone, Default)]
struct Progress(Arc<AtomicU8>);

impl Progress {
    fn set(&self, stage: Stage) {
        self.0.store(stage as u8, Ordering::Relaxed);
    }

    fn is(&self, stage: Stage) -> bool {
        self.0.load(Ordering::Relaxed) == stage as u8
    }
}

/// The answer to an upload.
#[derive(Deserialize)]
struct Taken {
    number: String,
}

pub(super) async fn take(visit: Visit, Path(named): Path<FeedRef>, request: Request) -> Response {
    if !is_own(request.headers()) {
        return visit.forged();
    }
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let Ok(boundary) = parse_boundary(kind) else {
        return visit.refused(&Failure::new(Kind::Refused, visit.t("This is not a form.")));
    };
    let progress = Progress::default();
    let limits = SizeLimit::new().for_field(TOKEN_FIELD, TOKEN_BYTES_MAX);
    let pieces = one_by_one(request.into_body().into_data_stream(), progress.clone());
    let mut form = Multipart::with_constraints(pieces, boundary, Constraints::new().size_limit(limits));
    let file = match timeout(UPLOAD_BEGIN_TIME_MAX, file_of(&visit, &mut form)).await {
        Ok(Ok(file)) => file,
        Ok(Err(refused)) => return *refused,
        Err(_) => {
            return visit.refused(&Failure::new(Kind::Refused, visit.t("The form was sent too slowly.")));
        }
    };
    progress.set(Stage::File);
    let outcome = hand_in(&visit, &named, file).await;
    if outcome.is_err() {
        // A browser reads the answer only after it has sent everything.
        progress.set(Stage::Rest);
        // Errors in the rest do not change the outcome.
        let _ = timeout(UPLOAD_END_TIME_MAX, form.next_field()).await;
    }
    match outcome {
        Ok(number) => {
            let message = visit.f("The file was accepted as load {0}.", &[&number]);
            visit.done(&named.under(&["loads", &number]), Ok(message))
        }
        Err(failure) => visit.done(&named.page(), Err(failure)),
    }
}

/// The file of a form, after the CSRF token was checked.
async fn file_of(visit: &Visit, form: &mut Multipart<'static>) -> Result<Field<'static>, Box<Response>> {
    let refuse = |text: &'static str| Box::new(visit.refused(&Failure::new(Kind::Refused, visit.t(text))));
    let broken = |_| refuse("The form is too large or incomplete.");
    let mut made = false;
    while let Some(field) = form.next_field().await.map_err(broken)? {
        match field.name() {
            Some(TOKEN_FIELD) => made = visit.made(field.text().await.map_err(broken)?.trim()),
            Some(FILE_FIELD) if made => return Ok(field),
            Some(FILE_FIELD) => return Err(Box::new(visit.forged())),
            _ => {}
        }
    }
    Err(if made { refuse("There is no file in the form.") } else { Box::new(visit.forged()) })
}

/// Streams the file to the service; returns the number of the load.
async fn hand_in(visit: &Visit, named: &FeedRef, file: Field<'static>) -> Result<String, Failure> {
    let path = format!("/feeds/{}/{}/upload", piece(&named.seller), piece(&named.namespace));
    let request = Request::post(path)
        .header(CONTENT_TYPE, "application/octet-stream")
        .body(Body::from_stream(file))
        .map_err(|error| Failure::new(Kind::Broken, error.to_string()))?;
    let answer = visit.forward(request).await;
    let status = answer.status();
    let body = axum::body::to_bytes(answer.into_body(), ANSWER_BYTES_MAX).await;
    let body = body.map_err(|error| Failure::new(Kind::Broken, format!("an answer broke off: {error}")))?;
    if status != StatusCode::ACCEPTED {
        return Err(failure_of(status, &body));
    }
    let taken: Taken = serde_json::from_slice(&body).map_err(|error| {
        Failure::new(Kind::Broken, format!("the answer to an upload cannot be read: {error}"))
    })?;
    Ok(taken.number)
}

/// The chunks of a body with a pause after each. The parser takes chunks as long as there are any;
/// with the pauses it takes one, and its buffer stays small. Before the file the size is limited;
/// after a refusal chunks are discarded.
fn one_by_one(
    mut pieces: BodyDataStream,
    progress: Progress,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let (mut pause, mut bytes) = (false, 0);
    stream::poll_fn(move |context| {
        loop {
            if std::mem::take(&mut pause) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            let next = match pieces.poll_next_unpin(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(next)) => next,
            };
            pause = true;
            if progress.is(Stage::Rest) && next.is_ok() {
                continue;
            }
            let next = next.map_err(io::Error::other);
            bytes += next.as_ref().map_or(0, Bytes::len);
            if progress.is(Stage::Fields) && bytes > UPLOAD_FIELDS_BYTES_MAX {
                return Poll::Ready(Some(Err(io::Error::other("the fields before the file are too large"))));
            }
            return Poll::Ready(Some(next));
        }
    })
}
