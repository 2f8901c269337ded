//! `torg tasks graph`: draws which tasks read and move which parameters.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::files;
use super::print;
use terminal::errors::advised;

/// What to draw, and how.
#[derive(Debug, Args)]
pub(crate) struct Draw {
    /// Task files, or folders that hold them.
    #[arg(id = "paths", value_name = "FILES", required = true)]
    files: Vec<PathBuf>,
    /// The language of the picture.
    #[arg(long, value_enum, default_value_t = Format::Dot)]
    format: Format,
    /// The same as --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Only what is near this task or parameter.
    #[arg(long, value_name = "NAME")]
    near: Option<String>,
    /// With --near: how many arrows away.
    #[arg(long, value_name = "N", default_value_t = 2, requires = "near")]
    steps: usize,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For Graphviz.
    Dot,
    /// For Mermaid.
    Mermaid,
    /// For programs.
    Json,
}

pub(super) fn run(draw: &Draw) -> anyhow::Result<()> {
    let mut graph = taskfile::graph(&files::tasks(&draw.files)?);
    if let Some(name) = &draw.near {
        graph = graph.near(name, draw.steps);
        if graph.tasks.is_empty() && graph.parameters.is_empty() {
            let hint = "torg tasks graph without --near has all names";
            return Err(advised(format!("there is no task and no parameter {name:?}"), hint));
        }
    }
    let text = match if draw.json { Format::Json } else { draw.format } {
        Format::Dot => graph.to_dot(),
        Format::Mermaid => graph.to_mermaid(),
        Format::Json => serde_json::to_string_pretty(&graph.to_json())?,
    };
    print(&[text.trim_end()])
}
