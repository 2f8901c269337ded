//! Calls over HTTP: a request and, if needed, polling.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use reqwest::Client;
use serde_json::json;
use tokio::time::sleep;
use url::Url;

use super::{Backoff, Call, CallOutcome, Progress, truncate};
use crate::limits::{
    ANSWER_BYTES_MAX, ANSWER_LOGGED_BYTES_MAX, CONNECT_TIMEOUT, DETAIL_BYTES_MAX, REQUEST_TIMEOUT,
    RETRY_AFTER_MAX,
};
use crate::spec::{Done, Http, Poll, PollResult, Tls, shown_url};
use crate::tls;
use crate::value::Values;

pub(crate) fn client(given: Option<&Tls>) -> Result<Client, String> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls::config(given)?)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("torg/", env!("CARGO_PKG_VERSION")));
    builder.build().map_err(|error| describe(&error))
}

pub(super) async fn work(call: &Call, http: &Http) -> CallOutcome {
    match execute(call, http).await {
        Ok(()) => CallOutcome::done(Values::new()),
        Err(why) => CallOutcome::failed(why),
    }
}

/// The error says why the work failed.
async fn execute(call: &Call, http: &Http) -> Result<(), String> {
    let client = match &http.tls {
        None => call.web.clone(),
        Some(tls) => client(Some(tls))?,
    };
    let mut progress = call.progress().map_err(|error| error.to_string())?;
    let service = Service { call, http, client };
    if !progress.accepted {
        let Some(location) = service.begin().await? else { return Ok(()) };
        progress = Progress { accepted: true, location: location.map(String::from) };
        call.note(&progress).await;
    }
    match &http.done {
        // Cannot happen: the spec does not change after the start.
        Done::Response => Ok(()),
        // The callback ends this.
        Done::Callback => std::future::pending().await,
        Done::Poll(poll) => service.ask(poll, progress.location).await,
    }
}

struct Service<'a> {
    call: &'a Call,
    http: &'a Http,
    client: Client,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    /// Truncated if it is too long.
    body: Vec<u8>,
    is_whole: bool,
}

impl Service<'_> {
    /// Gives the work to the service, until there is a final response. `None` if that response was
    /// the end of the run, otherwise the polling URL that it names.
    async fn begin(&self) -> Result<Option<Option<Url>>, String> {
        let url = self.url(&self.http.url)?;
        let method = Method::from_bytes(self.http.method.as_bytes()).map_err(|error| error.to_string())?;
        let tells_end = self.http.done == Done::Response;
        let body = self.body(&method);
        let mut headers = self.headers(&url)?;
        if self.http.body.is_none() && body.is_some() {
            headers.entry(header::CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        }
        let limit = (!tells_end).then_some(REQUEST_TIMEOUT);
        let answer = self.answer(&method, &url, &headers, body, limit).await?;
        if !answer.status.is_success() {
            return Err(refusal(&method, &url, &answer));
        }
        if tells_end {
            return Ok(None);
        }
        let location = answer.headers.get(header::LOCATION).and_then(|place| place.to_str().ok());
        Ok(Some(location.and_then(|place| url.join(place).ok())))
    }

    async fn ask(&self, poll: &Poll, location: Option<String>) -> Result<(), String> {
        let place = poll.url.clone().or(location).ok_or_else(|| {
            "the service was to say where it can be asked, in the header `location` of its answer, and did not: \
             give poll.url"
                .to_owned()
        })?;
        let url = self.url(&place)?;
        let headers = self.headers(&url)?;
        loop {
            let answer = self.answer(&Method::GET, &url, &headers, None, Some(REQUEST_TIMEOUT)).await?;
            if !answer.status.is_success() {
                return Err(refusal(&Method::GET, &url, &answer));
            }
            if is_done(&poll.result, &answer)? {
                return Ok(());
            }
            sleep(poll.every).await;
        }
    }

    /// Sends a request until the response is final: connection errors and some statuses are
    /// transient.
    async fn answer(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: Option<String>,
        limit: Option<Duration>,
    ) -> Result<Answer, String> {
        let shown = shown_url(url.as_str());
        let mut pause = Backoff::default();
        loop {
            let request = self.client.request(method.clone(), url.clone()).headers(headers.clone());
            let request = body.iter().fold(request, |request, body| request.body(body.clone()));
            let request = limit.into_iter().fold(request, reqwest::RequestBuilder::timeout);
            let answered = match request.send().await {
                Ok(response) => read(response).await,
                Err(error) => Err(error),
            };
            match answered {
                Ok(answer) => {
                    let response = format!("{method} {shown} answered {}", answer.status);
                    self.call.log(&format!("{response}: {}", excerpt(&answer.body, ANSWER_LOGGED_BYTES_MAX)));
                    if !may_pass(answer.status) {
                        self.call.clear_error();
                        return Ok(answer);
                    }
                    let wanted = retry_after(&answer.headers);
                    self.call.pause_after(format!("{response}, which may pass"), &mut pause, wanted).await;
                }
                Err(error) if error.is_builder() => {
                    return Err(format!("{method} {shown}: {}", describe(&error)));
                }
                Err(error) => {
                    let last_error = format!("{method} {shown}: {}", describe(&error));
                    self.call.pause_after(last_error, &mut pause, None).await;
                }
            }
        }
    }

    fn url(&self, text: &str) -> Result<Url, String> {
        let text = text.replace("{run}", self.call.run.as_str());
        Url::parse(&text).map_err(|error| format!("{}: {error}", shown_url(&text)))
    }

    /// The headers of a request. Those of the spec may be secrets and are sent only to the origin
    /// of the first request.
    fn headers(&self, url: &Url) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        let mut add = |name: &str, value: &str| {
            let wrong = || format!("the header {name} cannot be sent");
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
            headers.append(name, HeaderValue::from_str(value).map_err(|_| wrong())?);
            Ok::<_, String>(())
        };
        if self.url(&self.http.url)?.origin() == url.origin() {
            for (name, value) in &self.http.headers {
                add(name, value.expose())?;
            }
        }
        let call = self.call;
        add("torg-run", call.run.as_str())?;
        add("idempotency-key", call.run.as_str())?;
        add("torg-task", &call.spec.task)?;
        add("torg-attempt", &call.spec.attempt.to_string())?;
        if self.http.done == Done::Callback {
            if let Some(place) = &call.callbacks {
                add("torg-callback-url", &place.replace("{run}", call.run.as_str()))?;
            }
            let token = call.folder.token().map_err(|error| error.to_string())?;
            add("torg-callback-token", &token.unwrap_or_default())?;
        }
        Ok(headers)
    }

    fn body(&self, method: &Method) -> Option<String> {
        if let Some(body) = &self.http.body {
            return Some(body.expose().to_owned());
        }
        if matches!(*method, Method::GET | Method::HEAD | Method::DELETE) {
            return None;
        }
        let spec = &self.call.spec;
        let run = &self.call.run;
        Some(json!({"run": run, "task": spec.task, "attempt": spec.attempt, "values": spec.values, "chunk": spec.chunk}).to_string())
    }
}

async fn read(mut response: reqwest::Response) -> Result<Answer, reqwest::Error> {
    let (status, headers) = (response.status(), response.headers().clone());
    let (mut body, mut is_whole) = (Vec::new(), true);
    while let Some(piece) = response.chunk().await? {
        let room = ANSWER_BYTES_MAX - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            is_whole = false;
            break;
        }
    }
    Ok(Answer { status, headers, body, is_whole })
}

/// Statuses after which the same request may succeed.
fn may_pass(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 425 | 429 | 502 | 503 | 504)
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: u64 = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(RETRY_AFTER_MAX))
}

/// Whether a response says that the work is done; an error if it failed.
fn is_done(result: &PollResult, answer: &Answer) -> Result<bool, String> {
    let PollResult::Field { pointer, done, failed } = result else {
        return Ok(answer.status != StatusCode::ACCEPTED);
    };
    if !answer.is_whole {
        return Err(format!("the answer is larger than {ANSWER_BYTES_MAX} bytes"));
    }
    let read: serde_json::Value =
        serde_json::from_slice(&answer.body).map_err(|error| format!("the response is not JSON: {error}"))?;
    let found = match read.pointer(pointer) {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => {
            let shown = excerpt(&answer.body, DETAIL_BYTES_MAX / 2);
            return Err(format!("the response has no {pointer}: {shown}"));
        }
    };
    if failed.contains(&found) {
        let shown = excerpt(&answer.body, DETAIL_BYTES_MAX / 2);
        return Err(format!("the service says that {pointer} is {found:?}: {shown}"));
    }
    Ok(done.contains(&found))
}

fn refusal(method: &Method, url: &Url, answer: &Answer) -> String {
    let body = excerpt(&answer.body, DETAIL_BYTES_MAX / 2);
    let shown = shown_url(url.as_str());
    let hint = if answer.status.is_redirection() { " (redirects are not followed)" } else { "" };
    format!("{method} {shown} answered {}{hint}: {body}", answer.status)
}

fn excerpt(body: &[u8], bytes_max: usize) -> String {
    truncate(&String::from_utf8_lossy(body), bytes_max)
}

/// An error with its sources, without the URL, which may contain a key.
fn describe(error: &reqwest::Error) -> String {
    let mut text = match error {
        error if error.is_timeout() => "no answer in time".to_owned(),
        error if error.is_connect() => "no connection".to_owned(),
        error if error.is_builder() => "the request cannot be made".to_owned(),
        _ => "the request failed".to_owned(),
    };
    let mut behind = std::error::Error::source(error);
    while let Some(source) = behind {
        text = format!("{text}: {source}");
        behind = source.source();
    }
    text
}
