//! The language as a JSON Schema, for editors.

use crate::keywords::{
    CONDITIONS, DEFAULTS, DONE, FILE, Form, GRPC, HTTP, Key, LIMITS, METHODS, POLL, RETRY, RUN, SHORTHAND,
    TASK, TLS, WEEKDAYS, keys_of,
};
use crate::limits::{
    ABOUT_CHARS_MAX, ARGUMENTS_MAX, ATTEMPTS_MAX, CHUNKS_MAX, LABELS_MAX, NAME_CHARS_MAX, PAIRS_MAX,
    PRIORITY_MAX, RUNNING_MAX, SETS_MAX, URL_CHARS_MAX,
};
use serde_json::{Map, Value, json};

const DURATION: &str = r"^\s*([0-9]+\s*(w|d|h|m|s|ms|us|ns)\s*)+$";
const NAME: &str = r"^[\p{L}\p{N}_][\p{L}\p{N}_./-]*$";
const PARAMETER: &str = r"^[\p{L}\p{N}_/-]+(\.[\p{L}\p{N}_/-]+)+$";
const VARIABLE: &str = "^[A-Za-z_][A-Za-z0-9_]*$";

/// The schema of a task file (draft 7, which all editors support): all keys and their values. Only
/// [`TaskSet::read`](crate::TaskSet::read) checks names of shorthands and pools.
#[must_use]
pub fn json_schema() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Torg task file",
        "description": "Tasks that run when data moves.",
        "type": ["object", "null"],
        "properties": properties(FILE, file_key),
        "additionalProperties": false,
        "definitions": {
            "task": with(object(TASK, settings_key), "required", json!(["when", "run"])),
            "defaults": object(DEFAULTS, settings_key),
            "shorthand": with(object(SHORTHAND, shorthand_key), "required", json!(["when"])),
            "condition": condition(false),
            "filled_condition": condition(true),
            "run": run(),
            "texts": { "type": "object", "maxProperties": PAIRS_MAX, "additionalProperties": { "type": ["string", "number", "boolean", "null"] } },
        },
    })
}

fn properties(keys: &[Key], value: impl Fn(&str) -> Value) -> Value {
    let entry = |(name, about): &Key| ((*name).to_owned(), with(value(name), "description", json!(about)));
    keys.iter().map(entry).collect::<Map<_, _>>().into()
}

fn object(keys: &[Key], value: impl Fn(&str) -> Value) -> Value {
    json!({ "type": "object", "properties": properties(keys, value), "additionalProperties": false })
}

fn with(mut value: Value, key: &str, what: Value) -> Value {
    if let Value::Object(value) = &mut value {
        value.insert(key.to_owned(), what);
    }
    value
}

fn duration() -> Value {
    json!({ "type": "string", "pattern": DURATION })
}

fn parameter() -> Value {
    json!({ "type": "string", "pattern": PARAMETER })
}

fn text() -> Value {
    json!({ "type": ["string", "number", "boolean"] })
}

fn url() -> Value {
    json!({ "type": "string", "pattern": "^https?://", "maxLength": URL_CHARS_MAX })
}

fn integer(least: i64, most: i64) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most })
}

fn reference(name: &str) -> Value {
    json!({ "allOf": [{ "$ref": format!("#/definitions/{name}") }] })
}

fn file_key(key: &str) -> Value {
    match key {
        "limits" => object(LIMITS, |key| match key {
            "running" => integer(1, RUNNING_MAX),
            _ => json!({
                "type": ["object", "null"],
                "propertyNames": { "pattern": NAME },
                "additionalProperties": { "type": ["integer", "null"], "minimum": 1, "maximum": RUNNING_MAX },
            }),
        }),
        "defaults" => reference_or_nothing("defaults"),
        "shorthands" => by_name("shorthand"),
        "tasks" => by_name("task"),
        other => settings_key(other),
    }
}

fn reference_or_nothing(name: &str) -> Value {
    json!({ "anyOf": [{ "$ref": format!("#/definitions/{name}") }, { "type": "null" }] })
}

fn by_name(what: &str) -> Value {
    json!({
        "type": ["object", "null"],
        "propertyNames": { "pattern": NAME, "maxLength": NAME_CHARS_MAX },
        "additionalProperties": { "$ref": format!("#/definitions/{what}") },
    })
}

fn settings_key(key: &str) -> Value {
    match key {
        "about" => json!({ "type": ["string", "number", "boolean"], "maxLength": ABOUT_CHARS_MAX }),
        "labels" => json!({
            "type": "object",
            "maxProperties": LABELS_MAX,
            "propertyNames": { "pattern": NAME },
            "additionalProperties": text(),
        }),
        "when" => reference("condition"),
        "run" => reference("run"),
        "sets" => json!({
            "type": "object",
            "maxProperties": SETS_MAX,
            "propertyNames": { "pattern": PARAMETER },
            "additionalProperties": { "anyOf": [{ "const": "now" }, { "type": "integer" }, parameter()] },
        }),
        "produces" => {
            json!({ "anyOf": [parameter(), { "type": "array", "maxItems": SETS_MAX, "items": parameter() }] })
        }
        "priority" => integer(-PRIORITY_MAX, PRIORITY_MAX),
        "pool" => json!({ "type": "string", "pattern": NAME }),
        "retry" => object(RETRY, |key| if key == "attempts" { integer(1, ATTEMPTS_MAX) } else { duration() }),
        "max_silence" | "hold_back" | "timeout" => duration(),
        "week_start" => json!({ "enum": WEEKDAYS }),
        "day_offset" => json!({ "type": "string", "pattern": DURATION.replacen('^', "^-?", 1) }),
        "timezone" => json!({ "type": "string", "examples": ["UTC", "Europe/Moscow", "America/New_York"] }),
        "paused" => json!({ "type": "boolean" }),
        "environment" => environment(),
        _ => text(),
    }
}

fn environment() -> Value {
    with(reference("texts"), "propertyNames", json!({ "pattern": VARIABLE, "not": { "pattern": "^TORG_" } }))
}

fn shorthand_key(key: &str) -> Value {
    match key {
        "parameters" => json!({
            "type": "array",
            "items": { "anyOf": [
                { "type": "string", "pattern": VARIABLE },
                {
                    "type": "object",
                    "minProperties": 1,
                    "maxProperties": 1,
                    "propertyNames": { "pattern": VARIABLE },
                    "additionalProperties": text(),
                },
            ] },
        }),
        "when" => reference("filled_condition"),
        other => settings_key(other),
    }
}

/// A condition; inside a shorthand, `$name` may stand for any value.
fn condition(filled: bool) -> Value {
    let name = if filled { "filled_condition" } else { "condition" };
    let or_filled = |value: Value| {
        if filled { json!({ "anyOf": [value, { "type": "string", "pattern": "\\$" }] }) } else { value }
    };
    let leaf = |form: Form| {
        let count = |least| or_filled(integer(least, CHUNKS_MAX));
        let amount =
            |least: i64| or_filled(json!({ "anyOf": [{ "type": "integer", "minimum": least }, duration()] }));
        let value = |key: &str| match (key, form) {
            ("of" | "with", _) => or_filled(parameter()),
            ("chunk", _) => or_filled(
                json!({ "anyOf": [{ "enum": ["hour", "day", "week", "month", "year"] }, duration()] }),
            ),
            ("by", Form::Grew) => amount(1),
            ("by", _) => count(1),
            (_, Form::Fresh) => or_filled(duration()),
            (_, Form::CaughtUp) => amount(0),
            _ => count(0),
        };
        let keys = keys_of(form);
        let exact = matches!(form, Form::Grew | Form::Fresh | Form::CaughtUp);
        let needed = keys.iter().map(|(key, _)| *key).filter(|key| exact || !matches!(*key, "by" | "within"));
        let mapping = with(object(keys, value), "required", json!(needed.collect::<Vec<_>>()));
        match form {
            Form::New(Some(_)) | Form::This(Some(_)) => json!({ "anyOf": [or_filled(parameter()), mapping] }),
            _ => mapping,
        }
    };
    let mut known = Map::new();
    for (aggregate, about) in [("all", "All of these hold."), ("any", "At least one of these holds.")] {
        let items = json!({ "$ref": format!("#/definitions/{name}") });
        let list = json!({ "type": "array", "minItems": 1, "items": items, "description": about });
        known.insert(aggregate.to_owned(), list);
    }
    for (word, form, about) in CONDITIONS {
        known.insert((*word).to_owned(), with(leaf(*form), "description", json!(about)));
    }
    json!({ "anyOf": [
        {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "properties": known,
            "additionalProperties": {
                "description": "A shorthand.",
                "type": ["string", "number", "boolean", "null", "object"],
                "additionalProperties": text(),
            },
        },
        { "type": "string", "description": "A shorthand that needs nothing.", "pattern": NAME },
    ] })
}

fn run() -> Value {
    let command = || json!({ "type": "array", "minItems": 1, "maxItems": ARGUMENTS_MAX, "items": text() });
    let value = |key: &str| match key {
        "command" => command(),
        "http" => json!({ "anyOf": [url(), with(object(HTTP, http_key), "required", json!(["url"]))] }),
        "grpc" => json!({ "anyOf": [url(), with(object(GRPC, grpc_key), "required", json!(["address"]))] }),
        "environment" => environment(),
        "timeout" => duration(),
        _ => text(),
    };
    let kinds = ["command", "shell", "http", "grpc"].map(|kind| json!({ "required": [kind] }));
    json!({ "anyOf": [text(), command(), with(object(RUN, value), "oneOf", json!(kinds))] })
}

fn http_key(key: &str) -> Value {
    match key {
        "url" => url(),
        "method" => json!({ "enum": METHODS }),
        "headers" => reference("texts"),
        "done" => {
            let poll = |key: &str| if key == "url" { url() } else { duration() };
            let mapping = with(object(DONE, |_| object(POLL, poll)), "required", json!(["poll"]));
            json!({ "anyOf": [{ "enum": ["response", "callback", "poll"] }, mapping] })
        }
        _ => text(),
    }
}

fn grpc_key(key: &str) -> Value {
    match key {
        "address" => url(),
        "headers" => reference("texts"),
        _ => object(TLS, |_| text()),
    }
}
