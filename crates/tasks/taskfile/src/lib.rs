//! The language of reactive tasks: YAML files that say when a task runs, in terms of the data it reads, and what it runs. No store, no
//! network, no clock; `docs/task-files.md` is the page for those who write such files.
//!
//! - [`TaskSet::read`] goes from files ([`load`] finds them on a disk) to checked [`Task`]s, or to [`Errors`] with everything that is
//!   wrong: each with file, line, column, the line itself and a remedy, printed as a good compiler would, and as JSON.
//! - [`TaskSet::warnings`] has what is allowed and perhaps not meant: tasks that may never run, or again and again, or in a circle.
//! - [`TaskSet::tasks_of`] and [`TaskSet::makers_of`] are the index for a scheduler.
//! - [`Task::fingerprint`] and [`difference`] tell what a change of the files changes; [`graph`] what reads and moves what.
//! - [`json_schema`] is for editors.
//!
//! What is promised:
//! - All or nothing: one error anywhere, and no task is taken.
//! - Time and memory are bounded whatever is in a file ([`limits`]); anchors and aliases are refused, and shorthands cannot grow
//!   without measure. Tasks are built one by one, so that memory is that of the tasks and not of the YAML.
//! - No secret is shown: values of `${NAME}` are not known here at all, and a secret that is written into a file is hidden in lines of
//!   code, JSON and debug output.
//! - The same files give the same tasks, errors and warnings, in whatever order they are given.
//!
//! Where things are: `yaml/` makes trees with places; `words.rs` has every word of the language, for the reader, suggestions and the
//! schema; `read/` reads, with one file for each part of the language; `notes.rs` collects problems and `render.rs` prints them; `warn/`
//! looks at all tasks together; `definition.rs` writes tasks in the words of the language.

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
    let head = text::head(text, limits::QUOTE_CHARS_MAX);
    let more = if head.len() < text.len() { "..." } else { "" };
    text::one_line(head) + more
}
