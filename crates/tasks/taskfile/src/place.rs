//! Places in files.

use std::fmt;

/// A place in a file, as its author counts: both numbers begin at one, and columns are counted in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character in the line.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.line, self.column)
    }
}

/// A place in one of the files that are read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Which file, by its number.
    pub(crate) file: u32,
    pub(crate) at: Position,
    /// How many characters of the line are meant; one if it is not known.
    pub(crate) width: u32,
}

impl Place {
    pub(crate) const fn new(file: u32, line: u32, column: u32) -> Self {
        Self { file, at: Position { line, column }, width: 1 }
    }
}
