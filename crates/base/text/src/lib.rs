//! Small helpers for texts: truncation, the nearest word, shell quoting, hexadecimal digits.

pub mod shell;

/// The sign at the end of a truncated text.
pub const ELLIPSIS: char = '…';

/// Words longer than this are not compared: the time of a comparison grows with their product.
const COMPARED_BYTES_MAX: usize = 200;

/// The first characters of a text.
#[must_use]
pub fn head(text: &str, chars_max: usize) -> &str {
    text.char_indices().nth(chars_max).map_or(text, |(end, _)| &text[..end])
}

/// The first bytes of a text, up to the end of a character.
#[must_use]
pub fn head_bytes(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The first characters of a text, and an ellipsis if there are more.
#[must_use]
pub fn shortened(text: &str, chars_max: usize) -> String {
    let head = head(text, chars_max);
    let mut shortened = head.to_owned();
    if head.len() < text.len() {
        shortened.push(ELLIPSIS);
    }
    shortened
}

/// A text of at most this many bytes, with an ellipsis among them if something was left out.
#[must_use]
pub fn shortened_bytes(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        text.truncate(head_bytes(&text, bytes_max.saturating_sub(ELLIPSIS.len_utf8())).len());
        text.push(ELLIPSIS);
    }
    text
}

/// The same characters on one line: control characters become spaces.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// The known word that a wrong one was probably meant to be. Case is ignored; at most a third of
/// the characters may be inserted, removed, replaced or swapped with their neighbour, and never
/// more than four. The first of equally near words is taken.
#[must_use]
pub fn nearest<W: AsRef<str>>(wrong: &str, known: impl IntoIterator<Item = W>) -> Option<W> {
    if wrong.is_empty() || wrong.len() > COMPARED_BYTES_MAX {
        return None;
    }
    let wrong = wrong.to_lowercase();
    let length = wrong.chars().count();
    let edits = |word: &W| {
        let word = word.as_ref().to_lowercase();
        let other = word.chars().count();
        let max = (length.max(other) / 3).clamp(1, 4);
        (length.abs_diff(other) <= max)
            .then(|| strsim::osa_distance(&wrong, &word))
            .filter(|edits| *edits <= max)
    };
    let near = known.into_iter().filter_map(|word| edits(&word).map(|edits| (edits, word)));
    near.min_by_key(|(edits, _)| *edits).map(|(_, word)| word)
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!((head("läuft", 2), head("läuft", 5), head("", 2)), ("lä", "läuft", ""));
        assert_eq!((head_bytes("läuft", 2), head_bytes("läuft", 3)), ("l", "lä"));
        assert_eq!(head_bytes("läuft", 100), "läuft");
    }

    #[test]
    fn a_truncated_text_ends_in_an_ellipsis() {
        assert_eq!((&*shortened("läuft", 5), &*shortened("läuft", 4)), ("läuft", "läuf…"));
        assert_eq!(shortened_bytes("läuft".to_owned(), 6), "läuft");
        assert_eq!(shortened_bytes("läuft".to_owned(), 5), "l…");
        assert_eq!(shortened_bytes("läuft".to_owned(), 0), "…");
    }

    #[test]
    fn control_characters_become_spaces() {
        assert_eq!(one_line("a\u{1b}[31m\tb\n"), "a [31m b ");
    }

    #[test]
    fn a_slip_finds_its_word_and_a_strange_word_finds_none() {
        let known = ["store.cache_mb", "store.url", "log.level"];
        assert_eq!(nearest("store.cachemb", known), Some("store.cache_mb"));
        assert_eq!(nearest("Log.Levle", known), Some("log.level"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("", ["a"]), None);
        assert_eq!(nearest(&"x".repeat(10_000), ["x".repeat(10_000)]), None);
        let values = ["diesel", "petrol", "electric"];
        assert_eq!(nearest("Deisel", values), Some("diesel"));
        assert_eq!(nearest("steam", values), None);
    }

    #[test]
    fn bytes_are_written_as_digits() {
        assert_eq!(hex(&[0, 0x0f, 0xa5]), "000fa5");
    }
}
