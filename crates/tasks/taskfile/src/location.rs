//! Locations in files.

use std::fmt;

/// A position in a file; both numbers begin at one, and columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.line, self.column)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Location {
    /// The index of the file.
    pub(crate) file: u32,
    pub(crate) at: Position,
    /// Characters of the line; one if unknown.
    pub(crate) width: u32,
}

impl Location {
    pub(crate) const fn new(file: u32, line: u32, column: u32) -> Self {
        Self { file, at: Position { line, column }, width: 1 }
    }
}
