//! Long texts, where a person looks.

use std::io::IsTerminal as _;

/// At most so many letters of a text on a terminal; the whole of it in a pipe or a file, where a program may read it.
pub fn cut(text: &str, chars_max: usize) -> String {
    if std::io::stdout().is_terminal() { shortened(text, chars_max) } else { text.to_owned() }
}

fn shortened(text: &str, chars_max: usize) -> String {
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    text.chars().take(chars_max).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_ends_in_a_sign_that_there_is_more() {
        assert_eq!((&*shortened("läuft", 5), &*shortened("läuft", 4)), ("läuft", "läuf…"));
    }
}
