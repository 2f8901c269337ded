//! What several tests share.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test uses a part of it, and one that cannot go on must fail"
)]

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};
use taskfile::{Code, Errors, Task, TaskSet};

pub(crate) fn read(text: &str) -> Result<TaskSet, Errors> {
    TaskSet::read(vec![("tasks.yaml".to_owned(), text.to_owned())])
}

/// A set that must be sound.
pub(crate) fn sound(text: &str) -> TaskSet {
    read(text).unwrap_or_else(|errors| panic!("{text}\n{errors}"))
}

/// The one task `t` with this behind `when`.
pub(crate) fn when(condition: &str) -> Task {
    task(&format!("when: {condition}\n    run: x"))
}

/// The one task `t` with this in it.
pub(crate) fn task(body: &str) -> Task {
    let set = sound(&format!("limits: {{pools: {{p: 1}}}}\ntasks:\n  t:\n    {body}\n"));
    set.get("t").unwrap().as_ref().clone()
}

/// The warnings, each as `line:column code: message`.
pub(crate) fn warnings(text: &str) -> Vec<String> {
    let shown =
        |problem: &taskfile::Problem| format!("{} {}: {}", problem.at, problem.code.name(), problem.message);
    sound(text).warnings().iter().map(shown).collect()
}

pub(crate) fn codes(errors: &Errors) -> Vec<Code> {
    errors.errors.iter().map(|error| error.code).collect()
}

/// The examples of the page of the language.
pub(crate) fn examples() -> Vec<String> {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/task-files.md")).unwrap();
    let blocks = page.split("```yaml\n").skip(1);
    blocks.map(|block| block.split_once("```").unwrap().0.to_owned()).collect()
}

/// A YAML document as JSON, by the rules of YAML 1.2 and nothing of ours.
pub(crate) fn to_json(text: &str) -> Value {
    let mut parser = Parser::new_from_str(text);
    loop {
        match next(&mut parser) {
            Event::DocumentStart(_) => return value(&mut parser).unwrap(),
            Event::StreamEnd => return Value::Null,
            _ => {}
        }
    }
}

type Events<'t> = Parser<'t, saphyr_parser::StrInput<'t>>;

fn next<'t>(parser: &mut Events<'t>) -> Event<'t> {
    parser.next_event().unwrap().unwrap().0
}

fn value(parser: &mut Events<'_>) -> Option<Value> {
    Some(match next(parser) {
        Event::Scalar(text, ScalarStyle::Plain, ..) => match text.as_ref() {
            "" | "~" | "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            text => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
        },
        Event::Scalar(text, ..) => text.into_owned().into(),
        Event::SequenceStart(..) => {
            let mut items = Vec::new();
            while let Some(item) = value(parser) {
                items.push(item);
            }
            items.into()
        }
        Event::MappingStart(..) => {
            let mut entries = Map::new();
            while let Some(key) = value(parser) {
                let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
                entries.insert(key, value(parser).unwrap());
            }
            entries.into()
        }
        _ => return None,
    })
}
