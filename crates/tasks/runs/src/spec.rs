//! What a run is to do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::check;
use crate::error::Result;
use crate::limits::{INHERITED, KILL_AFTER, LOG_BYTES, POLL_EVERY, TIMEOUT};
use crate::secret::Secret;
use crate::value::Values;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    pub task: String,
    /// 1 for the first attempt.
    pub attempt: u32,
    /// What the trigger saw.
    pub values: Values,
    /// The chunk of a backfill.
    pub chunk: Option<Chunk>,
    pub timeout: Duration,
    /// Bytes of its log that are kept: the first half and the last.
    pub log_bytes_max: u64,
    #[serde(rename = "what")]
    pub action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    pub start: Timestamp,
    /// Exclusive.
    pub end: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    Command(Command),
    /// A request to a service.
    Http(Http),
    /// A call of a service that implements `torg.tasks.v1.TaskRunnerService`.
    Grpc(Grpc),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    pub line: CommandLine,
    /// By default the folder of the run. A relative path is resolved where the run is started.
    pub directory: Option<PathBuf>,
    /// They win over inherited variables.
    pub environment: BTreeMap<String, Secret>,
    /// Variables inherited from the process that starts the run, if they are set. There are no
    /// others.
    pub inherit: Vec<String>,
    /// The time from TERM to KILL.
    pub kill_after: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandLine {
    /// A program, found by the command's `PATH`, and its arguments, unchanged.
    Program {
        program: String,
        arguments: Vec<String>,
    },
    Shell(String),
}

/// A request, and how the end of the work is known.
///
/// The request has the headers `torg-run`, `torg-task`, `torg-attempt` and `idempotency-key` (the
/// run's id). It may be repeated with the same key: after a transient error, and after a restart
/// before its response was noted. `{run}` in URLs is replaced by the run's id. Redirects are not
/// followed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Http {
    pub method: String,
    /// `http` or `https`. Private addresses are allowed: the operator wrote it.
    pub url: String,
    /// Further headers.
    pub headers: BTreeMap<String, Secret>,
    /// `None`: a JSON object with the run, the task, the attempt, the values and the chunk, unless
    /// the method is `GET`, `HEAD` or `DELETE`.
    pub body: Option<Secret>,
    pub done: Done,
    /// Instead of the system's authorities.
    pub tls: Option<Tls>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Done {
    /// By the response: a status from 200 to 299 means done.
    Response,
    /// By a callback: see [`Runner::callback`](crate::Runner::callback). The response only says
    /// that the work was accepted.
    Callback,
    Poll(Poll),
}

/// How a service is polled. The first response only says that the work was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Poll {
    /// With the headers of the first request. `None`: the header `location` of its response.
    pub url: Option<String>,
    pub every: Duration,
    #[serde(rename = "told")]
    pub result: PollResult,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PollResult {
    /// 202: not yet. Another status from 200 to 299: done. Others: failed, unless transient.
    Status,
    /// By a field of the JSON response.
    Field {
        pointer: String,
        /// Its values when the work is done.
        done: Vec<String>,
        /// Its values when the work failed. Everything else means: not yet.
        failed: Vec<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grpc {
    pub address: String,
    /// Instead of the system's authorities.
    pub tls: Option<Tls>,
    pub headers: BTreeMap<String, Secret>,
    /// Passed to the service unchanged.
    pub arguments: BTreeMap<String, String>,
    pub every: Duration,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tls {
    /// Trusted authorities instead of the system's.
    pub ca_pem: Option<String>,
    pub certificate_pem: Option<String>,
    pub key_pem: Option<Secret>,
    /// The name that the service's certificate must have, if not that of its address. For gRPC
    /// only.
    #[serde(default)]
    pub server_name: Option<String>,
}

impl Spec {
    /// A first attempt with default limits and no values.
    #[must_use]
    pub fn new(task: impl Into<String>, action: Action) -> Self {
        Self {
            task: task.into(),
            attempt: 1,
            values: Values::new(),
            chunk: None,
            timeout: TIMEOUT,
            log_bytes_max: LOG_BYTES,
            action,
        }
    }

    /// Validates names, sizes and times. [`Runner::start`](crate::Runner::start) does so too.
    pub fn check(&self) -> Result<()> {
        check::spec(self)
    }
}

impl Command {
    #[must_use]
    pub fn program<S: Into<String>>(
        program: impl Into<String>,
        arguments: impl IntoIterator<Item = S>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self::of(CommandLine::Program { program: program.into(), arguments })
    }

    #[must_use]
    pub fn shell(line: impl Into<String>) -> Self {
        Self::of(CommandLine::Shell(line.into()))
    }

    fn of(line: CommandLine) -> Self {
        let inherit = INHERITED.iter().map(|&name| name.to_owned()).collect();
        Self { line, directory: None, environment: BTreeMap::new(), inherit, kill_after: KILL_AFTER }
    }
}

impl Http {
    /// A `POST` whose response is the end.
    #[must_use]
    pub fn post(url: impl Into<String>) -> Self {
        Self {
            method: "POST".to_owned(),
            url: url.into(),
            headers: BTreeMap::new(),
            body: None,
            done: Done::Response,
            tls: None,
        }
    }
}

impl Grpc {
    /// A call without TLS settings, headers and arguments.
    #[must_use]
    pub fn at(address: impl Into<String>) -> Self {
        let (headers, arguments) = (BTreeMap::new(), BTreeMap::new());
        Self { address: address.into(), tls: None, headers, arguments, every: POLL_EVERY }
    }
}

/// Without the query of the URL, which may contain a key.
impl std::fmt::Debug for Http {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { method, url, headers, body, done, tls } = self;
        let url = shown_url(url);
        out.debug_struct("Http")
            .field("method", method)
            .field("url", &url)
            .field("headers", headers)
            .field("body", body)
            .field("done", done)
            .field("tls", tls)
            .finish()
    }
}

/// A URL without its possible secrets.
pub(crate) fn shown_url(url: &str) -> String {
    match url::Url::parse(url) {
        Ok(url) => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
        }
        Err(_) => "a URL that cannot be read".to_owned(),
    }
}
