//! Colours for states and for `error:`.

use std::ffi::OsStr;
use std::io::IsTerminal as _;
use std::sync::OnceLock;

/// The meaning of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    Good,
    /// Needs attention.
    Doubtful,
    /// Stopped or lost.
    Bad,
    Head,
}

impl Colour {
    const ALL: [Self; 4] = [Self::Good, Self::Doubtful, Self::Bad, Self::Head];

    /// The parameter of the ANSI sequence that starts the colour.
    fn code(self) -> &'static str {
        match self {
            Colour::Good => "32",
            Colour::Doubtful => "33",
            Colour::Bad => "31",
            Colour::Head => "1",
        }
    }
}

/// The ANSI sequence that ends a colour.
pub(super) const END: &str = "\x1b[0m";

/// First words of good states.
const GOOD: [&str; 7] = ["ok", "well", "done", "succeeded", "active", "valid", "sound"];
/// First words of states that need attention.
const DOUBTFUL: [&str; 8] =
    ["warning", "paused", "waits", "superseded", "expired", "note", "regressed", "silent"];
/// First words of states without progress.
const BAD: [&str; 8] = ["error", "down", "failed", "failing", "lost", "revoked", "no", "damaged"];

/// Colours the text, if stdout is a terminal with colours.
pub(crate) fn paint(colour: Colour, text: &str) -> String {
    if on_stdout() { painted(colour, text) } else { text.to_owned() }
}

/// Colours a state by its first word.
pub fn state(text: &str) -> String {
    colour_of(text).map_or_else(|| text.to_owned(), |colour| paint(colour, text))
}

/// Colours `error` or `hint` at the start of a line on stderr.
pub fn error_word(colour: Colour, word: &str) -> String {
    if colours_on_stderr() { painted(colour, word) } else { word.to_owned() }
}

fn painted(colour: Colour, text: &str) -> String {
    format!("{}{text}{END}", begin(colour))
}

/// The ANSI sequence that starts a colour.
fn begin(colour: Colour) -> String {
    format!("\x1b[{}m", colour.code())
}

/// The length of the colour sequence at the start of the text, if there is one of this program.
pub(super) fn begins(text: &str) -> Option<usize> {
    Colour::ALL.into_iter().map(begin).find(|begin| text.starts_with(begin.as_str())).map(|begin| begin.len())
}

fn colour_of(text: &str) -> Option<Colour> {
    let first = text.split(|letter: char| !letter.is_alphanumeric()).next()?;
    [(&GOOD[..], Colour::Good), (&DOUBTFUL, Colour::Doubtful), (&BAD, Colour::Bad)]
        .into_iter()
        .find_map(|(words, colour)| words.contains(&first).then_some(colour))
}

/// Whether stdout is a terminal with colours.
pub(super) fn on_stdout() -> bool {
    static ON_STDOUT: OnceLock<bool> = OnceLock::new();
    *ON_STDOUT.get_or_init(|| wanted_on(std::io::stdout().is_terminal()))
}

/// Whether stderr is a terminal with colours, for log lines and `error:`.
pub fn colours_on_stderr() -> bool {
    static ON_STDERR: OnceLock<bool> = OnceLock::new();
    *ON_STDERR.get_or_init(|| wanted_on(std::io::stderr().is_terminal()))
}

/// Whether stderr can redraw a line, as progress bars do.
pub fn redraws_on_stderr() -> bool {
    knows_sequences(std::io::stderr().is_terminal(), std::env::var_os("TERM").as_deref())
}

fn wanted_on(terminal: bool) -> bool {
    wanted(terminal, std::env::var_os("NO_COLOR").as_deref(), std::env::var_os("TERM").as_deref())
}

/// Colours need a terminal that supports them and no `NO_COLOR` (`https://no-color.org`).
fn wanted(terminal: bool, no_color: Option<&OsStr>, term: Option<&OsStr>) -> bool {
    no_color.is_none_or(OsStr::is_empty) && knows_sequences(terminal, term)
}

/// Whether this is a terminal that supports ANSI sequences.
fn knows_sequences(terminal: bool, term: Option<&OsStr>) -> bool {
    terminal && term.is_some_and(|term| term != "dumb")
}

/// The number of visible characters: colour sequences have no width.
pub(super) fn width(text: &str) -> usize {
    let (mut seen, mut letters) = (0, text.chars());
    while let Some(letter) = letters.next() {
        if letter == '\x1b' {
            letters.by_ref().find(|letter| *letter == 'm');
        } else {
            seen += 1;
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_that_know_them_and_people_who_want_them() {
        let (xterm, dumb) = (Some(OsStr::new("xterm")), Some(OsStr::new("dumb")));
        let (set, empty) = (Some(OsStr::new("1")), Some(OsStr::new("")));
        assert!(wanted(true, None, xterm) && wanted(true, empty, xterm));
        for (terminal, no_color, term) in
            [(false, None, xterm), (true, set, xterm), (true, None, dumb), (true, None, None)]
        {
            assert!(!wanted(terminal, no_color, term), "{terminal} {no_color:?} {term:?}");
        }
        assert!(knows_sequences(true, xterm));
        assert!(
            [(false, xterm), (true, dumb), (true, None)]
                .iter()
                .all(|(on, term)| !knows_sequences(*on, *term))
        );
    }

    #[test]
    fn the_first_word_of_a_state_gives_its_colour() {
        for (text, colour) in [
            ("well", Some(Colour::Good)),
            ("paused since 2026-01-01T00:00:00Z: no reason", Some(Colour::Doubtful)),
            ("down since yesterday", Some(Colour::Bad)),
            ("no process serves it", Some(Colour::Bad)),
            ("failing (3 attempts)", Some(Colour::Bad)),
            ("silent for too long", Some(Colour::Doubtful)),
            ("nothing", None),
            ("", None),
        ] {
            assert_eq!(colour_of(text), colour, "{text:?}");
        }
    }

    #[test]
    fn sequences_of_colours_take_no_place() {
        assert_eq!(width(&painted(Colour::Bad, "läuft")), 5);
        assert_eq!(width("\x1b[3"), 0, "one that is cut off ends the text");
    }
}
