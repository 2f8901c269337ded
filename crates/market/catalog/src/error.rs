//! Problems of catalogue and migration files: all at once, with their lines.

use std::fmt;

use crate::limits::LOAD_PROBLEMS_MAX;
use ::text::nearest;

/// An error in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file name as the caller gave it.
    pub file: String,
    /// From 1; 0 if the file cannot be read.
    pub line: u32,
    pub what: String,
    pub advice: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}; {}", self.file, self.what, self.advice)
        } else {
            write!(f, "{}:{}: {}; {}", self.file, self.line, self.what, self.advice)
        }
    }
}

/// A catalogue or migration that cannot be used, with all problems in the order of files and lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// At most [`LOAD_PROBLEMS_MAX`].
    pub problems: Vec<Problem>,
    /// The number of further problems.
    pub more: usize,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, problem) in self.problems.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
        }
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        Ok(())
    }
}

pub type Result<T> = std::result::Result<T, Error>;

/// A position in one of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct At {
    pub(crate) file: u16,
    pub(crate) line: u32,
}

/// Collects problems during reading and checking.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    files: Vec<String>,
    found: Vec<(At, String, String)>,
    more: usize,
    /// A file could not be read; errors about references into it would be noise.
    unreadable: bool,
}

impl Problems {
    /// Registers a file and returns its number for [`At`].
    pub(crate) fn file(&mut self, name: &str) -> u16 {
        self.files.push(name.to_owned());
        (self.files.len() - 1) as u16
    }

    pub(crate) fn add(&mut self, at: At, what: impl Into<String>, advice: impl Into<String>) {
        if self.found.len() < LOAD_PROBLEMS_MAX {
            self.found.push((at, what.into(), advice.into()));
        } else {
            self.more += 1;
        }
    }

    /// Adds a problem about an unknown id, with a suggestion of a similar `known` one.
    pub(crate) fn add_unknown<'k>(
        &mut self,
        at: At,
        what: String,
        id: &str,
        known: impl Iterator<Item = &'k str>,
        otherwise: &str,
    ) {
        let advice =
            nearest(id, known).map_or_else(|| otherwise.to_owned(), |near| format!("did you mean `{near}`?"));
        self.add(at, what, advice);
    }

    /// Adds a problem that hides the contents of a file.
    pub(crate) fn add_unreadable(&mut self, at: At, what: impl Into<String>, advice: impl Into<String>) {
        self.unreadable = true;
        self.add(at, what, advice);
    }

    pub(crate) fn has_unreadable(&self) -> bool {
        self.unreadable
    }

    /// `file:line`, for references to a second place.
    pub(crate) fn place(&self, at: At) -> String {
        format!("{}:{}", self.file_name(at.file), at.line)
    }

    pub(crate) fn into_result(self) -> Result<()> {
        if self.found.is_empty() { Ok(()) } else { Err(self.into_error()) }
    }

    pub(crate) fn into_error(mut self) -> Error {
        let mut found = std::mem::take(&mut self.found);
        found.sort_by_key(|problem| problem.0);
        found.dedup();
        let problem = |(at, what, advice): (At, String, String)| Problem {
            file: self.file_name(at.file).to_owned(),
            line: at.line,
            what,
            advice,
        };
        Error { problems: found.into_iter().map(problem).collect(), more: self.more }
    }

    fn file_name(&self, file: u16) -> &str {
        self.files.get(usize::from(file)).map_or("?", String::as_str)
    }
}
