//! Reads task files, logs and values from disk.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use planner::recorded::WrongLine;
use taskfile::{Errors, TaskSet};

use terminal::errors::advised;
use terminal::remark;

/// Maximum size of a log or of a file of values.
const RECORD_BYTES_MAX: u64 = 512 << 20;

/// Reads files and folders; a file that is named twice is read once.
pub(super) fn texts(paths: &[PathBuf]) -> anyhow::Result<Vec<(String, String)>> {
    let mut texts = BTreeMap::new();
    for path in paths {
        let loaded = taskfile::load(path)
            .map_err(|error| advised(error, "give the names of task files, or of folders that hold them"))?;
        texts.extend(loaded);
    }
    Ok(texts.into_iter().collect())
}

pub(super) fn tasks(paths: &[PathBuf]) -> anyhow::Result<TaskSet> {
    checked(texts(paths)?)
}

pub(super) fn checked(texts: Vec<(String, String)>) -> anyhow::Result<TaskSet> {
    TaskSet::read(texts).map_err(|errors| refused(&errors))
}

/// Prints the errors to stderr, and returns the error that ends the command.
fn refused(errors: &Errors) -> anyhow::Error {
    remark(taskfile::render(&errors.errors, errors.more, 0));
    advised("the task files have errors", "mend them; torg tasks validate shows warnings, too")
}

/// Reads a log or values; an error names the file and the line.
pub(super) fn record<T>(path: &Path, read: impl Fn(&str) -> Result<T, WrongLine>) -> anyhow::Result<T> {
    let unreadable =
        |error: std::io::Error| advised(format!("{}: {error}", path.display()), "give the name of a file");
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(RECORD_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > RECORD_BYTES_MAX {
        let message = format!("{}: there are more than {RECORD_BYTES_MAX} bytes", path.display());
        return Err(advised(message, "take a shorter time"));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| advised(format!("{}: it is not UTF-8", path.display()), "save the file as UTF-8"))?;
    read(&text).map_err(|WrongLine { line, what }| {
        advised(format!("{}:{line}: {what}", path.display()), "docs/tasks.md shows what such files look like")
    })
}
