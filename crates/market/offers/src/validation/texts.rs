//! Checks of the length and the characters of texts.

use super::{Violations, codes};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    One,
    Several,
}

/// No control characters, except line breaks and tabs in texts of several lines.
pub(super) fn check(text: &str, field: &str, lines: Lines, found: &mut Violations) {
    let parts_lines = |c: char| lines == Lines::Several && matches!(c, '\n' | '\r' | '\t');
    if let Some(control) = text.chars().find(|c| c.is_control() && !parts_lines(*c)) {
        let text = format!("the control character U+{:04X} is not allowed", u32::from(control));
        found.add(field, codes::CONTROL_CHARACTER, text);
    }
}

pub(super) fn chars(text: &str, field: &str, most: usize, found: &mut Violations) {
    let given = text.chars().count();
    if given > most {
        found.add(field, codes::TOO_LONG, format!("at most {most} characters, there are {given}"));
    }
}

pub(super) fn bytes(text: &str, field: &str, most: usize, found: &mut Violations) -> bool {
    if text.len() > most {
        found.add(field, codes::TOO_LONG, format!("at most {most} bytes, there are {}", text.len()));
    }
    text.len() <= most
}

/// A name that becomes part of a key: not empty, without control characters.
pub(super) fn name(text: &str, field: &str, most: usize, found: &mut Violations) {
    if text.is_empty() {
        found.add(field, codes::REQUIRED, "has to be given");
    }
    bytes(text, field, most, found);
    check(text, field, Lines::One, found);
}
