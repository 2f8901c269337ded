//! Validation of specs.

use std::collections::BTreeMap;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Method};
use url::Url;

use crate::error::{Error, Result};
use crate::limits::{
    ARGUMENTS_MAX, HEADERS_MAX, LOG_BYTES_MAX, LOG_BYTES_MIN, NAME_BYTES_MAX, POLL_EVERY_MIN, TIMEOUT_MAX,
    URL_BYTES_MAX, VARIABLES_MAX,
};
use crate::secret::Secret;
use crate::spec::{Action, Command, CommandLine, Done, Grpc, Http, Poll, PollResult, Spec};
use crate::tls;
use crate::value::wrong_name;

const OWN_HEADERS: &[&str] =
    &["idempotency-key", "content-length", "host", "transfer-encoding", "connection"];

pub(crate) fn spec(spec: &Spec) -> Result<()> {
    text("task", &spec.task)?;
    ensure(!spec.task.is_empty() && spec.task.len() <= NAME_BYTES_MAX, "task", || {
        format!("a name of 1 to {NAME_BYTES_MAX} bytes")
    })?;
    ensure(!spec.task.contains(char::is_control), "task", || "no control characters".to_owned())?;
    for name in spec.values.keys() {
        if let Some(what) = wrong_name(name) {
            return Err(Error::spec(format!("values.{name}"), what));
        }
    }
    duration("timeout", spec.timeout, Duration::from_millis(1))?;
    let log = LOG_BYTES_MIN..=LOG_BYTES_MAX;
    ensure(log.contains(&spec.log_bytes_max), "log_bytes_max", || {
        format!("from {LOG_BYTES_MIN} to {LOG_BYTES_MAX} bytes")
    })?;
    match &spec.action {
        Action::Command(command) => check_command(command),
        Action::Http(http) => check_http(http),
        Action::Grpc(grpc) => check_grpc(grpc),
    }
}

fn check_command(command: &Command) -> Result<()> {
    match &command.line {
        CommandLine::Program { program, arguments } => {
            ensure(!program.is_empty(), "program", || "the name or the path of a program".to_owned())?;
            text("program", program)?;
            ensure(arguments.len() <= ARGUMENTS_MAX, "arguments", || format!("up to {ARGUMENTS_MAX}"))?;
            arguments.iter().try_for_each(|argument| text("arguments", argument))?;
        }
        CommandLine::Shell(line) => {
            ensure(!line.trim().is_empty(), "shell", || {
                "a line for the shell, which is not empty".to_owned()
            })?;
            text("shell", line)?;
        }
    }
    if let Some(directory) = &command.directory {
        let named = directory.to_str();
        ensure(named.is_some_and(|name| !name.is_empty()), "directory", || "a path in UTF-8".to_owned())?;
        text("directory", named.unwrap_or_default())?;
    }
    let variables = command.environment.len() + command.inherit.len();
    ensure(variables <= VARIABLES_MAX, "environment", || format!("up to {VARIABLES_MAX} variables"))?;
    for name in command.environment.keys().chain(&command.inherit) {
        let at = format!("environment.{name}");
        ensure(!name.is_empty() && !name.contains('='), at.clone(), || {
            "the name of a variable, which is not empty and has no =".to_owned()
        })?;
        text(at, name)?;
    }
    for (name, value) in &command.environment {
        text(format!("environment.{name}"), value.expose())?;
    }
    if command.kill_after > TIMEOUT_MAX {
        return Err(Error::spec("kill_after", format!("up to {TIMEOUT_MAX:?}")));
    }
    Ok(())
}

fn check_http(http: &Http) -> Result<()> {
    ensure(Method::from_bytes(http.method.as_bytes()).is_ok(), "method", || {
        "a method of HTTP, such as POST".to_owned()
    })?;
    check_url("url", &http.url)?;
    check_headers(&http.headers)?;
    check_tls(http.tls.as_ref())?;
    let Done::Poll(Poll { url, every, result }) = &http.done else { return Ok(()) };
    url.as_ref().map_or(Ok(()), |url| check_url("poll.url", url))?;
    duration("poll.every", *every, POLL_EVERY_MIN)?;
    if let PollResult::Field { pointer, done, .. } = result {
        ensure(pointer.is_empty() || pointer.starts_with('/'), "poll.pointer", || {
            "a JSON pointer, such as /state".to_owned()
        })?;
        ensure(!done.is_empty(), "poll.done", || "what the field says when the work is done".to_owned())?;
    }
    Ok(())
}

fn check_grpc(grpc: &Grpc) -> Result<()> {
    check_url("address", &grpc.address)?;
    check_headers(&grpc.headers)?;
    ensure(grpc.arguments.len() <= ARGUMENTS_MAX, "arguments", || format!("up to {ARGUMENTS_MAX}"))?;
    check_tls(grpc.tls.as_ref())?;
    duration("every", grpc.every, POLL_EVERY_MIN)
}

fn check_tls(given: Option<&crate::spec::Tls>) -> Result<()> {
    match given {
        None => Ok(()),
        Some(given) => tls::config(Some(given)).map(drop).map_err(|what| Error::spec("tls", what)),
    }
}

fn check_url(at: &str, text: &str) -> Result<()> {
    ensure(text.len() <= URL_BYTES_MAX, at, || format!("up to {URL_BYTES_MAX} bytes"))?;
    let url = Url::parse(text).map_err(|error| Error::spec(at, format!("no URL: {error}")))?;
    ensure(matches!(url.scheme(), "http" | "https") && url.has_host(), at, || {
        "a URL with http:// or https:// and a host".to_owned()
    })
}

fn check_headers(headers: &BTreeMap<String, Secret>) -> Result<()> {
    ensure(headers.len() <= HEADERS_MAX, "headers", || format!("up to {HEADERS_MAX}"))?;
    for (name, value) in headers {
        let at = format!("headers.{name}");
        let header = HeaderName::from_bytes(name.as_bytes());
        let header = header.map_err(|_| Error::spec(&at, "this is no name of a header"))?;
        let own = header.as_str().starts_with("torg-") || OWN_HEADERS.contains(&header.as_str());
        ensure(!own, &at, || "Torg sets this header itself: leave it out".to_owned())?;
        ensure(HeaderValue::from_str(value.expose()).is_ok(), &at, || {
            "printable characters on one line".to_owned()
        })?;
    }
    Ok(())
}

fn ensure(holds: bool, at: impl Into<String>, wanted: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::spec(at, wanted())) }
}

/// The system terminates strings with a zero byte.
fn text(at: impl Into<String>, text: &str) -> Result<()> {
    ensure(!text.contains('\0'), at, || "zero bytes are not allowed".to_owned())
}

fn duration(at: &str, given: Duration, min: Duration) -> Result<()> {
    ensure(given >= min && given <= TIMEOUT_MAX, at, || format!("from {min:?} to {TIMEOUT_MAX:?}"))
}
