//! What is wrong, where, and in whose words.

use crate::Code;
use crate::limits::{EXCERPT_CHARS_MAX, PROBLEM_VALUE_CHARS_MAX};
use crate::position::Position;
use serde::Serialize;

/// What a problem means for its offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The offer is not taken.
    Error,
    /// The offer is taken, without what is wrong or with a guess about it.
    Warning,
}

/// Something wrong with a file or with one of its offers.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Which kind of problem: with its meaning and its remedy.
    pub code: Code,
    /// What follows from it.
    pub severity: Severity,
    /// The field as the file names it: `price`, `g:image_link`, `param Color`; empty if it is the whole offer or file.
    pub field: String,
    /// What the file says, cut.
    pub value: String,
    /// Where.
    pub at: Position,
    /// One sentence about this very place, in English.
    pub message: String,
    /// The offer; empty if the problem is one of the file, or if the offer has no id.
    pub external_id: String,
    /// The line around the place.
    pub excerpt: Excerpt,
}

/// A piece of the line in which a problem stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Excerpt {
    /// The text, without the end of the line and with tabs as spaces; an ellipsis stands where it is cut.
    pub text: String,
    /// How many characters of it stand before the place.
    pub caret: usize,
}

impl Excerpt {
    /// The line of `text` that holds `offset`, cut on both sides.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let (before, after) = text.split_at(offset);
        let shown = |c: char| if c.is_control() { ' ' } else { c };
        let mut head = before.chars().rev().take_while(|c| *c != '\n');
        let mut start: Vec<char> = head.by_ref().take(EXCERPT_CHARS_MAX).map(shown).collect();
        start.extend(head.next().map(|_| '…'));
        let mut tail = after.chars().take_while(|c| *c != '\n' && *c != '\r');
        let caret = start.len();
        let mut text: String = start.into_iter().rev().collect();
        text.extend(tail.by_ref().take(EXCERPT_CHARS_MAX).map(shown));
        text.extend(tail.next().map(|_| '…'));
        Self { text, caret }
    }
}

/// The first characters of a value, with an ellipsis if there are more.
pub(crate) fn shorten(value: &str) -> String {
    text::shortened(value.trim(), PROBLEM_VALUE_CHARS_MAX)
}

impl Problem {
    /// A problem of the file itself.
    pub(crate) fn of_file(code: Code, at: Position, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            field: String::new(),
            value: String::new(),
            at,
            message: message.into(),
            external_id: String::new(),
            excerpt: Excerpt::default(),
        }
    }

    /// The same with a piece of the line in which it stands.
    pub(crate) fn with_excerpt(mut self, excerpt: Excerpt) -> Self {
        self.excerpt = excerpt;
        self
    }
}
