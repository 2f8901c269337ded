//! `torg tasks validate`: checks task files.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use taskfile::{TaskSet, problems_to_json, render};

use super::files;
use super::print;
use terminal::errors::advised;
use terminal::print_words;

/// What to check, and how to print it.
#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// Task files, or folders that hold them.
    #[arg(id = "paths", value_name = "FILES", required = true)]
    files: Vec<PathBuf>,
    /// Prints one object of JSON instead of a report.
    #[arg(long)]
    json: bool,
}

/// Runs the check. Only errors make the command fail, warnings do not.
pub(super) fn run(validate: &Validate) -> anyhow::Result<()> {
    let texts = files::texts(&validate.files)?;
    let files = texts.len();
    let read = TaskSet::read(texts);
    let (tasks, problems, more_errors, more_warnings) = match &read {
        Ok(set) => (set.len(), set.warnings(), 0, set.more_warnings()),
        Err(errors) => (0, errors.errors.as_slice(), errors.more, 0),
    };
    if validate.json {
        let (errors, warnings) = if read.is_ok() { (&[][..], problems) } else { (problems, &[][..]) };
        print(&[serde_json::to_string_pretty(&json!({
            "files": files,
            "tasks": tasks,
            "errors": problems_to_json(errors),
            "more_errors": more_errors,
            "warnings": problems_to_json(warnings),
            "more_warnings": more_warnings,
        }))?])?;
    } else {
        let report = render(problems, more_errors, more_warnings);
        let good = read.is_ok().then(|| format!("{}: the files are right", counted(tasks, files)));
        let lines = (!report.is_empty()).then(|| report.trim_end().to_owned()).into_iter().chain(good);
        print_words(&lines.collect::<Vec<_>>())?;
    }
    if read.is_ok() {
        return Ok(());
    }
    // Flush stdout before the error goes to stderr.
    std::io::stdout().flush().ok();
    Err(advised("the task files have errors, and none of their tasks is taken", "mend them and check again"))
}

fn counted(tasks: usize, files: usize) -> String {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    format!("{tasks} task{} in {files} file{}", plural(tasks), plural(files))
}
