//! Runs that call other services.

use super::fields::Fields;
use super::scalar;
use super::texts::{headers, template};
use crate::keywords::{DONE, GRPC, HTTP, METHODS, POLL, TLS};
use crate::limits::{LINE_CHARS_MAX, POLL_EVERY_MIN, TIMEOUT_MAX, URL_CHARS_MAX};
use crate::notes::Notes;
use crate::problem::Code;
use crate::run::{Action, Done, GrpcCall, HttpCall, Tls};
use crate::suggest;
use crate::yaml::Node;
use jiff::SignedDuration;
use std::collections::BTreeMap;

const POLL_EVERY_DEFAULT: SignedDuration = SignedDuration::from_secs(30);

pub(super) fn http(notes: &mut Notes, node: &Node<'_>) -> Option<Action> {
    let plain = |url| HttpCall {
        method: "POST".to_owned(),
        url,
        headers: BTreeMap::new(),
        body: None,
        done: Done::Response,
    };
    if node.as_text().is_some() && !node.is_null() {
        return url(notes, node, "`http`").map(|url| Action::Http(plain(url)));
    }
    let fields = Fields::of(notes, node, "`http`", HTTP)?;
    let address = fields
        .need(notes, "url", fields.place, "`http`", "write for example `url: https://jobs.example/run`")
        .and_then(|node| url(notes, node, "`url`"));
    let method = fields.get("method").map_or(Some("POST"), |node| method(notes, node));
    let headers = fields.get("headers").map(|node| headers(notes, node)).unwrap_or_default();
    let body = fields.get("body").map(|node| template(notes, node, "body"));
    let done = fields.get("done").map_or(Some(Done::Response), |node| done(notes, node));
    if let (Some("GET"), Some((key, _))) = (method, fields.entry("body")) {
        notes
            .error(Code::Conflict, key.place, "a `GET` has no body")
            .remedy("remove it, or write `method: POST`");
    }
    let body = match body {
        Some(None) => return None,
        Some(body) => body,
        None => None,
    };
    Some(Action::Http(HttpCall { method: method?.to_owned(), url: address?, headers, body, done: done? }))
}

fn method(notes: &mut Notes, node: &Node<'_>) -> Option<&'static str> {
    let text = scalar::line(notes, node, "`method`", LINE_CHARS_MAX)?;
    let known = METHODS.iter().find(|known| **known == text);
    if known.is_none() {
        let message = format!("`method` is `{}`, which cannot be called", crate::quote(text));
        let remedy = suggest::remedy(text, METHODS.iter().copied(), "methods");
        notes.error(Code::BadName, node.place, message).remedy(remedy);
    }
    known.copied()
}

fn done(notes: &mut Notes, node: &Node<'_>) -> Option<Done> {
    match node.as_text() {
        Some("response") => return Some(Done::Response),
        Some("callback") => return Some(Done::Callback),
        Some("poll") => return Some(Done::Poll { url: None, every: POLL_EVERY_DEFAULT }),
        Some(other) => {
            let message = format!("`done` is `{}`, which is unknown", crate::quote(other));
            let remedy = suggest::remedy(
                other,
                ["response", "callback", "poll"].into_iter(),
                "ways to know the end of a run",
            );
            return notes.refuse(Code::BadName, node.place, message, remedy);
        }
        None => {}
    }
    let fields = Fields::of(notes, node, "`done`", DONE)?;
    let poll = fields.need(
        notes,
        "poll",
        fields.place,
        "`done`",
        "write `response`, `callback`, or `{poll: {url: ..., every: 30s}}`",
    )?;
    let fields = Fields::of(notes, poll, "`poll`", POLL)?;
    let address = fields.get("url").map(|node| url(notes, node, "`url`"));
    let every = match fields.get("every") {
        None => POLL_EVERY_DEFAULT,
        Some(node) => {
            let every = scalar::duration(notes, node, "`every`", TIMEOUT_MAX)?;
            if every < POLL_EVERY_MIN {
                return notes.refuse(Code::BadDuration, node.place, "`every` must be at least `1s`", "");
            }
            every
        }
    };
    match address {
        Some(None) => None,
        Some(url) => Some(Done::Poll { url, every }),
        None => Some(Done::Poll { url: None, every }),
    }
}

pub(super) fn grpc(notes: &mut Notes, node: &Node<'_>) -> Option<Action> {
    let call = |address, headers, tls| Action::Grpc(GrpcCall { address, headers, tls });
    if node.as_text().is_some() && !node.is_null() {
        return address(notes, node, "`grpc`").map(|address| call(address, BTreeMap::new(), Tls::default()));
    }
    let fields = Fields::of(notes, node, "`grpc`", GRPC)?;
    let target = fields
        .need(
            notes,
            "address",
            fields.place,
            "`grpc`",
            "write for example `address: https://runner.example:7070`",
        )
        .and_then(|node| address(notes, node, "`address`"));
    let headers = fields.get("headers").map(|node| headers(notes, node)).unwrap_or_default();
    let certificates = fields.get("tls").map_or_else(|| Some(Tls::default()), |node| tls(notes, node));
    let (target, certificates) = (target?, certificates?);
    if let (true, Some((key, _))) = (target.starts_with("http:"), fields.entry("tls")) {
        return notes.refuse(
            Code::Conflict,
            key.place,
            "`tls` is given, but the address is one without TLS",
            "write `https://` in the address, or remove `tls`",
        );
    }
    Some(call(target, headers, certificates))
}

fn tls(notes: &mut Notes, node: &Node<'_>) -> Option<Tls> {
    let fields = Fields::of(notes, node, "`tls`", TLS)?;
    let mut read = |key: &str| {
        let node = fields.get(key)?;
        scalar::line(notes, node, &format!("`{key}`"), LINE_CHARS_MAX).map(str::to_owned)
    };
    let found = Tls {
        ca_file: read("ca_file"),
        cert_file: read("cert_file"),
        key_file: read("key_file"),
        server_name: read("server_name"),
    };
    if found.cert_file.is_some() != found.key_file.is_some() {
        let message = "`cert_file` and `key_file` belong together, and one of them is missing";
        return notes.refuse(Code::MissingKey, node.place, message, "give both, or none");
    }
    Some(found)
}

fn url(notes: &mut Notes, node: &Node<'_>, what: &str) -> Option<String> {
    let text = scalar::line(notes, node, what, URL_CHARS_MAX)?;
    let shown = crate::quote(text);
    let bad = |notes: &mut Notes, why: &str, remedy: &str| {
        notes.refuse(Code::BadUrl, node.place, format!("{what} is `{shown}`: {why}"), remedy)
    };
    if text.contains("${") {
        return bad(
            notes,
            "variables are not filled in here",
            "put secrets into `headers`: URLs are shown and logged",
        );
    }
    if text.contains(char::is_whitespace) {
        return bad(notes, "there is a space in it", "write `%20` for a space");
    }
    let parsed = match url::Url::parse(text) {
        Ok(parsed) => parsed,
        Err(url::ParseError::RelativeUrlWithoutBase) => {
            let remedy = format!("write it in full: `https://{shown}`");
            return bad(notes, "it does not begin with `https://` or `http://`", &remedy);
        }
        Err(error) => {
            return bad(
                notes,
                &format!("it is no URL ({error})"),
                "write for example `https://jobs.example/run`",
            );
        }
    };
    if !matches!(parsed.scheme(), "http" | "https") {
        return bad(notes, "it does not begin with `https://` or `http://`", "only these can be called");
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        notes.hide(node.place);
        let message = format!("{what} has a user or a password in it");
        return notes.refuse(
            Code::BadUrl,
            node.place,
            message,
            "put it into `headers`, as `authorization: ${NAME}`: URLs are shown and logged",
        );
    }
    if parsed.fragment().is_some() {
        return bad(notes, "the part after `#` is never sent", "remove it");
    }
    Some(parsed.into())
}

/// The address of a service: a URL without a path.
fn address(notes: &mut Notes, node: &Node<'_>, what: &str) -> Option<String> {
    let found = url(notes, node, what)?;
    let parsed = url::Url::parse(&found).ok()?;
    if parsed.path() != "/" || parsed.query().is_some() {
        let message = format!("{what} has something behind the port");
        return notes.refuse(
            Code::BadUrl,
            node.place,
            message,
            "write `https://host:port`; which method is called is known",
        );
    }
    Some(found.trim_end_matches('/').to_owned())
}
