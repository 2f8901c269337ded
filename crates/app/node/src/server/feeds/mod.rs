//! HTTP routes for the files of feeds: uploads and reports.
//!
//! - `POST /feeds/{seller}/{namespace}/upload`: the body is the file; it is streamed to disk.
//! - `GET /feeds/{seller}/{namespace}/loads/{number}/problems.csv` and `.xlsx`: `number` may be
//!   `last`.
//! - `GET /feeds/schema.xsd` and `GET /feeds/errors`: open to everyone.
//!
//! Errors are RPC errors in JSON. An upload is recorded in the audit log with its author, like a
//! call (`server/rpc/recorder.rs`). Sellers' uploads into their own feeds are recorded only if they
//! come from the console: their programs upload all day.

mod csv;
mod page;
mod xlsx;

use std::path::PathBuf;
use std::time::Duration;

use access::Caller;
use api::{FeedCalls, Refusal, Report, Upload, language_of};
use axum::body::{Body, BodyDataStream};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Extension, Path, Query, Request, State};
use axum::response::Response;
use connectrpc::ConnectError;
use feeds::FeedName;
use feeds::limits::DOWNLOAD_TIME_MAX;
use futures::StreamExt as _;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::router::{Shared, failure, json_answer};
use crate::actions::{Actions, Beginning, Failure, Noted, is_own_feed, shown};
use crate::config;

pub(super) const SCHEMA_PATH: &str = "/feeds/schema.xsd";
pub(super) const ERRORS_PATH: &str = "/feeds/errors";
/// An upload that sends nothing for this long is aborted.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// The method and the service of an upload in the audit log.
const UPLOAD: &str = "POST /feeds/{seller}/{namespace}/upload";
const SERVICE: &str = "torg.feeds.v1.FeedService";
/// Stands for the number of the last load.
const LAST: &str = "last";

/// Uploads and reports of feeds.
#[derive(Clone)]
pub struct FeedFiles {
    calls: FeedCalls,
    actions: Actions,
    upload_bytes_max: u64,
    /// Temporary files of reports.
    folder: PathBuf,
}

struct Refused {
    answer: Box<Response>,
    code: &'static str,
    text: String,
}

impl Refused {
    fn new(status: StatusCode, code: &'static str, text: &str) -> Refused {
        Refused { answer: Box::new(failure(status, code, text)), code, text: text.to_owned() }
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        let error = ConnectError::from(refusal);
        let (code, text) = (error.code.as_str(), error.message.clone().unwrap_or_default());
        // Without request headers the error is encoded as JSON, whatever the file type.
        let answer = Box::new(error.into_http_response(&HeaderMap::new()).map(Body::new));
        Refused { answer, code, text }
    }
}

fn answered(answer: Result<Response, Refused>) -> Response {
    answer.unwrap_or_else(|refused| *refused.answer)
}

/// The query of the page of problem codes.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Asked {
    language: String,
}

impl FeedFiles {
    pub fn new(calls: FeedCalls, actions: Actions, config: &config::Feeds) -> FeedFiles {
        let upload_bytes_max = u64::from(config.upload_mb_max) << 20;
        FeedFiles { calls, actions, upload_bytes_max, folder: config.spool_dir.clone() }
    }

    /// Receives a file into `upload` and returns it ready to be finished. `bytes` counts what was
    /// received.
    async fn take(
        &self,
        mut upload: Upload,
        mut pieces: BodyDataStream,
        bytes: &mut u64,
    ) -> Result<Upload, Refused> {
        loop {
            let piece = match timeout(SILENCE_MAX, pieces.next()).await {
                Ok(Some(Ok(piece))) => piece,
                Ok(Some(Err(_))) => {
                    let text = "the file broke off: send it again";
                    return Err(Refusal::wrong_field("file", "BROKEN_OFF", text).into());
                }
                Ok(None) => return Ok(upload),
                Err(_) => return Err(too_slow()),
            };
            *bytes += piece.len() as u64;
            if *bytes > self.upload_bytes_max {
                return Err(self.too_large());
            }
            upload.write(&piece)?;
        }
    }

    fn too_large(&self) -> Refused {
        let text = format!(
            "the file is larger than {} MiB: pack it with gzip or zip, or divide it into several feeds",
            self.upload_bytes_max >> 20
        );
        Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "resource_exhausted", &text)
    }

    /// Starts recording an upload, if it has to be recorded.
    fn note(&self, caller: &Caller, in_console: bool, (seller, namespace): (&str, &str)) -> Option<Noted> {
        if caller.is_anonymous() || (!in_console && is_own_feed(caller, Some(seller))) {
            return None;
        }
        let request = json!({"seller": seller, "namespace": namespace});
        let (method, about) = (UPLOAD.to_owned(), shown::about(SERVICE, &request));
        Some(self.actions.begin(Beginning { caller, in_console, method, about, request }))
    }
}

pub(super) async fn upload(
    State(shared): State<Shared>,
    caller: Option<Extension<Caller>>,
    path: Result<Path<(String, String)>, PathRejection>,
    request: Request,
) -> Response {
    answered(Box::pin(note_upload(&shared, caller, path, request)).await)
}

/// Receives a file and records who sent it, its size, and the number of its load or the error.
async fn note_upload(
    shared: &Shared,
    caller: Option<Extension<Caller>>,
    path: Result<Path<(String, String)>, PathRejection>,
    request: Request,
) -> Result<Response, Refused> {
    let (files, caller) = served(shared, caller)?;
    let Path((seller, namespace)) = path.map_err(|_| no_such_path())?;
    let in_console = request.extensions().get::<console::FromConsole>().is_some();
    let noted = files.note(&caller, in_console, (&seller, &namespace));
    let mut bytes = 0;
    let taking = Box::pin(take_upload(files, &caller, (&seller, &namespace), request, &mut bytes));
    let taken = timeout(DOWNLOAD_TIME_MAX, taking).await.unwrap_or_else(|_| Err(too_slow()));
    if let Some(mut noted) = noted {
        let mut known = json!({"seller": seller, "namespace": namespace, "bytes": bytes});
        if let Ok((_, number)) = &taken {
            known["load"] = Value::from(number.to_string());
        }
        noted.know(known);
        let failure = taken.as_ref().err();
        noted.end(failure.map(|refused| Failure { code: refused.code, text: &refused.text })).await;
    }
    let (name, number) = taken?;
    let about = json!({"seller": name.seller, "namespace": name.namespace, "number": number.to_string()});
    let report = format!("/feeds/{}/{}/loads/{number}/problems", escaped(&name.seller), name.namespace);
    let answer = json!({
        "seller": name.seller,
        "namespace": name.namespace,
        "number": number.to_string(),
        "progress": {"method": "/torg.feeds.v1.FeedService/GetLoad", "request": about},
        "problems": [format!("{report}.csv"), format!("{report}.xlsx")],
    });
    Ok(json_answer(StatusCode::ACCEPTED, &answer))
}

/// Receives a file. Returns the feed and the number of the load. `bytes` counts what was received.
async fn take_upload(
    files: &FeedFiles,
    caller: &Caller,
    (seller, namespace): (&str, &str),
    request: Request,
    bytes: &mut u64,
) -> Result<(FeedName, u64), Refused> {
    let upload = files.calls.upload(caller, seller, namespace).await?;
    if declared_bytes(request.headers()) > files.upload_bytes_max {
        return Err(files.too_large());
    }
    if is_form(request.headers()) {
        let text = "send the file itself as the body, not a form: curl --data-binary @FILE";
        return Err(Refusal::wrong_field("file", "IS_A_FORM", text).into());
    }
    let upload = files.take(upload, request.into_body().into_data_stream(), bytes).await?;
    let name = upload.name().clone();
    Ok((name, upload.finish().await?))
}

pub(super) async fn report(
    State(shared): State<Shared>,
    caller: Option<Extension<Caller>>,
    path: Result<Path<(String, String, String, String)>, PathRejection>,
    asked: Result<Query<Asked>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    answered(make_report(&shared, caller, path, asked, &headers).await)
}

async fn make_report(
    shared: &Shared,
    caller: Option<Extension<Caller>>,
    path: Result<Path<(String, String, String, String)>, PathRejection>,
    asked: Result<Query<Asked>, QueryRejection>,
    headers: &HeaderMap,
) -> Result<Response, Refused> {
    let (files, caller) = served(shared, caller)?;
    let Path((seller, namespace, number, file)) = path.map_err(|_| no_such_path())?;
    let is_csv = match &*file {
        "problems.csv" => true,
        "problems.xlsx" => false,
        _ => return Err(no_such_path()),
    };
    let Query(Asked { language }) = asked.map_err(|_| {
        let text = "a report takes language=en or ru only";
        Refusal::wrong_field("language", "UNKNOWN_PARAMETER", text)
    })?;
    let language = language_of(&language, headers)?;
    let number = match (&*number, number.parse()) {
        (LAST, _) => 0,
        (_, Ok(number)) if number > 0 => number,
        _ => {
            let text = "the number of a load, or last";
            return Err(Refusal::wrong_field("number", "WRONG_NUMBER", text).into());
        }
    };
    let report = files.calls.report(&caller, (&seller, &namespace, number), language).await?;
    let number = report.number();
    let body = if is_csv { csv::body(report) } else { xlsx(report, files).await? };
    let kind = if is_csv { csv::CONTENT_TYPE } else { xlsx::CONTENT_TYPE };
    let name = file.replace("problems", &format!("problems-{number}"));
    Ok(as_file(body, kind, &name))
}

async fn xlsx(report: Report, files: &FeedFiles) -> Result<Body, Refused> {
    xlsx::body(report, &files.folder).await.map_err(|error| match error {
        xlsx::Error::Refused(refusal) => refusal.into(),
        xlsx::Error::Failed(error) => Refusal::internal(&error).into(),
    })
}

pub(super) async fn schema() -> Response {
    let mut answer = Response::new(Body::from(feedfile::XSD));
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    answer
}

pub(super) async fn errors(asked: Result<Query<Asked>, QueryRejection>, headers: HeaderMap) -> Response {
    let Asked { language } = asked.map(|Query(asked)| asked).unwrap_or_default();
    match language_of(&language, &headers) {
        Ok(language) => page::answer(language),
        Err(refusal) => answered(Err(refusal.into())),
    }
}

/// Returns an error if feeds are not served or there is no caller.
fn served(shared: &Shared, caller: Option<Extension<Caller>>) -> Result<(&FeedFiles, Caller), Refused> {
    let Some(files) = shared.slots.feeds.get() else {
        let text = "feeds are not served here, or not yet";
        return Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", text));
    };
    let Some(Extension(caller)) = caller else { return Err(Refusal::sign_in().into()) };
    Ok((files, caller))
}

fn no_such_path() -> Refused {
    Refused::new(StatusCode::NOT_FOUND, "not_found", "no such path")
}

fn too_slow() -> Refused {
    let text = "the file came too slowly: send it again, or pack it with gzip or zip";
    Refused::new(StatusCode::REQUEST_TIMEOUT, "deadline_exceeded", text)
}

/// Percent-encodes a name as a path segment.
fn escaped(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let escape =
        |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(escape).collect()
}

fn declared_bytes(headers: &HeaderMap) -> u64 {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    length.and_then(|length| length.parse().ok()).unwrap_or(0)
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("multipart/"))
}

/// A download that must not be cached.
fn as_file(body: Body, kind: &'static str, name: &str) -> Response {
    let mut answer = Response::new(body);
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(name) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    answer
}
