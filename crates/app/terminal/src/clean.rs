//! Makes untrusted text safe for a terminal: escape sequences in texts of stages, sellers and
//! servers are shown instead of obeyed.

use super::colour::{END, begins};

/// The text on one line with single spaces, and without control characters.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    clean(&words.join(" "), Breaks::AreBlanks, false)
}

/// The text without control characters, except line ends and tabs.
pub fn harmless(text: &str) -> String {
    clean(text, Breaks::Stay, false)
}

/// How line ends and tabs are treated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Breaks {
    Stay,
    AreBlanks,
}

/// Escapes control characters as their code points. With `colours`, the colour sequences of this
/// program stay.
pub(super) fn clean(text: &str, breaks: Breaks, colours: bool) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\x1b') {
        copy(&rest[..at], breaks, &mut out);
        rest = &rest[at..];
        if let Some((begin, inside, after)) = painted(rest).filter(|_| colours) {
            out.push_str(begin);
            copy(inside, breaks, &mut out);
            out.push_str(END);
            rest = after;
        } else {
            copy(&rest[..1], breaks, &mut out);
            rest = &rest[1..];
        }
    }
    copy(rest, breaks, &mut out);
    out
}

/// Splits a text that starts with a colour sequence: the sequence, the coloured text, and the rest.
fn painted(text: &str) -> Option<(&str, &str, &str)> {
    let (begin, rest) = text.split_at(begins(text)?);
    let (inside, _) = rest.split_once('\x1b')?;
    Some((begin, inside, rest[inside.len()..].strip_prefix(END)?))
}

fn copy(text: &str, breaks: Breaks, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '\n' | '\t' if breaks == Breaks::Stay => out.push(letter),
            '\n' | '\t' | '\r' => out.push(' '),
            _ if is_odd(letter) => out.extend(letter.escape_unicode()),
            _ => out.push(letter),
        }
    }
}

/// Control characters, and characters that change the direction of text.
fn is_odd(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_instead() {
        assert_eq!(one_line("no \x1b[2J\n\n  answer\x07"), "no \\u{1b}[2J answer\\u{7}");
        assert_eq!(one_line("\u{9b}31m and \u{202e}txt"), "\\u{9b}31m and \\u{202e}txt");
        assert_eq!(harmless("Zeile\n\tläuft\r\x1b]0;x\x07"), "Zeile\n\tläuft \\u{1b}]0;x\\u{7}");
    }

    #[test]
    fn own_colours_stay_where_there_are_any_and_no_other_sequence_does() {
        let own = "\x1b[31mfailed\x1b[0m; \x1b[33mpaused\x1b[0m";
        assert_eq!(clean(own, Breaks::AreBlanks, true), own);
        assert_eq!(clean("\x1b[31mx\x1b[0m", Breaks::AreBlanks, false), "\\u{1b}[31mx\\u{1b}[0m");
        let kept = |text| clean(text, Breaks::AreBlanks, true);
        assert_eq!(kept("\x1b[31mnever ended"), "\\u{1b}[31mnever ended");
        assert_eq!(kept("\x1b[31ma\x1b[2Jb\x1b[0m"), "\\u{1b}[31ma\\u{1b}[2Jb\\u{1b}[0m");
        assert_eq!(kept("\x1b[5mx\x1b[0m"), "\\u{1b}[5mx\\u{1b}[0m");
        assert_eq!(kept("\x1b"), "\\u{1b}");
    }
}
