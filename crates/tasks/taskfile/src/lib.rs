//! The language of task files: YAML that says when a task runs, in terms of the data it reads, and
//! what it runs. No store, no network, no clock; `docs/task-files.md` is the page for authors.
//!
//! - [`TaskSet::read`] turns files ([`load`] finds them on a disk) into checked [`Task`]s, or into
//!   [`Errors`]: everything that is wrong, each with file, line, column, the line itself and a
//!   remedy, printed like a compiler does, and as JSON.
//! - [`TaskSet::warnings`] lists what is valid but probably not meant: tasks that may never run,
//!   loop, or form a cycle.
//! - [`TaskSet::readers_of`] and [`TaskSet::writers_of`] index tasks by parameter.
//! - [`Task::fingerprint`] and [`difference`] compare versions; [`graph`] shows what reads and
//!   writes what.
//! - [`json_schema`] is for editors.
//!
//! Guarantees:
//! - All or nothing: with one error anywhere, no task is accepted.
//! - Time and memory are bounded for any input ([`limits`]). Anchors and aliases are refused, and
//!   shorthands cannot expand without bound. Tasks are built one at a time, so memory holds the
//!   tasks, not the YAML.
//! - No secret is shown: values of `${NAME}` are unknown here, and a secret that is written into a
//!   file is hidden in excerpts, JSON and debug output.
//! - The same files give the same tasks, errors and warnings in any order.
//!
//! Where things are: YAML trees with locations (`yaml/`), keywords (`keywords.rs`), one file per
//! part of the language (`read/`), problems (`notes.rs` collects, `render.rs` prints), checks of
//! all tasks together (`warn/`), tasks written in the language (`definition.rs`).

mod definition;
mod difference;
mod fingerprint;
mod folder;
mod graph;
mod keywords;
pub mod limits;
mod location;
mod notes;
mod problem;
mod read;
mod render;
mod run;
mod schema;
mod set;
mod suggest;
mod task;
mod template;
mod warn;
mod yaml;

pub use difference::{Aspect, Difference, difference};
pub use fingerprint::Fingerprint;
pub use folder::{LoadError, load};
pub use graph::{Edge, Graph, Link, graph};
pub use location::Position;
pub use problem::{Code, Errors, Excerpt, Problem, Related, Severity};
pub use render::{problems_to_json, render};
pub use run::{Action, Command, Done, GrpcCall, HttpCall, Program, Run, Tls};
pub use schema::json_schema;
pub use set::TaskSet;
pub use task::{Limits, Origin, Retry, SetTo, Task, TaskName};
pub use template::{MissingVariable, Secret, Template, TemplateError};

/// Quotes a text from a file in a message: on one line, truncated.
pub(crate) fn quote(text: &str) -> String {
    let head = text::head(text, limits::QUOTE_CHARS_MAX);
    let more = if head.len() < text.len() { "..." } else { "" };
    text::one_line(head) + more
}
