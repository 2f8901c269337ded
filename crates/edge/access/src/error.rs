//! Errors of the setup ([`Error`]), of credentials ([`Refusal`]), and the answers to callers
//! ([`Denial`]).

use std::time::Duration;

use http::StatusCode;

use crate::time::Time;

/// An invalid setup, or a store that does not answer. The message names the place; [`Error::hint`]
/// names the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant says what its fields hold in its message")]
pub enum Error {
    /// A setting has an invalid value.
    #[error("{key}: {why}")]
    Setting { key: &'static str, why: String },
    /// The process would serve other machines with access control off.
    #[error("refusing to listen on {address}: access is off, and other machines could reach it")]
    OpenToOthers { address: std::net::SocketAddr },
    /// A file cannot be read, or has the wrong content.
    #[error("{path}: {why}")]
    File { path: String, why: String },
    /// A certificate and a key that do not match.
    #[error("TLS: {why}")]
    Tls { why: String },
    /// A key set cannot be fetched or is invalid.
    #[error("cannot get the keys from {url}: {why}")]
    Fetch { url: String, why: String },
    /// A new API key breaks a rule.
    #[error("the API key cannot be made: {why}")]
    NewKey { why: String },
    /// There is no API key of that id.
    #[error("there is no API key {id}")]
    NoSuchKey { id: String },
    /// A row cannot be decoded.
    #[error("the row of API key {id} cannot be read: {why}")]
    Row { id: String, why: String },
    #[error("the system gives no random bytes")]
    NoEntropy,
    /// Concurrent changes of the same row.
    #[error("the row of API key {id} keeps changing")]
    Busy { id: String },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The remedy, if it is known.
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

/// Why authentication failed, for the log. Contains no secrets. The caller receives only
/// [`Refusal::message`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant says what its fields hold in its message")]
pub enum Refusal {
    #[error("no token was shown")]
    Nothing,
    /// The header is not `Authorization: Bearer ...`, or there are several.
    #[error("the authorization header is not a single bearer token")]
    Header,
    /// Longer than [`TOKEN_BYTES_MAX`](crate::limits::TOKEN_BYTES_MAX).
    #[error("the token has {bytes} bytes")]
    TooLong { bytes: usize },
    /// Not three base64 parts with JSON.
    #[error("the token is malformed: {what}")]
    Malformed { what: &'static str },
    /// A critical header parameter that is not supported, or a token for another purpose.
    #[error("the token's header has {what}")]
    Unsupported { what: &'static str },
    #[error("no key has the id {kid:?}")]
    UnknownKey { kid: String },
    /// No key for tokens without a key id of this algorithm.
    #[error("no key is for tokens signed by {algorithm}")]
    NoKeyFor { algorithm: String },
    /// The token's algorithm differs from that of its key: a forgery, or a misconfigured issuer.
    #[error("the token says {token}, its key is for {key}")]
    WrongAlgorithm { token: String, key: &'static str },
    #[error("the token is not signed by {key}")]
    BadSignature { key: String },
    /// A claim is missing, of a wrong type, or out of range.
    #[error("claim {claim}: {what}")]
    BadClaim { claim: String, what: &'static str },
    /// Expired, including the leeway.
    #[error("the token expired at {at}")]
    Expired { at: Time },
    /// Not valid yet, including the leeway.
    #[error("the token is not valid before {at}")]
    NotYetValid { at: Time },
    /// Another issuer than the configured one.
    #[error("the token is issued by {issuer:?}")]
    WrongIssuer { issuer: String },
    /// Another audience.
    #[error("the token is not for the configured audience")]
    WrongAudience,
    /// Access control is off, and the `Host` is not this machine: a foreign web page, or a proxy.
    #[error("access is off, and the call is for another host than this machine")]
    ForeignHost,
    /// The anonymous id is too short, too long, or has invalid characters.
    #[error("the anonymous id is malformed")]
    BadAnonymousId,
    #[error("there is no API key {id}")]
    UnknownApiKey { id: String },
    #[error("the secret of API key {id} is wrong")]
    WrongSecret { id: String },
    #[error("API key {id} was revoked at {at}")]
    Revoked { id: String, at: Time },
    #[error("API key {id} expired at {at}")]
    ApiKeyExpired { id: String, at: Time },
    /// The keys of the issuer have not been fetched yet.
    #[error("the keys of the issuer are not there yet")]
    NoKeysYet,
    /// The store with the API keys is not open yet or unavailable.
    #[error("API keys cannot be looked up: {why}")]
    KeysUnreachable { why: String },
}

impl Refusal {
    /// The text for the caller. It is the same for everything that is checked before the signature,
    /// so a forger learns nothing.
    #[must_use]
    pub fn message(&self) -> &'static str {
        match self {
            Self::Nothing => "this needs a bearer token",
            Self::NoKeysYet | Self::KeysUnreachable { .. } => "tokens cannot be checked now, try again later",
            Self::BadAnonymousId => "the anonymous id must be 22 to 64 letters, digits, '-' or '_'",
            Self::ForeignHost => {
                "access is off: only calls to localhost are served; to serve others set access.mode = \"required\""
            }
            // Checked only after the signature.
            Self::Expired { .. } => "the token has expired",
            _ => "the token is not valid",
        }
    }

    /// Whether Torg is at fault, not the caller.
    #[must_use]
    pub fn is_internal(&self) -> bool {
        matches!(self, Self::NoKeysYet | Self::KeysUnreachable { .. })
    }
}

/// The refusal of a call, as its caller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denial {
    pub code: Code,
    pub message: &'static str,
    /// When to retry, if that is known.
    pub retry_after: Option<Duration>,
}

/// The kind of a [`Denial`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Not authenticated.
    Unauthenticated,
    /// Authenticated, but not allowed.
    PermissionDenied,
    /// A limit is reached.
    ResourceExhausted,
    /// The request is too large for this caller.
    TooLarge,
    /// The call cannot be judged now.
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
    /// The text is public.
    #[must_use]
    pub const fn new(code: Code, message: &'static str) -> Self {
        Self { code, message, retry_after: None }
    }

    pub(crate) fn from_refusal(refusal: &Refusal) -> Self {
        let code = match refusal {
            // A token would not help.
            Refusal::ForeignHost => Code::PermissionDenied,
            refusal if refusal.is_internal() => Code::Unavailable,
            _ => Code::Unauthenticated,
        };
        Self::new(code, refusal.message())
    }

    /// Whole seconds for `Retry-After`, at least one.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u64> {
        let wait = self.retry_after?;
        Some((wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1))
    }

    /// `WWW-Authenticate` or `Retry-After`.
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
