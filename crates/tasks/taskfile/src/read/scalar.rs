//! Single values: texts, numbers, durations, names, parameters.

use crate::limits::{DURATION_MAX, NAME_CHARS_MAX, PARAMETER_CHARS_MAX};
use crate::notes::Notes;
use crate::problem::Code;
use crate::yaml::{Kind, Node};
use jiff::SignedDuration;
use std::ops::RangeInclusive;
use triggers::{Amount, Parameter, parse_duration, show_duration};

const DURATIONS: &str = "write a number and its unit: `90s`, `30m`, `6h`, `2d`, `1h 30m`";

/// A text of limited length. `what` names it in messages: `` `about` ``.
pub(super) fn text<'n>(
    notes: &mut Notes,
    node: &'n Node<'_>,
    what: &str,
    bytes_max: usize,
) -> Option<&'n str> {
    let Some(text) = node.as_text().filter(|_| !node.is_null()) else {
        let found = node.what();
        return notes.refuse(Code::WrongType, node.place, format!("{what} must be a text, not {found}"), "");
    };
    if text.len() > bytes_max {
        let message = format!("{what} is longer than {bytes_max} bytes");
        return notes.refuse(Code::TooLarge, node.place, message, "make it shorter");
    }
    if text.contains('\0') {
        return notes.refuse(
            Code::WrongType,
            node.place,
            format!("{what} has a zero byte in it"),
            "remove it",
        );
    }
    Some(text)
}

/// A limit in characters bounds the bytes by four times as many.
pub(super) fn line<'n>(
    notes: &mut Notes,
    node: &'n Node<'_>,
    what: &str,
    chars_max: usize,
) -> Option<&'n str> {
    let text = text(notes, node, what, chars_max * 4)?;
    if text.chars().count() > chars_max {
        let message = format!("{what} is longer than {chars_max} characters");
        return notes.refuse(Code::TooLarge, node.place, message, "make it shorter");
    }
    Some(text)
}

pub(super) fn integer(
    notes: &mut Notes,
    node: &Node<'_>,
    what: &str,
    range: RangeInclusive<i64>,
) -> Option<i64> {
    let parsed = node.as_plain().and_then(|text| text.parse::<i64>().ok());
    let Some(number) = parsed else {
        let message = format!("{what} must be a whole number, not {}", node.what());
        let quoted = node.as_text().is_some_and(|text| text.parse::<i64>().is_ok());
        let bare = node.as_text().map(|text| text.replace(['_', ',', ' '], ""));
        let bare = bare.filter(|bare| bare.parse::<i64>().is_ok());
        let problem = notes.error(Code::WrongType, node.place, message);
        match bare {
            Some(bare) if quoted => problem.remedy(format!("write `{bare}` without quotes")),
            Some(bare) => problem.remedy(format!("write `{bare}`")),
            None => problem,
        };
        return None;
    };
    if !range.contains(&number) {
        let message = format!("{what} is {number}: it must be from {} to {}", range.start(), range.end());
        return notes.refuse(Code::BadNumber, node.place, message, "");
    }
    Some(number)
}

pub(super) fn boolean(notes: &mut Notes, node: &Node<'_>, what: &str) -> Option<bool> {
    match node.as_plain() {
        Some("true") => return Some(true),
        Some("false") => return Some(false),
        _ => {}
    }
    let meant = match node.as_text().map(str::to_lowercase).as_deref() {
        Some("yes" | "on" | "true" | "1" | "y") => Some("true"),
        Some("no" | "off" | "false" | "0" | "n") => Some("false"),
        _ => None,
    };
    let message = format!("{what} must be `true` or `false`, not {}", node.what());
    let problem = notes.error(Code::WrongType, node.place, message);
    if let Some(meant) = meant {
        problem.remedy(format!("write `{meant}`"));
    }
    None
}

/// A duration from zero to `max`.
pub(super) fn duration(
    notes: &mut Notes,
    node: &Node<'_>,
    what: &str,
    max: SignedDuration,
) -> Option<SignedDuration> {
    let Some(text) = node.as_text().filter(|_| !node.is_null()) else {
        let message = format!("{what} must be a duration, not {}", node.what());
        return notes.refuse(Code::WrongType, node.place, message, DURATIONS);
    };
    let shown = crate::quote(text);
    if text.trim_start().starts_with('-') {
        let message = format!("{what} is `{shown}`: a duration cannot be negative here");
        return notes.refuse(Code::BadDuration, node.place, message, "write it without the minus");
    }
    match parse_duration(text) {
        Ok(duration) if duration <= max => Some(duration),
        Ok(_) | Err(triggers::Error::DurationTooLong { .. }) => {
            let message = format!("{what} is `{shown}`: it is at most {}", show_duration(max));
            notes.refuse(Code::BadDuration, node.place, message, "")
        }
        Err(error) => {
            let why = match error {
                triggers::Error::Duration { what, .. } => what,
                other => other.to_string(),
            };
            let message = format!("{what} is `{shown}`, which is no duration: {why}");
            notes.refuse(Code::BadDuration, node.place, message, DURATIONS)
        }
    }
}

pub(super) fn positive(
    notes: &mut Notes,
    node: &Node<'_>,
    what: &str,
    max: SignedDuration,
) -> Option<SignedDuration> {
    let found = duration(notes, node, what, max)?;
    if found.is_zero() {
        return notes.refuse(Code::BadDuration, node.place, format!("{what} must be more than nothing"), "");
    }
    Some(found)
}

/// A duration, or a number for parameters that are numbers.
pub(super) fn amount(notes: &mut Notes, node: &Node<'_>, what: &str) -> Option<Amount> {
    let number = node.as_plain().and_then(|text| text.parse::<i64>().ok());
    if let Some(number) = number {
        if number < 0 {
            let message = format!("{what} is {number}: it cannot be negative");
            return notes.refuse(Code::BadNumber, node.place, message, "write it without the minus");
        }
        return Some(Amount::Number(number));
    }
    duration(notes, node, what, DURATION_MAX).map(Amount::Time)
}

pub(super) fn parameter(notes: &mut Notes, node: &Node<'_>, what: &str) -> Option<Parameter> {
    let text = line(notes, node, what, PARAMETER_CHARS_MAX)?;
    match text.parse::<Parameter>() {
        Ok(parameter) => Some(parameter),
        Err(error) => {
            let shown = crate::quote(text);
            let why = match &error {
                triggers::Error::Parameter { what, .. } => (*what).to_owned(),
                other => other.to_string(),
            };
            let (why, remedy) = if text.contains('$') {
                (
                    "it is not inside a shorthand".to_owned(),
                    "`$name` is a parameter of a shorthand, inside its `when`",
                )
            } else {
                (why, "write the entity, a dot and the name: `sales.loaded_to`")
            };
            let message = format!("{what} is `{shown}`, which is no name of a parameter: {why}");
            notes.refuse(Code::BadParameter, node.place, message, remedy)
        }
    }
}

/// A list of parameters; a single one needs no brackets.
pub(super) fn parameters(notes: &mut Notes, node: &Node<'_>, what: &str, max: usize) -> Vec<Parameter> {
    let items = match &node.kind {
        Kind::List(items) => items.as_slice(),
        Kind::Scalar { .. } => std::slice::from_ref(node),
        Kind::Map(_) => {
            let message = format!("{what} is a list of parameters, not a mapping");
            notes
                .error(Code::WrongType, node.place, message)
                .remedy("write `[sales.loaded_to, rates.loaded_to]`");
            return Vec::new();
        }
    };
    if items.len() > max {
        notes.error(Code::TooLarge, node.place, format!("{what} has more than {max} parameters"));
        return Vec::new();
    }
    items.iter().filter_map(|item| parameter(notes, item, &format!("an item of {what}"))).collect()
}

/// The name of a task, a pool, a label: letters, digits, `_`, `-`, `.` and `/`, beginning with a
/// letter or a digit.
pub(super) fn name<'n>(notes: &mut Notes, node: &'n Node<'_>, what: &str) -> Option<&'n str> {
    let name = line(notes, node, what, NAME_CHARS_MAX)?;
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let starts = name.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_');
    if starts && name.chars().all(allowed) {
        return Some(name);
    }
    let message = format!("{what} is `{}`, which is no name", crate::quote(name));
    let better: String = name.trim().chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    let problem = notes.error(Code::BadName, node.place, message);
    let rule = "names have letters, digits, `_`, `-`, `.` and `/`, and begin with a letter or a digit";
    if better.starts_with(|c: char| c.is_alphanumeric()) {
        problem.remedy(format!("{rule}: `{}`", crate::quote(&better)));
    } else {
        problem.remedy(rule);
    }
    None
}
