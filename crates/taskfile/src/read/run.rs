//! What a task runs.

use super::fields::{Fields, entries};
use super::scalar;
use crate::limits::{
    ARGUMENTS_MAX, LINE_CHARS_MAX, PAIRS_MAX, POLL_EVERY_MIN, TEXT_BYTES_MAX, TIMEOUT_DEFAULT, TIMEOUT_MAX,
    URL_CHARS_MAX,
};
use crate::notes::Notes;
use crate::place::Place;
use crate::problem::Code;
use crate::run::{Action, Command, Done, GrpcCall, HttpCall, Program, Run, Tls};
use crate::suggest;
use crate::template::{Template, TemplateError, is_variable};
use crate::words::{DONE, GRPC, HTTP, METHODS, POLL, RUN, TLS};
use crate::yaml::{Kind, Node};
use jiff::SignedDuration;
use std::collections::{BTreeMap, BTreeSet};

/// How often a run is looked at.
const POLL_EVERY_DEFAULT: SignedDuration = SignedDuration::from_secs(30);
/// The kinds of runs.
const KINDS: [&str; 4] = ["command", "shell", "http", "grpc"];
/// How runs are written.
const EXAMPLE: &str = "write for example `run: {command: [python3, report.py]}`, `{shell: ...}`, `{http: {url: ...}}` or `{grpc: {address: ...}}`";

/// What a file says of all runs.
#[derive(Clone, Debug, Default)]
pub(super) struct RunDefaults {
    pub(super) environment: BTreeMap<String, Template>,
    pub(super) directory: Option<String>,
    pub(super) timeout: Option<SignedDuration>,
}

impl RunDefaults {
    pub(super) fn read(notes: &mut Notes, fields: &Fields<'_, '_>) -> Self {
        Self {
            environment: fields.get("environment").map(|node| environment(notes, node)).unwrap_or_default(),
            directory: directory(notes, fields),
            timeout: timeout(notes, fields),
        }
    }
}

/// Reads what stands behind `run`.
pub(super) fn read(notes: &mut Notes, key: Place, node: &Node<'_>, defaults: &RunDefaults) -> Option<Run> {
    let bare = |action| Run { action, timeout: defaults.timeout.unwrap_or(TIMEOUT_DEFAULT) };
    match &node.kind {
        Kind::Scalar { .. } if node.is_null() => {
            notes.error(Code::MissingKey, key, "`run` does not say what to run").remedy(EXAMPLE);
            None
        }
        Kind::Scalar { .. } => {
            let program = shell(notes, node)?;
            Some(bare(process(program, None, defaults)))
        }
        Kind::List(_) => {
            let program = arguments(notes, node, "`run`")?;
            Some(bare(process(program, None, defaults)))
        }
        Kind::Map(_) => mapping(notes, key, node, defaults),
    }
}

fn mapping(notes: &mut Notes, key: Place, node: &Node<'_>, defaults: &RunDefaults) -> Option<Run> {
    let fields = Fields::of(notes, node, "a run", RUN)?;
    let timeout = timeout(notes, &fields).or(defaults.timeout).unwrap_or(TIMEOUT_DEFAULT);
    let found: Vec<_> = KINDS.iter().filter_map(|kind| fields.entry(kind)).collect();
    let (kind, value) = match found.as_slice() {
        [one] => one,
        [] => {
            notes.error(Code::MissingKey, key, "`run` does not say what to run").remedy(EXAMPLE);
            return None;
        }
        [first, second, ..] => {
            let (a, b) = (first.0.as_text().unwrap_or_default(), second.0.as_text().unwrap_or_default());
            notes
                .error(Code::Conflict, second.0.place, format!("`{a}` and `{b}` exclude each other"))
                .related(first.0.place, "the first one stands here")
                .remedy("a task runs one thing: make two tasks, or a script that does both");
            return None;
        }
    };
    let action = match kind.as_text() {
        Some("command") => {
            process(arguments(notes, value, "`command`")?, Some(process_parts(notes, &fields)), defaults)
        }
        Some("shell") => process(shell(notes, value)?, Some(process_parts(notes, &fields)), defaults),
        kind => {
            for word in ["environment", "directory"] {
                if let Some((key, _)) = fields.entry(word) {
                    let message = format!(
                        "`{word}` is for commands and scripts, not for `{}`",
                        kind.unwrap_or_default()
                    );
                    notes.error(Code::Conflict, key.place, message).remedy("remove it");
                }
            }
            if kind == Some("http") { http(notes, value)? } else { grpc(notes, value)? }
        }
    };
    Some(Run { action, timeout })
}

type ProcessParts = (BTreeMap<String, Template>, Option<String>);

fn process_parts(notes: &mut Notes, fields: &Fields<'_, '_>) -> ProcessParts {
    let environment = fields.get("environment").map(|node| environment(notes, node)).unwrap_or_default();
    (environment, directory(notes, fields))
}

fn process(program: Program, parts: Option<ProcessParts>, defaults: &RunDefaults) -> Action {
    let (mine, directory) = parts.unwrap_or_default();
    let mut environment = defaults.environment.clone();
    environment.extend(mine);
    Action::Command(Command {
        program,
        environment,
        directory: directory.or_else(|| defaults.directory.clone()),
    })
}

fn shell(notes: &mut Notes, node: &Node<'_>) -> Option<Program> {
    let script = scalar::text(notes, node, "`shell`", TEXT_BYTES_MAX)?;
    if script.trim().is_empty() {
        notes.error(Code::MissingKey, node.place, "the script is empty").remedy(EXAMPLE);
        return None;
    }
    Some(Program::Shell(script.to_owned()))
}

fn arguments(notes: &mut Notes, node: &Node<'_>, what: &str) -> Option<Program> {
    let Kind::List(items) = &node.kind else {
        let words = node
            .as_text()
            .filter(|_| !node.is_null())
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(", "));
        let message = format!("{what} is a list of a program and its arguments, not {}", node.what());
        let problem = notes.error(Code::WrongType, node.place, message);
        match words {
            Some(words) => problem
                .remedy(format!("write `[{}]`, or `shell:` instead of `command:`", crate::quote(&words))),
            None => problem.remedy(EXAMPLE),
        };
        return None;
    };
    if items.len() > ARGUMENTS_MAX {
        notes.error(Code::TooLarge, node.place, format!("{what} has more than {ARGUMENTS_MAX} arguments"));
        return None;
    }
    let words: Option<Vec<String>> = items
        .iter()
        .map(|item| {
            scalar::text(notes, item, &format!("an item of {what}"), TEXT_BYTES_MAX).map(str::to_owned)
        })
        .collect();
    let words = words?;
    if words.first().is_none_or(String::is_empty) {
        notes
            .error(Code::MissingKey, node.place, format!("{what} names no program"))
            .remedy("write for example `[python3, report.py]`");
        return None;
    }
    if words.iter().map(String::len).sum::<usize>() > TEXT_BYTES_MAX {
        notes.error(Code::TooLarge, node.place, format!("{what} is longer than {TEXT_BYTES_MAX} bytes"));
        return None;
    }
    Some(Program::Arguments(words))
}

fn timeout(notes: &mut Notes, fields: &Fields<'_, '_>) -> Option<SignedDuration> {
    fields.get("timeout").and_then(|node| scalar::positive(notes, node, "`timeout`", TIMEOUT_MAX))
}

fn directory(notes: &mut Notes, fields: &Fields<'_, '_>) -> Option<String> {
    let node = fields.get("directory")?;
    scalar::line(notes, node, "`directory`", LINE_CHARS_MAX).map(str::to_owned)
}

fn environment(notes: &mut Notes, node: &Node<'_>) -> BTreeMap<String, Template> {
    let mut found = BTreeMap::new();
    for (key, value) in pairs(notes, node, "`environment`", "NAME: value") {
        let name = key.as_text().unwrap_or_default();
        if !is_variable(name) {
            let message = format!("`{}` is no name of a variable", crate::quote(name));
            notes
                .error(Code::BadName, key.place, message)
                .remedy("letters, digits and `_`, and no digit first");
        } else if name.starts_with("TORG_") {
            let message = format!(
                "`{}` cannot be set: variables that begin with `TORG_` are Torg's own",
                crate::quote(name)
            );
            notes.error(Code::BadName, key.place, message).remedy("choose another name");
        } else if let Some(value) = template(notes, value, name) {
            found.insert(name.to_owned(), value);
        }
    }
    found
}

fn headers(notes: &mut Notes, node: &Node<'_>) -> BTreeMap<String, Template> {
    let (mut found, mut names) = (BTreeMap::new(), BTreeSet::new());
    for (key, value) in pairs(notes, node, "`headers`", "name: value") {
        let name = key.as_text().unwrap_or_default();
        let lower = name.to_ascii_lowercase();
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(token) {
            let message = format!("`{}` is no name of a header", crate::quote(name));
            notes
                .error(Code::BadName, key.place, message)
                .remedy("letters, digits and `-`, such as `x-team`");
        } else if matches!(lower.as_str(), "content-length" | "transfer-encoding" | "connection" | "host") {
            notes
                .error(Code::BadName, key.place, format!("the header `{name}` is set by Torg"))
                .remedy("remove it");
        } else if !names.insert(lower.clone()) {
            let message = format!("the header `{name}` stands here twice: upper and lower case are the same");
            notes.error(Code::DuplicateKey, key.place, message).remedy("remove one of the two");
        } else if value.as_text().is_some_and(|text| text.contains(['\r', '\n'])) {
            notes
                .error(Code::WrongType, value.place, format!("the header `{name}` has several lines"))
                .remedy("write it in one line");
        } else if let Some(value) = template(notes, value, name) {
            found.insert(lower, value);
        }
    }
    found
}

fn pairs<'n, 't>(
    notes: &mut Notes,
    node: &'n Node<'t>,
    what: &str,
    form: &str,
) -> &'n [(Node<'t>, Node<'t>)] {
    let Some(entries) = entries(node) else {
        let message = format!("{what} is a mapping, not {}", node.what());
        notes.error(Code::WrongType, node.place, message).remedy(format!("write `{form}`"));
        return &[];
    };
    if entries.len() > PAIRS_MAX {
        notes.error(Code::TooLarge, node.place, format!("{what} has more than {PAIRS_MAX} entries"));
        return &[];
    }
    entries
}

/// A text with variables; one that seems to be a secret is noted.
fn template(notes: &mut Notes, node: &Node<'_>, name: &str) -> Option<Template> {
    if node.is_null() {
        return Template::parse("").ok();
    }
    let text = scalar::text(notes, node, &format!("`{}`", crate::quote(name)), TEXT_BYTES_MAX)?;
    match Template::parse(text) {
        Ok(template) => {
            if template.is_written_secret(name) {
                notes.hide(node.place);
                let message =
                    format!("`{}` seems to be a secret that is written into the file", crate::quote(name));
                let remedy =
                    "give it to the scheduler as a variable of its environment, and write `${NAME}` here";
                notes.warning(Code::WrittenSecret, node.place, message).remedy(remedy);
            }
            Some(template)
        }
        Err(error) => {
            let remedy = match &error {
                TemplateError::LoneDollar => {
                    "write `${NAME}` for a variable of the scheduler's environment, and `$$` for a `$`"
                }
                TemplateError::Open => "close it: `${NAME}`",
                TemplateError::Name(_) => "letters, digits and `_`, and no digit first: `${NAME}`",
            };
            notes
                .error(Code::BadVariable, node.place, format!("in `{}`, {error}", crate::quote(name)))
                .remedy(remedy);
            None
        }
    }
}

fn http(notes: &mut Notes, node: &Node<'_>) -> Option<Action> {
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
            let message = format!("`done` is `{}`, which tells no end", crate::quote(other));
            let remedy = suggest::remedy(
                other,
                ["response", "callback", "poll"].into_iter(),
                "ways to tell the end of a run",
            );
            notes.error(Code::BadName, node.place, message).remedy(remedy);
            return None;
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
                notes.error(Code::BadDuration, node.place, "`every` must be at least `1s`");
                return None;
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

fn grpc(notes: &mut Notes, node: &Node<'_>) -> Option<Action> {
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
        notes
            .error(Code::Conflict, key.place, "`tls` is given, but the address is one without TLS")
            .remedy("write `https://` in the address, or remove `tls`");
        return None;
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
        notes.error(Code::MissingKey, node.place, message).remedy("give both, or none");
        return None;
    }
    Some(found)
}

/// A URL that can be called.
fn url(notes: &mut Notes, node: &Node<'_>, what: &str) -> Option<String> {
    let text = scalar::line(notes, node, what, URL_CHARS_MAX)?;
    let shown = crate::quote(text);
    let bad = |notes: &mut Notes, why: &str, remedy: &str| {
        notes.error(Code::BadUrl, node.place, format!("{what} is `{shown}`: {why}")).remedy(remedy);
        None
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
        notes
            .error(Code::BadUrl, node.place, message)
            .remedy("put it into `headers`, as `authorization: ${NAME}`: URLs are shown and logged");
        return None;
    }
    if parsed.fragment().is_some() {
        return bad(notes, "what stands behind `#` is never sent", "remove it");
    }
    Some(parsed.into())
}

/// The address of a service: a URL without a path.
fn address(notes: &mut Notes, node: &Node<'_>, what: &str) -> Option<String> {
    let found = url(notes, node, what)?;
    let parsed = url::Url::parse(&found).ok()?;
    if parsed.path() != "/" || parsed.query().is_some() {
        let message = format!("{what} has something behind the port");
        notes
            .error(Code::BadUrl, node.place, message)
            .remedy("write `https://host:port`; which method is called is known");
        return None;
    }
    Some(found.trim_end_matches('/').to_owned())
}
