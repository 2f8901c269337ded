//! What can go wrong when a catalogue or a migration is read: everything at once, with its place.

use std::fmt;

use crate::limits::LOAD_PROBLEMS_MAX;

/// One thing that is wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file's name, as the caller gave it.
    pub file: String,
    /// The line, from 1; 0 if the problem has no line (the file cannot be read).
    pub line: u32,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
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

/// A catalogue or a migration that cannot be used: every problem that was found, in the order of files and lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// The problems, at most [`LOAD_PROBLEMS_MAX`].
    pub problems: Vec<Problem>,
    /// How many more there were.
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

/// The result of reading.
pub type Result<T> = std::result::Result<T, Error>;

/// A place in one of the files that are being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct At {
    pub(crate) file: u16,
    pub(crate) line: u32,
}

/// Collects problems while files are read and checked.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    files: Vec<String>,
    found: Vec<(At, String, String)>,
    more: usize,
    /// A file could not be read at all: what refers to it would only be noise.
    unreadable: bool,
}

impl Problems {
    /// Makes a file known; its number goes into [`At`].
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

    /// Adds a problem that hides what a file says.
    pub(crate) fn add_unreadable(&mut self, at: At, what: impl Into<String>, advice: impl Into<String>) {
        self.unreadable = true;
        self.add(at, what, advice);
    }

    /// Whether a file is not known as a whole.
    pub(crate) fn has_unreadable(&self) -> bool {
        self.unreadable
    }

    /// `file:line` for texts that point at a second place.
    pub(crate) fn place(&self, at: At) -> String {
        format!("{}:{}", self.file_name(at.file), at.line)
    }

    /// `Ok` if nothing was found.
    pub(crate) fn into_result(self) -> Result<()> {
        if self.found.is_empty() { Ok(()) } else { Err(self.into_error()) }
    }

    /// Everything that was found, in the order of files and lines.
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
