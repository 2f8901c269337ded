//! What a task runs.

use crate::template::Template;
use jiff::SignedDuration;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub action: Action,
    /// After this time the run is stopped and counts as failed.
    pub timeout: SignedDuration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A process on the machine that runs tasks.
    Command(Command),
    Http(HttpCall),
    Grpc(GrpcCall),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub program: Program,
    /// Variables besides those of Torg; none begins with `TORG_`.
    pub environment: BTreeMap<String, Template>,
    /// By default the working directory of Torg.
    pub directory: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A program and its arguments, without a shell. Never empty.
    Arguments(Vec<String>),
    Shell(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpCall {
    /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: String,
    /// `http` or `https`, without user, password and fragment.
    pub url: String,
    /// By lower-case name.
    pub headers: BTreeMap<String, Template>,
    /// `None`: a description of the run with the values that the check saw. Never set for `GET`.
    pub body: Option<Template>,
    pub done: Done,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// By the response: a status of 200 to 299 is success.
    Response,
    Callback,
    Poll {
        /// `None`: the header `Location` of the response.
        url: Option<String>,
        every: SignedDuration,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrpcCall {
    /// `http://host:port`, or `https://host:port` for TLS.
    pub address: String,
    /// Metadata, by lower-case name.
    pub headers: BTreeMap<String, Template>,
    /// Only with `https`.
    pub tls: Tls,
}

/// Files with certificates; the system's authorities are the default.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Tls {
    pub ca_file: Option<String>,
    /// The client certificate; only together with its key.
    pub cert_file: Option<String>,
    /// The key of the client certificate.
    pub key_file: Option<String>,
    pub server_name: Option<String>,
}
