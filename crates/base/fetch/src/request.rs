//! Requests.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Method;

use crate::rules::Limits;
use crate::sniff::Kind;

/// User and password. The debug form shows neither.
#[derive(Clone, PartialEq, Eq)]
pub struct BasicAuth {
    pub user: String,
    pub password: String,
}

impl BasicAuth {
    pub(crate) fn header(&self) -> String {
        format!("Basic {}", STANDARD.encode(format!("{}:{}", self.user, self.password)))
    }
}

impl fmt::Debug for BasicAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BasicAuth(..)")
    }
}

/// Validators: they identify a version of the body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

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
    #[must_use]
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::GET, url.into())
    }

    /// Requests only the head of the answer. The body is empty.
    #[must_use]
    pub fn head(url: impl Into<String>) -> Self {
        Self::new(Method::HEAD, url.into())
    }

    fn new(method: Method, url: String) -> Self {
        let validators = Validators::default();
        Self { url, method, auth: None, validators, accept: Vec::new(), limits: None }
    }

    /// Credentials, sent to the URL's own scheme, host and port only.
    #[must_use]
    pub fn auth(mut self, auth: BasicAuth) -> Self {
        self.auth = Some(auth);
        self
    }

    /// Requests the body only if it changed since these validators.
    #[must_use]
    pub fn unless(mut self, validators: Validators) -> Self {
        self.validators = validators;
        self
    }

    /// Accepts only these types, detected from the bytes.
    #[must_use]
    pub fn accept(mut self, kinds: &[Kind]) -> Self {
        self.accept = kinds.to_vec();
        self
    }

    /// Replaces the limits of the rules.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }
}
