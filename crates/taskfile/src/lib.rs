//! The language of reactive tasks: YAML files that say when a task runs, in terms of the data it reads, and what it runs. No store, no
//! network, no clock.

mod definition;
mod difference;
mod fingerprint;
mod folder;
mod graph;
pub mod limits;
mod notes;
mod place;
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
mod words;
mod yaml;

pub use difference::{Aspect, Difference, difference};
pub use fingerprint::Fingerprint;
pub use folder::{LoadError, load};
pub use graph::{Edge, Graph, Link, graph};
pub use place::Position;
pub use problem::{Code, Errors, Excerpt, Problem, Related, Severity};
pub use render::{problems_to_json, render};
pub use run::{Action, Command, Done, GrpcCall, HttpCall, Program, Run, Tls};
pub use schema::json_schema;
pub use set::TaskSet;
pub use task::{Limits, Origin, Retry, SetTo, Task, TaskName};
pub use template::{MissingVariable, Secret, Template, TemplateError};

/// What a file says, inside a message: in one line, and cut.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted: String =
        text.chars().take(limits::QUOTE_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(limits::QUOTE_CHARS_MAX).is_some() {
        quoted.push_str("...");
    }
    quoted
}
