//! Positions in a file, in lines and characters.

use std::fmt;
use std::hash::{Hash, Hasher};

/// A position in a file. Both numbers begin at one; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

impl Position {
    pub const START: Self = Self { line: 1, column: 1 };

    #[must_use]
    pub fn after(self, passed: &[u8]) -> Self {
        match memchr::memrchr(b'\n', passed) {
            None => Self { line: self.line, column: self.column.saturating_add(characters(passed)) },
            Some(last) => {
                let lines = memchr::memchr_iter(b'\n', passed).count() as u32;
                let column = characters(&passed[last + 1..]).saturating_add(1);
                Self { line: self.line.saturating_add(lines), column }
            }
        }
    }

    /// The offset of this position in a text that begins at `start`; `None` if it is outside of the
    /// text.
    pub(crate) fn offset_in(self, text: &str, start: Self) -> Option<usize> {
        let lines = self.line.checked_sub(start.line)?;
        let (line, first) = match lines.checked_sub(1) {
            None => (0, start.column),
            Some(before) => (memchr::memchr_iter(b'\n', text.as_bytes()).nth(before as usize)? + 1, 1),
        };
        let passed = self.column.checked_sub(first)? as usize;
        let mut offsets = text[line..].char_indices().map(|(at, _)| at).chain([text.len() - line]);
        offsets.nth(passed).map(|at| line + at)
    }
}

impl Default for Position {
    fn default() -> Self {
        Self::START
    }
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.line, self.column)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct At<T> {
    pub value: T,
    pub at: Position,
}

/// Hashes the value without the position.
impl<T: Hash> Hash for At<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl<T> At<T> {
    pub const fn new(value: T, at: Position) -> Self {
        Self { value, at }
    }
}

/// The last character boundary of a text up to an offset.
pub(crate) fn floor_boundary(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

fn characters(text: &[u8]) -> u32 {
    text.iter().filter(|byte| (**byte & 0xC0) != 0x80).count() as u32
}

/// Turns offsets in a text into positions; fast for increasing offsets.
#[derive(Debug, Clone)]
pub(crate) struct Locator<'a> {
    text: &'a [u8],
    base: Position,
    last: usize,
    position: Position,
}

impl<'a> Locator<'a> {
    pub(crate) fn new(text: &'a str, base: Position) -> Self {
        Self { text: text.as_bytes(), base, last: 0, position: base }
    }

    pub(crate) fn at(&mut self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        if offset < self.last {
            self.last = 0;
            self.position = self.base;
        }
        self.position = self.position.after(&self.text[self.last..offset]);
        self.last = offset;
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_characters_and_lines_in_line_feeds() {
        let text = "цена\nдва 🥴 x";
        let mut locator = Locator::new(text, Position { line: 7, column: 3 });
        assert_eq!(locator.at(0), Position { line: 7, column: 3 });
        assert_eq!(locator.at(text.find('\n').unwrap()), Position { line: 7, column: 7 });
        assert_eq!(locator.at(text.find('x').unwrap()), Position { line: 8, column: 7 });
    }

    #[test]
    fn a_place_is_found_again_in_its_text() {
        let (text, start) = ("цена\nдва 🥴 x", Position { line: 7, column: 3 });
        let mut locator = Locator::new(text, start);
        for offset in text.char_indices().map(|(at, _)| at).chain([text.len()]) {
            assert_eq!(locator.at(offset).offset_in(text, start), Some(offset));
        }
        for (line, column) in [(6, 9), (7, 2), (9, 1), (8, 99)] {
            assert_eq!(Position { line, column }.offset_in(text, start), None);
        }
    }

    #[test]
    fn an_earlier_offset_after_a_later_one_is_found_too() {
        let mut locator = Locator::new("a\nb\nc", Position::START);
        assert_eq!(locator.at(4), Position { line: 3, column: 1 });
        assert_eq!(locator.at(2), Position { line: 2, column: 1 });
    }
}
