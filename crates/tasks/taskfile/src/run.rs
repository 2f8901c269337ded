//! What a task runs.

use crate::template::Template;
use jiff::SignedDuration;
use std::collections::BTreeMap;

/// What is run, and for how long at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What.
    pub action: Action,
    /// How long it may take, until it counts as failed and is ended.
    pub timeout: SignedDuration,
}

/// The kinds of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A process on the machine of the scheduler.
    Command(Command),
    /// A call of a URL.
    Http(HttpCall),
    /// A call of a service that runs tasks.
    Grpc(GrpcCall),
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What is executed.
    pub program: Program,
    /// Variables beside those that Torg sets; none of them begins with `TORG_`.
    pub environment: BTreeMap<String, Template>,
    /// Where; the directory of the scheduler if nothing is said.
    pub directory: Option<String>,
}

/// What a process executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A program and its arguments; no shell looks at them. Never empty.
    Arguments(Vec<String>),
    /// A script for `/bin/sh -c`.
    Shell(String),
}

/// A call of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpCall {
    /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: String,
    /// With `http` or `https`, without a user, a password and a fragment.
    pub url: String,
    /// By lower-case name.
    pub headers: BTreeMap<String, Template>,
    /// What is sent; `None`: a description of the run with the values that the check saw. Never set for `GET`.
    pub body: Option<Template>,
    /// How its end is told.
    pub done: Done,
}

/// How the end of a run over HTTP is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// By the answer: a status of 200 to 299 is success.
    Response,
    /// By a call back to Torg.
    Callback,
    /// By asking again and again.
    Poll {
        /// What is asked; `None`: what the header `Location` of the answer says.
        url: Option<String>,
        /// How often.
        every: SignedDuration,
    },
}

/// A call of a service that runs tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrpcCall {
    /// `http://host:port`, or `https://host:port` for TLS.
    pub address: String,
    /// Metadata, by lower-case name.
    pub headers: BTreeMap<String, Template>,
    /// Certificates; only with `https`.
    pub tls: Tls,
}

/// Files with certificates. What is not given is that of the system.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Tls {
    /// Certificates of those who are trusted.
    pub ca_file: Option<String>,
    /// The certificate of the scheduler; only together with its key.
    pub cert_file: Option<String>,
    /// The key of the scheduler's certificate.
    pub key_file: Option<String>,
    /// The name that the service's certificate must have.
    pub server_name: Option<String>,
}
