//! How commands show what they have to say: one kind of table, one form of times, colours where a person looks, and JSON for programs.
//!
//! Nothing here cuts or wraps a line: what goes into a pipe is whole.

mod colour;
mod table;
mod time;

use std::fmt::Display;
use std::io::Write as _;

use anyhow::Context as _;
use serde::Serialize;

pub(crate) use self::colour::{Colour, error_word, state};
pub(in crate::commands) use self::table::table;
pub(in crate::commands) use self::time::{moment, moment_in_table};

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// Writes lines to stdout; a reader that went away (`| head`) is no error.
pub(crate) fn print(lines: &[impl Display]) -> anyhow::Result<()> {
    print_on(lines).map(|_| ())
}

/// Writes lines to stdout at once; whether somebody still reads them.
pub(super) fn print_on(lines: &[impl Display]) -> anyhow::Result<bool> {
    let mut out = std::io::stdout().lock();
    let written = lines.iter().try_for_each(|line| writeln!(out, "{line}")).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        other => other.map(|()| true).context("cannot write to stdout"),
    }
}

/// One JSON value, for programs.
pub(crate) fn json(answer: &impl Serialize) -> anyhow::Result<String> {
    serde_json::to_string_pretty(answer).context("the answer cannot be written as JSON")
}

/// Prints an answer: as JSON if a program asks, in words otherwise.
pub(super) fn say(
    as_json: bool,
    answer: &impl Serialize,
    words: impl FnOnce() -> Vec<String>,
) -> anyhow::Result<()> {
    if as_json { print(&[json(answer)?]) } else { print(&words()) }
}

/// `1 row`, `2 rows`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}
