//! What a task runs.

use super::calls::{grpc, http};
use super::fields::Fields;
use super::scalar;
use super::texts::environment;
use crate::keywords::RUN;
use crate::limits::{ARGUMENTS_MAX, LINE_CHARS_MAX, TEXT_BYTES_MAX, TIMEOUT_DEFAULT, TIMEOUT_MAX};
use crate::location::Location;
use crate::notes::Notes;
use crate::problem::Code;
use crate::run::{Action, Command, Program, Run};
use crate::template::Template;
use crate::yaml::{Kind, Node};
use jiff::SignedDuration;
use std::collections::BTreeMap;

const KINDS: [&str; 4] = ["command", "shell", "http", "grpc"];
/// An example of each kind of run.
const EXAMPLE: &str = "write for example `run: {command: [python3, report.py]}`, `{shell: ...}`, `{http: {url: ...}}` or `{grpc: {address: ...}}`";

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

pub(super) fn read(notes: &mut Notes, key: Location, node: &Node<'_>, defaults: &RunDefaults) -> Option<Run> {
    let bare = |action| Run { action, timeout: defaults.timeout.unwrap_or(TIMEOUT_DEFAULT) };
    match &node.kind {
        Kind::Scalar { .. } if node.is_null() => {
            notes.refuse(Code::MissingKey, key, "`run` does not say what to run", EXAMPLE)
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

fn mapping(notes: &mut Notes, key: Location, node: &Node<'_>, defaults: &RunDefaults) -> Option<Run> {
    let fields = Fields::of(notes, node, "a run", RUN)?;
    let timeout = timeout(notes, &fields).or(defaults.timeout).unwrap_or(TIMEOUT_DEFAULT);
    let found: Vec<_> = KINDS.iter().filter_map(|kind| fields.entry(kind)).collect();
    let (kind, value) = match found.as_slice() {
        [one] => one,
        [] => {
            return notes.refuse(Code::MissingKey, key, "`run` does not say what to run", EXAMPLE);
        }
        [first, second, ..] => {
            let (a, b) = (first.0.as_text().unwrap_or_default(), second.0.as_text().unwrap_or_default());
            notes
                .error(Code::Conflict, second.0.place, format!("`{a}` and `{b}` exclude each other"))
                .related(first.0.place, "the first one is here")
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
        return notes.refuse(Code::MissingKey, node.place, "the script is empty", EXAMPLE);
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
        return notes.refuse(
            Code::TooLarge,
            node.place,
            format!("{what} has more than {ARGUMENTS_MAX} arguments"),
            "",
        );
    }
    let words: Option<Vec<String>> = items
        .iter()
        .map(|item| {
            scalar::text(notes, item, &format!("an item of {what}"), TEXT_BYTES_MAX).map(str::to_owned)
        })
        .collect();
    let words = words?;
    if words.first().is_none_or(String::is_empty) {
        return notes.refuse(
            Code::MissingKey,
            node.place,
            format!("{what} names no program"),
            "write for example `[python3, report.py]`",
        );
    }
    if words.iter().map(String::len).sum::<usize>() > TEXT_BYTES_MAX {
        return notes.refuse(
            Code::TooLarge,
            node.place,
            format!("{what} is longer than {TEXT_BYTES_MAX} bytes"),
            "",
        );
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
