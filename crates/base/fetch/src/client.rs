//! The client: redirects and answers.

use std::sync::Arc;

use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LAST_MODIFIED, LOCATION, RETRY_AFTER,
};
use http::{HeaderMap, HeaderName, Method, Response, StatusCode};
use hyper::body::Incoming;
use tokio::time::{Duration, Instant, timeout};
use url::Url;

use crate::body::{Body, Wire};
use crate::connect::Connector;
use crate::error::{Cause, Error, Result};
use crate::exchange::{Line, compose, exchange};
use crate::limits::VALIDATOR_BYTES_MAX;
use crate::network::{Internet, Network};
use crate::request::{Request, Validators};
use crate::rules::{Limits, Rules};
use crate::sniff::{Kind, sniff};
use crate::target::Target;
use crate::unpack::Unpacker;

#[derive(Debug)]
pub enum Fetched {
    /// Not modified since the validators of the request.
    NotModified,
    Found(Box<Download>),
}

/// An answer with a body.
#[derive(Debug)]
pub struct Download {
    /// The final URL, after redirects.
    pub url: Url,
    /// [`Kind::Empty`] for [`Request::head`].
    pub kind: Kind,
    /// The type that the server claims: for people, not for decisions.
    pub declared_type: Option<String>,
    /// The length that the server claims, compressed or not.
    pub declared_bytes: Option<u64>,
    /// Validators for the next request.
    pub validators: Validators,
    pub body: Body,
}

/// Downloads by rules. Cheap to clone; connections are not reused.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    rules: Rules,
    connector: Connector,
}

impl Client {
    /// Reads the system's certificates once.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self::over(Arc::new(Internet), rules)
    }

    /// For tests.
    #[must_use]
    pub fn over(network: Arc<dyn Network>, rules: Rules) -> Self {
        let connector = Connector::new(network, &rules);
        Self { inner: Arc::new(Inner { rules, connector }) }
    }

    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.inner.rules
    }

    /// Sends a request, follows redirects, and returns when the type of the body is known. The
    /// caller reads the body.
    ///
    /// Dropping the future or the body closes the connection.
    pub async fn send(&self, request: &Request) -> Result<Fetched> {
        let rules = &self.inner.rules;
        let limits = request.limits.as_ref().unwrap_or(&rules.limits);
        let deadline = Instant::now() + limits.total_time_max;
        let first = Target::parse(&request.url, rules).map_err(|cause| Error::new(&request.url, 0, cause))?;
        let mut target = first.clone();
        let mut seen = vec![first.url.clone()];
        loop {
            let redirects = seen.len() as u32 - 1;
            let fail = |cause| Error::new(target.url.as_str(), redirects, cause);
            let is_at_home = target.is_same_origin(&first);
            let (response, line) =
                self.ask(&target, request, is_at_home, limits, deadline).await.map_err(fail)?;
            let Some(place) = redirect(&response).map_err(fail)? else {
                let wire_of = |incoming| Wire::new(incoming, line, limits.clone(), deadline);
                return finish(response, wire_of, request, &target, redirects).await;
            };
            drop(line);
            let next = follow(&target, &place, &seen, request, rules).map_err(fail)?;
            seen.push(next.url.clone());
            target = next;
        }
    }

    async fn ask(
        &self,
        target: &Target,
        request: &Request,
        is_at_home: bool,
        limits: &Limits,
        deadline: Instant,
    ) -> Result<(Response<Incoming>, Line), Cause> {
        let rules = &self.inner.rules;
        let message = compose(target, request, rules, is_at_home)?;
        let connecting = self.inner.connector.connect(target, rules, limits);
        let pipe = within("to connect", limits.connect_time_max, limits, deadline, connecting).await?;
        let asking = exchange(pipe, message);
        within("to answer", limits.first_byte_time_max, limits, deadline, asking).await
    }
}

/// Limits a step by its own time and by the rest of the total time.
async fn within<T>(
    what: &'static str,
    max: Duration,
    limits: &Limits,
    deadline: Instant,
    work: impl Future<Output = Result<T, Cause>>,
) -> Result<T, Cause> {
    let left = deadline.saturating_duration_since(Instant::now());
    let late = if left < max {
        Cause::TooLong { what: "in total", max: limits.total_time_max }
    } else {
        Cause::TooLong { what, max }
    };
    timeout(left.min(max), work).await.unwrap_or(Err(late))
}

/// The target of a redirect; `None` for other answers.
fn redirect(response: &Response<Incoming>) -> Result<Option<String>, Cause> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let place = response.headers().get(LOCATION).map(|place| String::from_utf8(place.as_bytes().to_vec()));
    match place {
        Some(Ok(place)) if !place.is_empty() => Ok(Some(place)),
        _ => Err(Cause::RedirectNowhere(response.status().to_string())),
    }
}

fn follow(
    target: &Target,
    place: &str,
    seen: &[Url],
    request: &Request,
    rules: &Rules,
) -> Result<Target, Cause> {
    let next = target.follow(place, rules)?;
    if seen.contains(&next.url) {
        return Err(Cause::RedirectLoop);
    }
    if seen.len() > rules.redirects_max as usize {
        return Err(Cause::TooManyRedirects(rules.redirects_max));
    }
    if request.auth.is_some() && target.is_https() && !next.is_https() {
        return Err(Cause::Downgrade);
    }
    Ok(next)
}

/// The result of the final answer.
async fn finish(
    response: Response<Incoming>,
    wire_of: impl FnOnce(Incoming) -> Wire,
    request: &Request,
    target: &Target,
    redirects: u32,
) -> Result<Fetched> {
    let fail = |cause| Error::new(target.url.as_str(), redirects, cause);
    let is_conditional = request.validators != Validators::default();
    if response.status() == StatusCode::NOT_MODIFIED && is_conditional {
        return Ok(Fetched::NotModified);
    }
    check_status(&response, request).map_err(fail)?;
    let (parts, incoming) = response.into_parts();
    let headers = &parts.headers;
    let has_body = request.method != Method::HEAD;
    let encoding =
        if has_body { text(headers, &CONTENT_ENCODING).unwrap_or_default() } else { String::new() };
    let unpacker = Unpacker::of(&encoding).map_err(fail)?;
    let wire = wire_of(incoming);
    let declared_bytes = text(headers, &CONTENT_LENGTH).and_then(|length| length.parse().ok());
    if has_body && declared_bytes.is_some_and(|bytes| bytes > wire.bytes_max()) {
        return Err(fail(Cause::TooLarge(wire.bytes_max())));
    }
    let mut body = Body::new(wire, unpacker, target.url.to_string(), redirects);
    let kind = sniff(&body.peek().await?);
    if has_body && !request.accept.is_empty() && !request.accept.contains(&kind) {
        return Err(fail(Cause::WrongKind { found: kind, wanted: request.accept.clone() }));
    }
    let validators =
        Validators { etag: validator(headers, &ETAG), last_modified: validator(headers, &LAST_MODIFIED) };
    let declared_type = text(headers, &CONTENT_TYPE);
    let url = target.url.clone();
    Ok(Fetched::Found(Box::new(Download { url, kind, declared_type, declared_bytes, validators, body })))
}

fn check_status(response: &Response<Incoming>, request: &Request) -> Result<(), Cause> {
    let status = response.status();
    let is_file = matches!(status, StatusCode::OK | StatusCode::NON_AUTHORITATIVE_INFORMATION);
    if is_file || (request.method == Method::HEAD && status.is_success()) {
        return Ok(());
    }
    let seconds = text(response.headers(), &RETRY_AFTER).and_then(|text| text.trim().parse().ok());
    Err(Cause::Status { status, retry_after: seconds.map(Duration::from_secs) })
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

fn validator(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    text(headers, name).filter(|value| value.len() <= VALIDATOR_BYTES_MAX)
}
