//! Shortens long texts on a terminal.

use std::io::IsTerminal as _;

/// At most this many characters of a text on a terminal; the whole text in a pipe or a file, which
/// a program may read.
pub fn cut(text: &str, chars_max: usize) -> String {
    if std::io::stdout().is_terminal() { text::shortened(text, chars_max) } else { text.to_owned() }
}
