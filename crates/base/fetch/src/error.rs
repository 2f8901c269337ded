//! Errors: a name for each cause.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use http::StatusCode;
use url::Url;

use crate::limits::{HEAD_BYTES_MAX, HEADERS_MAX, SHOWN_URL_CHARS, URL_BYTES_MAX};
use crate::sniff::Kind;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failed download.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{at}: {cause}{}", redirected(*redirects))]
pub struct Error {
    /// The last URL, without user, password and fragment.
    pub at: String,
    /// Redirects so far.
    pub redirects: u32,
    pub cause: Cause,
}

fn redirected(redirects: u32) -> String {
    match redirects {
        0 => String::new(),
        1 => " (after a redirect)".to_owned(),
        n => format!(" (after {n} redirects)"),
    }
}

impl Error {
    pub(crate) fn new(at: &str, redirects: u32, cause: Cause) -> Self {
        Self { at: shown(at), redirects, cause }
    }

    /// Whether a retry of the same request may succeed.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        self.cause.is_passing()
    }

    /// A stable name in one word.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.cause.code()
    }
}

/// A URL for messages: without secrets, truncated.
fn shown(url: &str) -> String {
    let clean = Url::parse(url).map_or_else(
        |_| url.to_owned(),
        |mut url| {
            // Other URLs have no user.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.set_fragment(None);
            url.to_string()
        },
    );
    clean.chars().filter(|c| !c.is_control()).take(SHOWN_URL_CHARS).collect()
}

/// Why a download failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    #[error("this is no URL ({0}): write it in full, with http:// or https://")]
    BadUrl(String),
    #[error("the URL has more than {URL_BYTES_MAX} bytes: shorten it")]
    LongUrl,
    #[error("{scheme}: links are not followed: use {allowed}")]
    Scheme { scheme: String, allowed: &'static str },
    #[error("port {port} is not allowed: serve the file on one of {allowed:?}")]
    Port {
        /// The URL's.
        port: u16,
        /// Those of the rules.
        allowed: Vec<u16>,
    },
    #[error("the URL holds a user or a password: give them apart from it")]
    UserInfo,
    /// An address in a spelling that hides it.
    #[error("the host is the address {0} in an unusual spelling: write the host's name")]
    OddAddress(IpAddr),
    #[error("the operator does not allow downloads from {0}: serve the file elsewhere")]
    HostDenied(String),
    #[error("the host {host} has no address ({detail}): check its name")]
    NoAddress { host: String, detail: String },
    #[error(
        "the host {host} has the address {address}, which is not public ({what}): serve the file from a public host"
    )]
    PrivateAddress { host: String, address: IpAddr, what: &'static str },
    #[error("{address} cannot be reached ({detail}): check that the server is up")]
    Unreachable { address: SocketAddr, detail: String },
    #[error("no safe connection ({0}): check the server's certificate")]
    Tls(String),
    #[error(
        "the proxy does not connect ({0}): check its address, its credentials and the ports that it allows"
    )]
    Proxy(String),
    #[error("it took longer than {max:?} {what}: make the server answer faster")]
    TooLong {
        /// `to connect`, `to answer`, `in total`.
        what: &'static str,
        max: Duration,
    },
    #[error(
        "{bytes} bytes in {time:?} are too slow, {min} bytes a second are the least: serve the file faster"
    )]
    TooSlow {
        bytes: u64,
        /// The waiting time.
        time: Duration,
        min: u64,
    },
    #[error("the file has more than {0} bytes: make it smaller")]
    TooLarge(u64),
    #[error("the file has more than {0} bytes unpacked: make it smaller")]
    TooLargeUnpacked(u64),
    #[error("the file unpacks to more than {0} times its size: send it without packing")]
    Ratio(u64),
    #[error("the packed body is damaged ({0}): check the server's compression")]
    BadPacking(String),
    #[error("the body is packed as {0:?}: send it as it is, or as gzip")]
    OtherPacking(String),
    #[error("the answer's head has more than {HEAD_BYTES_MAX} bytes or {HEADERS_MAX} headers: send fewer")]
    HeadTooLarge,
    #[error("the answer is no HTTP ({0}): check the port and the server")]
    NotHttp(String),
    #[error("more than {0} redirects: give the URL that they lead to")]
    TooManyRedirects(u32),
    #[error("the redirects go round in a circle: give the URL of the file itself")]
    RedirectLoop,
    #[error("a redirect without a place ({0}): give the URL of the file itself")]
    RedirectNowhere(String),
    #[error("a redirect from https to http, for a request with a password: keep to https")]
    Downgrade,
    #[error("the server answers {status}{}: check that the link opens without logging in", hint(*status))]
    Status {
        status: StatusCode,
        /// From `Retry-After`.
        retry_after: Option<Duration>,
    },
    #[error("the connection ended in the middle of the answer ({0}): it is tried again")]
    Truncated(String),
    #[error("the file is {found}, not {}: give the link of the file itself", kinds(wanted))]
    WrongKind { found: Kind, wanted: Vec<Kind> },
}

fn hint(status: StatusCode) -> &'static str {
    match status.as_u16() {
        404 | 410 => " (there is no such file)",
        401 | 403 => " (it does not let us in)",
        429 => " (it is asked too often)",
        500.. => " (it has a fault)",
        _ => "",
    }
}

fn kinds(kinds: &[Kind]) -> String {
    kinds.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

impl Cause {
    /// Whether the same request may succeed later without anybody changing the URL.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::NoAddress { .. }
            | Self::Unreachable { .. }
            | Self::Tls(_)
            | Self::Proxy(_)
            | Self::TooLong { .. }
            | Self::TooSlow { .. }
            | Self::NotHttp(_)
            | Self::Truncated(_) => true,
            Self::Status { status, .. } => {
                status.is_server_error() || matches!(status.as_u16(), 408 | 421 | 425 | 429)
            }
            _ => false,
        }
    }

    /// A stable name in one word, which tables and reports store.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadUrl(_) => "bad_url",
            Self::LongUrl => "long_url",
            Self::Scheme { .. } => "scheme",
            Self::Port { .. } => "port",
            Self::UserInfo => "user_info",
            Self::OddAddress(_) => "odd_address",
            Self::HostDenied(_) => "host_denied",
            Self::NoAddress { .. } => "no_address",
            Self::PrivateAddress { .. } => "private_address",
            Self::Unreachable { .. } => "unreachable",
            Self::Tls(_) => "tls",
            Self::Proxy(_) => "proxy",
            Self::TooLong { .. } => "too_long",
            Self::TooSlow { .. } => "too_slow",
            Self::TooLarge(_) => "too_large",
            Self::TooLargeUnpacked(_) => "too_large_unpacked",
            Self::Ratio(_) => "ratio",
            Self::BadPacking(_) => "bad_packing",
            Self::OtherPacking(_) => "other_packing",
            Self::HeadTooLarge => "head_too_large",
            Self::NotHttp(_) => "not_http",
            Self::TooManyRedirects(_) => "too_many_redirects",
            Self::RedirectLoop => "redirect_loop",
            Self::RedirectNowhere(_) => "redirect_nowhere",
            Self::Downgrade => "downgrade",
            Self::Status { .. } => "status",
            Self::Truncated(_) => "truncated",
            Self::WrongKind { .. } => "wrong_kind",
        }
    }
}
