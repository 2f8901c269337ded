//! How commands show what they have to say: one kind of table, one form of times, colours where a
//! person looks, and JSON for programs.
//!
//! Nothing here wraps a line, and what goes into a pipe is whole. Words go through [`print_words`]:
//! whatever others have written, a terminal gets no sequence that this program has not made.

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

/// Writes lines to stdout; a reader that went away (`| head`) is no error.
pub fn print(lines: &[impl Display]) -> anyhow::Result<()> {
    print_on(lines).map(|_| ())
}

/// Writes words for people to stdout: what others have put into them is shown, and not obeyed by
/// the terminal.
pub fn print_words(lines: &[impl Display]) -> anyhow::Result<()> {
    print_words_on(lines).map(|_| ())
}

/// The same at once; whether somebody still reads them.
pub fn print_words_on(lines: &[impl Display]) -> anyhow::Result<bool> {
    let cleaned = lines.iter().map(|line| clean(&line.to_string(), Breaks::Stay, on_stdout()));
    print_on(&cleaned.collect::<Vec<_>>())
}

/// Writes lines to stdout at once; whether somebody still reads them.
pub fn print_on(lines: &[impl Display]) -> anyhow::Result<bool> {
    let mut out = std::io::stdout().lock();
    let written = lines.iter().try_for_each(|line| writeln!(out, "{line}")).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        other => other.map(|()| true).context("cannot write to stdout"),
    }
}

/// Writes to stderr at once, without an end of line of its own. That nobody reads it is no error,
/// and changes nothing of what a command does.
pub fn remark(text: impl Display) {
    let mut out = std::io::stderr().lock();
    let _ = write!(out, "{text}").and_then(|()| out.flush());
}

/// One JSON value, for programs.
pub fn json(answer: &impl Serialize) -> anyhow::Result<String> {
    serde_json::to_string_pretty(answer).context("the answer cannot be written as JSON")
}

/// Prints an answer: as JSON if a program asks, in words otherwise.
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
