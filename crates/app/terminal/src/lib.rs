//! Output of commands: tables, times and colours on a terminal, and JSON for programs.
//!
//! Lines never wrap, and output to a pipe is complete. Text goes through [`print_words`], so that a
//! terminal gets no escape sequence from data of others.
#![allow(clippy::must_use_candidate, reason = "a part of the program, not a library for others")]

mod clean;
mod colour;
mod cut;
pub mod errors;
mod table;
mod time;

use std::fmt::Display;
use std::io::Write as _;

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;

use self::clean::{Breaks, clean};
pub use self::clean::{harmless, one_line};
use self::colour::on_stdout;
pub use self::colour::{Colour, colours_on_stderr, error_word, redraws_on_stderr, state};
pub use self::cut::cut;
pub use self::table::table;
pub use self::time::{moment, moment_in_table};

/// `--json` of commands that print nothing else: who gives it to every command may give it to
/// these.
#[derive(Clone, Copy, Debug, Args)]
pub struct AlwaysJson {
    /// Changes nothing: it is JSON anyway.
    #[arg(long)]
    json: bool,
}

/// Writes lines to stdout. A closed pipe (`| head`) is not an error.
pub fn print(lines: &[impl Display]) -> anyhow::Result<()> {
    print_on(lines).map(|_| ())
}

/// Writes text for people to stdout. Escapes control characters in it.
pub fn print_words(lines: &[impl Display]) -> anyhow::Result<()> {
    print_words_on(lines).map(|_| ())
}

/// Writes text for people to stdout and flushes it. Returns whether stdout is still open.
pub fn print_words_on(lines: &[impl Display]) -> anyhow::Result<bool> {
    let cleaned = lines.iter().map(|line| clean(&line.to_string(), Breaks::Stay, on_stdout()));
    print_on(&cleaned.collect::<Vec<_>>())
}

/// Writes lines to stdout and flushes them. Returns whether stdout is still open.
pub fn print_on(lines: &[impl Display]) -> anyhow::Result<bool> {
    let mut out = std::io::stdout().lock();
    let written = lines.iter().try_for_each(|line| writeln!(out, "{line}")).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        other => other.map(|()| true).context("cannot write to stdout"),
    }
}

/// Writes to stderr and flushes it, without adding a line end. Ignores write errors: they do not
/// change the result of a command.
pub fn remark(text: impl Display) {
    let mut out = std::io::stderr().lock();
    let _ = write!(out, "{text}").and_then(|()| out.flush());
}

/// Serializes a JSON value for programs.
pub fn json(answer: &impl Serialize) -> anyhow::Result<String> {
    serde_json::to_string_pretty(answer).context("the answer cannot be written as JSON")
}

/// Prints an answer: as JSON if `as_json` is set, else as text.
pub fn say(
    as_json: bool,
    answer: &impl Serialize,
    words: impl FnOnce() -> Vec<String>,
) -> anyhow::Result<()> {
    if as_json { print(&[json(answer)?]) } else { print_words(&words()) }
}

/// `1 row`, `2 rows`.
pub fn counted(count: u64, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}
