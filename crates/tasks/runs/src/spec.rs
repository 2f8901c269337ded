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

/// What a run is to do, and what it is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// The task, by name.
    pub task: String,
    /// 1 for the first attempt.
    pub attempt: u32,
    /// What the trigger saw.
    pub values: Values,
    /// The part of a backfill that the run is for.
    pub chunk: Option<Chunk>,
    /// How long the run may take.
    pub timeout: Duration,
    /// Bytes of its log that are kept: the first half and the last.
    pub log_bytes_max: u64,
    /// The work.
    pub what: What,
}

/// A part of a calendar, up to, and without, its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Where it begins.
    pub start: Timestamp,
    /// Where the next one begins.
    pub end: Timestamp,
}

/// The work of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// A command on this machine.
    Command(Command),
    /// A request to a service.
    Http(Http),
    /// A call of a service that implements `torg.tasks.v1.TaskRunnerService`.
    Grpc(Grpc),
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// What is executed.
    pub line: Line,
    /// Where; by default the folder of the run. A relative one is meant from the folder in which the run is started.
    pub directory: Option<PathBuf>,
    /// Variables of its own. They win over inherited ones.
    pub environment: BTreeMap<String, Secret>,
    /// Variables that it inherits from whoever starts the run, if they are there. It gets no others.
    pub inherit: Vec<String>,
    /// The time from TERM to KILL when it has to be stopped.
    pub kill_after: Duration,
}

/// What is executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Line {
    /// A program, found by the command's `PATH`, and its arguments, passed on as they are.
    Program {
        /// Its name or path.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// A line for `/bin/sh -c`.
    Shell(String),
}

/// A request, and how the end of the work is told.
///
/// The request carries the headers `torg-run`, `torg-task`, `torg-attempt` and `idempotency-key` (the run's id). It may come more than
/// once, always with the same key: after an error that may pass, and after a restart before its answer was noted. `{run}` in URLs is replaced by
/// the run's id. Redirects are not followed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Http {
    /// The method: `POST`.
    pub method: String,
    /// `http` or `https`. Private addresses are normal here: the operator wrote it.
    pub url: String,
    /// Further headers.
    pub headers: BTreeMap<String, Secret>,
    /// The body; none: a JSON object with the run, the task, the attempt, the values and the chunk, unless the method is `GET`, `HEAD` or `DELETE`.
    pub body: Option<Secret>,
    /// How the end is told.
    pub done: Done,
    /// Whom to trust, if not the system's authorities, and who we are.
    pub tls: Option<Tls>,
}

/// How a service tells that the work has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Done {
    /// By its answer: a status from 200 to 299 means done.
    Response,
    /// It calls back: see [`Runner::call_back`](crate::Runner::call_back). The answer to the request only says that the work was accepted.
    Callback,
    /// It is asked.
    Poll(Poll),
}

/// How a service is asked whether the work has ended. The answer to the first request only says that the work was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Poll {
    /// Where, with the headers of the first request; none: where the header `location` of its answer points.
    pub url: Option<String>,
    /// The time between two questions.
    pub every: Duration,
    /// What answers mean.
    pub told: Told,
}

/// What an answer to a question means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    /// 202: not yet. Another status from 200 to 299: done. Others: failed, unless they may pass.
    Status,
    /// By a field of the JSON in the answer.
    Field {
        /// Where it is, as a JSON pointer: `/state`.
        pointer: String,
        /// What it says when the work is done.
        done: Vec<String>,
        /// What it says when the work failed. Everything else means: not yet.
        failed: Vec<String>,
    },
}

/// A call of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grpc {
    /// `http://host:port` or `https://host:port`.
    pub address: String,
    /// Whom to trust, if not the system's authorities, and who we are.
    pub tls: Option<Tls>,
    /// Headers of every call, for instance `authorization`.
    pub headers: BTreeMap<String, Secret>,
    /// Handed to the service as they are.
    pub arguments: BTreeMap<String, String>,
    /// The time between two questions.
    pub every: Duration,
}

/// How connections are secured; in PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tls {
    /// Authorities that are trusted instead of the system's.
    pub ca_pem: Option<String>,
    /// A certificate of ours, if the service asks for one.
    pub certificate_pem: Option<String>,
    /// Its key.
    pub key_pem: Option<Secret>,
    /// The name that the service's certificate must have, if not that of its address. For gRPC only.
    #[serde(default)]
    pub server_name: Option<String>,
}

impl Spec {
    /// A first attempt with the default limits, that is told nothing.
    #[must_use]
    pub fn new(task: impl Into<String>, what: What) -> Self {
        Self {
            task: task.into(),
            attempt: 1,
            values: Values::new(),
            chunk: None,
            timeout: TIMEOUT,
            log_bytes_max: LOG_BYTES,
            what,
        }
    }

    /// Whether a run can be started so: all names, sizes and times are within their limits. [`Runner::start`](crate::Runner::start) asks this
    /// too.
    pub fn check(&self) -> Result<()> {
        check::spec(self)
    }
}

impl Command {
    /// A program with its arguments.
    #[must_use]
    pub fn program<S: Into<String>>(
        program: impl Into<String>,
        arguments: impl IntoIterator<Item = S>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self::of(Line::Program { program: program.into(), arguments })
    }

    /// A line for the shell.
    #[must_use]
    pub fn shell(line: impl Into<String>) -> Self {
        Self::of(Line::Shell(line.into()))
    }

    fn of(line: Line) -> Self {
        let inherit = INHERITED.iter().map(|&name| name.to_owned()).collect();
        Self { line, directory: None, environment: BTreeMap::new(), inherit, kill_after: KILL_AFTER }
    }
}

impl Http {
    /// A `POST` whose answer tells the end.
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
    /// A call without TLS of its own, headers and arguments.
    #[must_use]
    pub fn at(address: impl Into<String>) -> Self {
        let (headers, arguments) = (BTreeMap::new(), BTreeMap::new());
        Self { address: address.into(), tls: None, headers, arguments, every: POLL_EVERY }
    }
}

/// Without the query of the URL, which may carry a key.
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

/// A URL without what may be a secret in it.
pub(crate) fn shown_url(url: &str) -> String {
    match url::Url::parse(url) {
        Ok(url) => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
        }
        Err(_) => "a URL that cannot be read".to_owned(),
    }
}
