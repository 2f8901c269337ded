//! Long texts, where a person looks.

use std::io::IsTerminal as _;

/// At most this many characters of a text on a terminal; the whole text in a pipe or a file, where
/// a program may read it.
pub fn cut(text: &str, chars_max: usize) -> String {
    if std::io::stdout().is_terminal() { text::shortened(text, chars_max) } else { text.to_owned() }
}
