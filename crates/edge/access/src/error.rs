//! What can go wrong: with the set-up ([`Error`]), with what a caller shows ([`Refusal`]), and what the caller is told of it
//! ([`Denial`]).

use std::time::Duration;

use http::StatusCode;

use crate::time::Time;

/// A set-up that cannot be used, or a store that does not answer. The message names the place; [`Error::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant says what its fields hold in its message")]
pub enum Error {
    /// A setting has a value that cannot be used.
    #[error("{key}: {why}")]
    Setting { key: &'static str, why: String },
    /// The process would serve others while access is off.
    #[error("refusing to listen on {address}: access is off, and other machines could reach it")]
    OpenToOthers { address: std::net::SocketAddr },
    /// A file cannot be read, or does not hold what it should.
    #[error("{path}: {why}")]
    File { path: String, why: String },
    /// A certificate and a key, each in order, that do not go together.
    #[error("TLS: {why}")]
    Tls { why: String },
    /// A set of keys could not be fetched, or what came is none.
    #[error("cannot get the keys from {url}: {why}")]
    Fetch { url: String, why: String },
    /// A new API key breaks a rule.
    #[error("the API key cannot be made: {why}")]
    NewKey { why: String },
    /// There is no API key of that id.
    #[error("there is no API key {id}")]
    NoSuchKey { id: String },
    /// A row of this crate cannot be understood.
    #[error("the row of API key {id} cannot be read: {why}")]
    Row { id: String, why: String },
    /// The machine gives no random bytes.
    #[error("the system gives no random bytes")]
    NoEntropy,
    /// Others changed the same row again and again.
    #[error("the row of API key {id} keeps changing")]
    Busy { id: String },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// What a person can do about it, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::OpenToOthers { .. } => {
                "set access.mode = \"required\" with jwks_file, jwks_url, pem_file, hs256_secret_file or API keys; or listen on 127.0.0.1"
            }
            Self::File { .. } => "check that the file exists, that this user may read it, and what it holds",
            Self::Tls { .. } => "tls.cert_file and tls.key_file must belong together",
            Self::Fetch { .. } => "check access.jwks_url with curl from this machine",
            Self::NoSuchKey { .. } => "list the keys to see their ids",
            Self::Busy { .. } => "try again",
            Self::Store(error) => return error.hint(),
            _ => return None,
        })
    }

    pub(crate) fn setting(key: &'static str, why: impl Into<String>) -> Self {
        Self::Setting { key, why: why.into() }
    }

    pub(crate) fn file(path: &std::path::Path, why: impl std::fmt::Display) -> Self {
        Self::File { path: path.display().to_string(), why: why.to_string() }
    }
}

/// Why a caller was not believed, for the log. Holds nothing secret. The caller hears only [`Refusal::told`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant says what its fields hold in its message")]
pub enum Refusal {
    /// No token, where one is needed.
    #[error("no token was shown")]
    Nothing,
    /// The header is not `Authorization: Bearer ...`, or there are several.
    #[error("the authorization header is no single bearer token")]
    Header,
    /// Longer than [`TOKEN_BYTES_MAX`](crate::limits::TOKEN_BYTES_MAX).
    #[error("the token has {bytes} bytes")]
    TooLong { bytes: usize },
    /// Not three parts of base64 with JSON in them.
    #[error("the token is malformed: {what}")]
    Malformed { what: &'static str },
    /// A header parameter that must be understood and is not, or a kind of token that is not for calling us.
    #[error("the token's header has {what}")]
    Unsupported { what: &'static str },
    /// No configured key has this id.
    #[error("no key has the id {kid:?}")]
    UnknownKey { kid: String },
    /// No configured key is for tokens without a key id and of this algorithm.
    #[error("no key is for tokens signed by {algorithm}")]
    NoKeyFor { algorithm: String },
    /// The token wants another algorithm than its key is for: a forgery, or a misconfigured issuer.
    #[error("the token says {token}, its key is for {key}")]
    WrongAlgorithm { token: String, key: &'static str },
    /// The signature is not by the key.
    #[error("the token is not signed by {key}")]
    BadSignature { key: String },
    /// A claim is absent, of a wrong type, or out of range.
    #[error("claim {claim}: {what}")]
    BadClaim { claim: String, what: &'static str },
    /// Over, also with leeway.
    #[error("the token expired at {at}")]
    Expired { at: Time },
    /// Not begun, also with leeway.
    #[error("the token is not valid before {at}")]
    NotYetValid { at: Time },
    /// By another issuer than the configured one.
    #[error("the token is issued by {issuer:?}")]
    WrongIssuer { issuer: String },
    /// For somebody else.
    #[error("the token is not for the configured audience")]
    WrongAudience,
    /// Access is off, and the caller calls us by a name that is not this machine's: a web page, or a proxy for others.
    #[error("access is off, and the call is for another host than this machine")]
    ForeignHost,
    /// The anonymous id is too short, too long, or has odd characters.
    #[error("the anonymous id is malformed")]
    BadAnonymousId,
    /// No such API key.
    #[error("there is no API key {id}")]
    UnknownApiKey { id: String },
    /// The id exists, the secret is another one.
    #[error("the secret of API key {id} is wrong")]
    WrongSecret { id: String },
    /// Revoked.
    #[error("API key {id} was revoked at {at}")]
    Revoked { id: String, at: Time },
    /// Expired.
    #[error("API key {id} expired at {at}")]
    ApiKeyExpired { id: String, at: Time },
    /// The keys of the issuer could not be had yet.
    #[error("the keys of the issuer are not there yet")]
    NoKeysYet,
    /// The store that holds the API keys is not open yet, or does not answer.
    #[error("API keys cannot be looked up: {why}")]
    KeysUnreachable { why: String },
}

impl Refusal {
    /// What the caller is told. A forger learns nothing: everything that is judged before the signature, or beside it, sounds the same.
    #[must_use]
    pub fn told(&self) -> &'static str {
        match self {
            Self::Nothing => "this needs a bearer token",
            Self::NoKeysYet | Self::KeysUnreachable { .. } => "tokens cannot be checked now, try again later",
            Self::BadAnonymousId => "the anonymous id must be 22 to 64 letters, digits, '-' or '_'",
            Self::ForeignHost => {
                "access is off: only calls to localhost are served; to serve others set access.mode = \"required\""
            }
            // Judged only after the signature held.
            Self::Expired { .. } => "the token has expired",
            _ => "the token is not valid",
        }
    }

    /// Whether it is our fault, not the caller's.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        matches!(self, Self::NoKeysYet | Self::KeysUnreachable { .. })
    }
}

/// Why a call is not served, in the words and codes for its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The kind.
    pub code: Code,
    /// The words.
    pub message: &'static str,
    /// When another attempt makes sense, if that is known.
    pub retry_after: Option<Duration>,
}

/// The kind of a [`Denial`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Nobody knows who calls.
    Unauthenticated,
    /// It is known who calls, and they may not.
    PermissionDenied,
    /// Too often or too much at once.
    ResourceExhausted,
    /// The request is larger than this caller may send.
    TooLarge,
    /// We cannot judge now.
    Unavailable,
}

impl Code {
    /// The name of the RPC code.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unauthenticated => "unauthenticated",
            Self::PermissionDenied => "permission_denied",
            Self::ResourceExhausted | Self::TooLarge => "resource_exhausted",
            Self::Unavailable => "unavailable",
        }
    }

    /// The status over plain HTTP.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::PermissionDenied => StatusCode::FORBIDDEN,
            Self::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

impl Denial {
    /// A denial with a text that everybody may read.
    #[must_use]
    pub const fn new(code: Code, message: &'static str) -> Self {
        Self { code, message, retry_after: None }
    }

    pub(crate) fn from_refusal(refusal: &Refusal) -> Self {
        let code = match refusal {
            // No token would help.
            Refusal::ForeignHost => Code::PermissionDenied,
            refusal if refusal.is_ours() => Code::Unavailable,
            _ => Code::Unauthenticated,
        };
        Self::new(code, refusal.told())
    }

    /// Whole seconds for `Retry-After`, at least one; `None` when nothing is known.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u64> {
        let wait = self.retry_after?;
        Some((wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1))
    }

    /// The headers that belong to the answer: `WWW-Authenticate` or `Retry-After`.
    #[must_use]
    pub fn headers(&self) -> http::HeaderMap {
        let mut headers = http::HeaderMap::new();
        if self.code == Code::Unauthenticated {
            headers.insert(http::header::WWW_AUTHENTICATE, http::HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after_seconds() {
            headers.insert(http::header::RETRY_AFTER, seconds.into());
        }
        headers
    }
}
