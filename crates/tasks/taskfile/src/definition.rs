//! Tasks written in the language, with shorthands expanded and defaults filled in. The output is
//! valid input, because JSON is YAML.

use crate::keywords::{CHUNKS, CONDITIONS, Form};
use crate::run::{Action, Command, Done, GrpcCall, HttpCall, Program, Run, Tls};
use crate::task::{SetTo, Task};
use crate::template::Template;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use triggers::{Amount, Check, Group, Leaf, Scale, Trigger, show_duration};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrets {
    /// For people and programs.
    Hidden,
    /// For comparison only.
    Kept,
}

impl Task {
    /// The whole task in the language, with `name`, `fingerprint` and `origin`. Secrets in the file
    /// are shown as `***`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut out = json!({
            "name": self.name.as_str(),
            "origin": self.origin.to_string(),
            "fingerprint": self.fingerprint().to_string(),
        });
        if let (Value::Object(out), Value::Object(definition)) = (&mut out, self.definition()) {
            out.extend(definition);
        }
        out
    }

    /// The task as it would stand below its name in a file. Secrets in the file are shown as `***`.
    #[must_use]
    pub fn definition(&self) -> Value {
        without_empty(json!({
            "about": self.about,
            "owner": self.owner,
            "labels": self.labels,
            "when": trigger(&self.trigger),
            "timezone": zone_name(self),
            "week_start": week_start(self),
            "day_offset": show_duration(self.calendar.day_offset()),
            "run": run(&self.run, Secrets::Hidden),
            "sets": sets(self),
            "produces": self.produces.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "priority": self.priority,
            "pool": self.pool,
            "retry": retry(self),
            "max_silence": self.max_silence.map(show_duration),
            "hold_back": show_duration(self.hold_back),
            "paused": self.paused,
        }))
    }
}

fn without_empty(value: Value) -> Value {
    let Value::Object(entries) = value else { return value };
    let is_filled = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    };
    entries.into_iter().filter(|(_, value)| is_filled(value)).collect::<Map<_, _>>().into()
}

pub(crate) fn zone_name(task: &Task) -> String {
    task.calendar.zone().iana_name().unwrap_or("UTC").to_owned()
}

pub(crate) fn week_start(task: &Task) -> &'static str {
    let day = task.calendar.week_start().to_monday_zero_offset();
    crate::keywords::WEEKDAYS.get(day as usize).copied().unwrap_or_default()
}

pub(crate) fn retry(task: &Task) -> Value {
    let retry = task.retry;
    json!({ "first": show_duration(retry.first), "most": show_duration(retry.most), "attempts": retry.attempts })
}

pub(crate) fn sets(task: &Task) -> Value {
    let entry = |(parameter, to): (&triggers::Parameter, &SetTo)| {
        let to = match to {
            SetTo::Number(number) => json!(number),
            other => json!(other.to_string()),
        };
        (parameter.to_string(), to)
    };
    task.sets.iter().map(entry).collect::<Map<_, _>>().into()
}

pub(crate) fn trigger(trigger: &Trigger) -> Value {
    let group = |name: &str, groups: &[Group]| {
        let inner = if name == "all" { "any" } else { "all" };
        let members = groups.iter().map(|group| match group {
            Group::Leaf(one) => leaf(one),
            Group::Of(leaves) => one(inner, leaves.iter().map(leaf).collect()),
        });
        one(name, members.collect())
    };
    match trigger {
        Trigger::Leaf(one) => leaf(one),
        Trigger::All(groups) => group("all", groups),
        Trigger::Any(groups) => group("any", groups),
    }
}

fn one(name: &str, value: Value) -> Value {
    Map::from_iter([(name.to_owned(), value)]).into()
}

fn leaf(leaf: &Leaf) -> Value {
    let of = leaf.of.to_string();
    let (form, with, chunk, limit) = match &leaf.check {
        Check::Delta { by } => (Form::Grew, None, None, Some(("by", amount(*by)))),
        Check::Delay { within } => (Form::Fresh, None, None, Some(("within", show_duration(*within).into()))),
        Check::RefDelay { with, within } => {
            (Form::CaughtUp, Some(with), None, Some(("within", amount(*within))))
        }
        Check::ChunkDelta { scale, by } => {
            (Form::New(named(*scale)), None, Some(*scale), by.map(|by| ("by", by.into())))
        }
        Check::ChunkDelay { scale, within } => {
            (Form::This(named(*scale)), None, Some(*scale), within.map(|within| ("within", within.into())))
        }
        Check::ChunkRefDelay { with, scale, within } => (
            Form::Same(named(*scale)),
            Some(with),
            Some(*scale),
            within.map(|within| ("within", within.into())),
        ),
    };
    let name = CONDITIONS.iter().find(|(_, known, _)| *known == form).map_or("", |(name, ..)| *name);
    let chunk = chunk.filter(|chunk| named(*chunk).is_none()).map(chunk_name);
    if with.is_none() && chunk.is_none() && limit.is_none() {
        return one(name, of.into());
    }
    let mut keys = Map::from_iter([("of".to_owned(), of.into())]);
    keys.extend(with.map(|with| ("with".to_owned(), with.to_string().into())));
    keys.extend(chunk.map(|chunk| ("chunk".to_owned(), chunk.into())));
    keys.extend(limit.map(|(key, limit)| (key.to_owned(), limit)));
    one(name, keys.into())
}

fn named(scale: Scale) -> Option<Scale> {
    CHUNKS.iter().any(|(_, known)| *known == scale).then_some(scale)
}

fn chunk_name(scale: Scale) -> String {
    match scale {
        Scale::Minutes(minutes) => format!("{minutes}m"),
        other => CHUNKS.iter().find(|(_, known)| *known == other).map_or("", |(name, _)| *name).to_owned(),
    }
}

fn amount(amount: Amount) -> Value {
    match amount {
        Amount::Time(time) => show_duration(time).into(),
        Amount::Number(number) => number.into(),
    }
}

pub(crate) fn run(run: &Run, secrets: Secrets) -> Value {
    let mut out = match &run.action {
        Action::Command(command) => process(command, secrets),
        Action::Http(call) => json!({ "http": http(call, secrets) }),
        Action::Grpc(call) => json!({ "grpc": grpc(call, secrets) }),
    };
    if let Value::Object(out) = &mut out {
        out.insert("timeout".to_owned(), show_duration(run.timeout).into());
    }
    out
}

fn process(command: &Command, secrets: Secrets) -> Value {
    let (key, program) = match &command.program {
        Program::Arguments(words) => ("command", json!(words)),
        Program::Shell(script) => ("shell", json!(script)),
    };
    without_empty(json!({
        key: program,
        "environment": templates(&command.environment, secrets),
        "directory": command.directory,
    }))
}

fn http(call: &HttpCall, secrets: Secrets) -> Value {
    let done = match &call.done {
        Done::Response => json!("response"),
        Done::Callback => json!("callback"),
        Done::Poll { url, every } => {
            json!({ "poll": without_empty(json!({ "url": url, "every": show_duration(*every) })) })
        }
    };
    let mut out = without_empty(json!({
        "url": call.url,
        "method": call.method,
        "headers": templates(&call.headers, secrets),
        "done": done,
    }));
    if let (Value::Object(out), Some(body)) = (&mut out, &call.body) {
        // An empty body differs from no body.
        out.insert("body".to_owned(), template("body", body, secrets));
    }
    out
}

fn grpc(call: &GrpcCall, secrets: Secrets) -> Value {
    let Tls { ca_file, cert_file, key_file, server_name } = &call.tls;
    let tls = json!({
        "ca_file": ca_file,
        "cert_file": cert_file,
        "key_file": key_file,
        "server_name": server_name,
    });
    without_empty(json!({
        "address": call.address,
        "headers": templates(&call.headers, secrets),
        "tls": without_empty(tls),
    }))
}

fn templates(templates: &BTreeMap<String, Template>, secrets: Secrets) -> Value {
    let entry = |(name, value): (&String, &Template)| (name.clone(), template(name, value, secrets));
    templates.iter().map(entry).collect::<Map<_, _>>().into()
}

fn template(name: &str, value: &Template, secrets: Secrets) -> Value {
    match secrets {
        Secrets::Hidden => value.shown(name).into(),
        Secrets::Kept => value.to_string().into(),
    }
}
