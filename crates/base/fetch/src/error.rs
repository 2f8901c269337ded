//! What can go wrong: a name for each refusal.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use http::StatusCode;
use url::Url;

use crate::limits::{HEAD_BYTES_MAX, HEADERS_MAX, SHOWN_URL_CHARS, URL_BYTES_MAX};
use crate::sniff::Kind;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A download that did not come about: where it ended, and why.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{at}: {why}{}", redirected(*redirects))]
pub struct Error {
    /// The URL that was asked last, without user, password and fragment.
    pub at: String,
    /// The redirects that led there.
    pub redirects: u32,
    /// What was refused, or failed.
    pub why: Why,
}

fn redirected(redirects: u32) -> String {
    match redirects {
        0 => String::new(),
        1 => " (after a redirect)".to_owned(),
        n => format!(" (after {n} redirects)"),
    }
}

impl Error {
    pub(crate) fn new(at: &str, redirects: u32, why: Why) -> Self {
        Self { at: shown(at), redirects, why }
    }

    /// Whether the same request may succeed later without anybody changing the URL.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        self.why.is_passing()
    }

    /// The refusal's name in one word, stable.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.why.code()
    }
}

/// A URL as it may be shown: no secrets, not too long.
fn shown(url: &str) -> String {
    let clean = Url::parse(url).map_or_else(
        |_| url.to_owned(),
        |mut url| {
            // A URL that cannot have a user has none to hide.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.set_fragment(None);
            url.to_string()
        },
    );
    clean.chars().filter(|c| !c.is_control()).take(SHOWN_URL_CHARS).collect()
}

/// Why a download did not come about.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Why {
    /// It cannot be read as a URL.
    #[error("this is no URL ({0}): write it in full, with http:// or https://")]
    BadUrl(String),
    /// It is too long.
    #[error("the URL has more than {URL_BYTES_MAX} bytes: shorten it")]
    LongUrl,
    /// Neither `http` nor `https`, or not `https` where only that is allowed.
    #[error("{scheme}: links are not followed: use {allowed}")]
    Scheme {
        /// The URL's.
        scheme: String,
        /// Those of the rules.
        allowed: &'static str,
    },
    /// A port that must not be asked.
    #[error("port {port} is not allowed: serve the file on one of {allowed:?}")]
    Port {
        /// The URL's.
        port: u16,
        /// Those of the rules.
        allowed: Vec<u16>,
    },
    /// A user or a password in the URL.
    #[error("the URL holds a user or a password: give them apart from it")]
    UserInfo,
    /// An address in a spelling that people do not use.
    #[error("the host is the address {0} in an unusual spelling: write the host's name")]
    OddAddress(IpAddr),
    /// The operator denies this host, or allows only others.
    #[error("the operator does not allow downloads from {0}: serve the file elsewhere")]
    HostDenied(String),
    /// The name has no address, or the look-up failed.
    #[error("the host {host} has no address ({detail}): check its name")]
    NoAddress {
        /// The name.
        host: String,
        /// What the look-up said.
        detail: String,
    },
    /// The host is no public one.
    #[error(
        "the host {host} has the address {address}, which is not public ({what}): serve the file from a public host"
    )]
    PrivateAddress {
        /// The host as the URL names it.
        host: String,
        /// The address that was refused.
        address: IpAddr,
        /// What kind of address that is.
        what: &'static str,
    },
    /// No connection came about.
    #[error("{address} cannot be reached ({detail}): check that the server is up")]
    Unreachable {
        /// The address that was tried last.
        address: SocketAddr,
        /// What the system said.
        detail: String,
    },
    /// The TLS handshake failed.
    #[error("no safe connection ({0}): check the server's certificate")]
    Tls(String),
    /// The proxy did not make the connection.
    #[error(
        "the proxy does not connect ({0}): check its address, its credentials and the ports that it allows"
    )]
    Proxy(String),
    /// Something took too long.
    #[error("it took longer than {max:?} {what}: make the server answer faster")]
    TooLong {
        /// What: to connect, to answer, in total.
        what: &'static str,
        /// The limit.
        max: Duration,
    },
    /// Bytes drip too slowly.
    #[error(
        "{bytes} bytes in {time:?} are too slow, {min} bytes a second are the least: serve the file faster"
    )]
    TooSlow {
        /// What came.
        bytes: u64,
        /// In this time of waiting.
        time: Duration,
        /// The least speed.
        min: u64,
    },
    /// More bytes than allowed.
    #[error("the file has more than {0} bytes: make it smaller")]
    TooLarge(u64),
    /// More bytes after unpacking than allowed.
    #[error("the file has more than {0} bytes unpacked: make it smaller")]
    TooLargeUnpacked(u64),
    /// It unpacks to suspiciously much.
    #[error("the file unpacks to more than {0} times its size: send it without packing")]
    Ratio(u64),
    /// The packed body is damaged.
    #[error("the packed body is damaged ({0}): check the server's compression")]
    BadPacking(String),
    /// Packed in a way that was not asked for.
    #[error("the body is packed as {0:?}: send it as it is, or as gzip")]
    OtherPacking(String),
    /// The head of the answer is too large.
    #[error("the answer's head has more than {HEAD_BYTES_MAX} bytes or {HEADERS_MAX} headers: send fewer")]
    HeadTooLarge,
    /// Not an HTTP answer.
    #[error("the answer is no HTTP ({0}): check the port and the server")]
    NotHttp(String),
    /// More redirects than allowed.
    #[error("more than {0} redirects: give the URL that they lead to")]
    TooManyRedirects(u32),
    /// A redirect to a URL that was asked before.
    #[error("the redirects go round in a circle: give the URL of the file itself")]
    RedirectLoop,
    /// A redirect that says not where to.
    #[error("a redirect without a place ({0}): give the URL of the file itself")]
    RedirectNowhere(String),
    /// A redirect from `https` to `http`, for a request with credentials.
    #[error("a redirect from https to http, for a request with a password: keep to https")]
    Downgrade,
    /// The server's answer is another one than the file.
    #[error("the server answers {status}{}: check that the link opens without logging in", hint(*status))]
    Status {
        /// Its status.
        status: StatusCode,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The body ended early, or the connection broke.
    #[error("the connection ended in the middle of the answer ({0}): it is tried again")]
    Truncated(String),
    /// The bytes are of another kind than asked for.
    #[error("the file is {found}, not {}: give the link of the file itself", kinds(wanted))]
    WrongKind {
        /// What the bytes are.
        found: Kind,
        /// What was asked for.
        wanted: Vec<Kind>,
    },
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

impl Why {
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

    /// The name in one word, stable: tables and reports keep it.
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
