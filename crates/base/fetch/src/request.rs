//! What is asked for.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Method;

use crate::rules::Limits;
use crate::sniff::Kind;

/// A name and a password. Its debug form shows neither.
#[derive(Clone, PartialEq, Eq)]
pub struct BasicAuth {
    /// Who.
    pub user: String,
    /// The secret.
    pub password: String,
}

impl BasicAuth {
    /// The value of the header.
    pub(crate) fn header(&self) -> String {
        format!("Basic {}", STANDARD.encode(format!("{}:{}", self.user, self.password)))
    }
}

impl fmt::Debug for BasicAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BasicAuth(..)")
    }
}

/// By what an answer is recognised the next time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    /// The header `ETag`.
    pub etag: Option<String>,
    /// The header `Last-Modified`.
    pub last_modified: Option<String>,
}

/// One download.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) url: String,
    pub(crate) method: Method,
    pub(crate) auth: Option<BasicAuth>,
    pub(crate) validators: Validators,
    pub(crate) accept: Vec<Kind>,
    pub(crate) limits: Option<Limits>,
}

impl Request {
    /// The body at this URL.
    #[must_use]
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::GET, url.into())
    }

    /// Only the head of the answer: whether there is something. Its body is empty.
    #[must_use]
    pub fn head(url: impl Into<String>) -> Self {
        Self::new(Method::HEAD, url.into())
    }

    fn new(method: Method, url: String) -> Self {
        let validators = Validators::default();
        Self { url, method, auth: None, validators, accept: Vec::new(), limits: None }
    }

    /// Sends these credentials, to the URL's own scheme, host and port only.
    #[must_use]
    pub fn auth(mut self, auth: BasicAuth) -> Self {
        self.auth = Some(auth);
        self
    }

    /// Asks for the body only if it is another one than these belong to.
    #[must_use]
    pub fn unless(mut self, validators: Validators) -> Self {
        self.validators = validators;
        self
    }

    /// Takes only bodies of these kinds, told from their bytes.
    #[must_use]
    pub fn accept(mut self, kinds: &[Kind]) -> Self {
        self.accept = kinds.to_vec();
        self
    }

    /// Limits of its own instead of those of the rules.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }
}
