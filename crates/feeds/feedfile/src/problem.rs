//! Problems of a file: what is wrong and where.

use crate::Code;
use crate::limits::{EXCERPT_CHARS_MAX, PROBLEM_VALUE_CHARS_MAX};
use crate::position::{Position, floor_boundary};
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The offer is rejected.
    Error,
    /// The offer is accepted, without the wrong value or with a guess.
    Warning,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    pub code: Code,
    pub severity: Severity,
    /// As the file names it: `price`, `g:image_link`, `param Color`; empty for the whole offer or
    /// file.
    pub field: String,
    /// The value in the file, truncated.
    pub value: String,
    pub at: Position,
    /// In English.
    pub message: String,
    /// Empty if the problem is one of the file, or if the offer has no id.
    pub external_id: String,
    pub excerpt: Excerpt,
}

/// The part of a line around a problem.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Excerpt {
    /// Without the line end, tabs as spaces, with an ellipsis where it is cut.
    pub text: String,
    /// Characters before the position of the problem.
    pub caret: usize,
}

impl Excerpt {
    /// The line of `text` around `offset`, cut on both sides.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let (before, after) = text.split_at(floor_boundary(text, offset));
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

    pub(crate) fn into_error(self) -> Self {
        Self { severity: Severity::Error, ..self }
    }

    pub(crate) fn with_excerpt(mut self, excerpt: Excerpt) -> Self {
        self.excerpt = excerpt;
        self
    }
}
