//! Excerpts of two long values around their difference.

use std::borrow::Cow;

use wire::torg::offers::v1::history_entry::Excerpt;

use crate::limits::{EXCERPT_AROUND_CHARS, EXCERPT_CHARS_MAX};

/// Replaces the omitted letters.
const OMITTED: char = '…';

/// The parts of two JSON values between their common beginning and their common end.
pub(super) fn of(before: Option<&str>, after: Option<&str>) -> Excerpt {
    let (before, after) = (plain(before), plain(after));
    let (before, after): (Vec<char>, Vec<char>) = (before.chars().collect(), after.chars().collect());
    let common = before.iter().zip(&after).take_while(|(old, new)| old == new).count();
    let left = before.len().min(after.len()) - common;
    let ends = before.iter().rev().zip(after.iter().rev()).take(left);
    let common_end = ends.take_while(|(old, new)| old == new).count();
    let part = |letters: &[char]| part(letters, common, letters.len() - common_end);
    Excerpt { before: part(&before), after: part(&after), ..Excerpt::default() }
}

/// A text without quotes, any other value as JSON.
fn plain(value: Option<&str>) -> Cow<'_, str> {
    let value = value.unwrap_or_default();
    serde_json::from_str::<String>(value).map_or(Cow::Borrowed(value), Cow::Owned)
}

/// The letters from `first` to `end` with some before and behind.
fn part(letters: &[char], first: usize, end: usize) -> String {
    let first = first.saturating_sub(EXCERPT_AROUND_CHARS);
    let end = (end + EXCERPT_AROUND_CHARS).min(letters.len());
    let shown = end.min(first + EXCERPT_CHARS_MAX);
    let before = (first > 0).then_some(OMITTED);
    let after = (shown < letters.len()).then_some(OMITTED);
    before.into_iter().chain(letters[first..shown].iter().copied()).chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        serde_json::to_string(text).unwrap()
    }

    fn parts(before: &str, after: &str) -> (String, String) {
        let excerpt = of(Some(&text(before)), Some(&text(after)));
        (excerpt.before, excerpt.after)
    }

    #[test]
    fn an_excerpt_has_the_difference_and_some_letters_around() {
        let (begin, end) = ("Диван угловой, ".repeat(20), " самовывоз, торг уместен".repeat(20));
        let (before, after) = parts(&format!("{begin}\"зелёный\"{end}"), &format!("{begin}синий{end}"));
        assert_eq!(before, "…ван угловой, Диван угловой, \"зелёный\" самовывоз, торг уместен сам…");
        assert_eq!(after, "…ван угловой, Диван угловой, синий самовывоз, торг уместен сам…");
    }

    #[test]
    fn a_long_difference_is_cut() {
        let (before, after) = parts(&"а".repeat(1000), &"б".repeat(1000));
        assert_eq!((before.chars().count(), before.ends_with("а…")), (EXCERPT_CHARS_MAX + 1, true));
        assert!(after.starts_with('б') && after.ends_with("б…"), "{after}");
    }

    #[test]
    fn an_addition_a_removal_and_a_repetition_are_found() {
        let long = "x".repeat(300);
        let (before, after) = parts(&long, &format!("{long}y"));
        assert!(before.ends_with('x') && after.ends_with("xy"), "{before} {after}");
        // A repeated letter belongs to the common beginning or to the common end, not to both.
        let (before, after) = parts(&long, &format!("{long}x"));
        assert_eq!(
            after.chars().filter(|letter| *letter == 'x').count(),
            before.chars().filter(|letter| *letter == 'x').count() + 1
        );
        let new = of(None, Some(&text(&long)));
        assert_eq!((&*new.before, new.after.chars().count()), ("", EXCERPT_CHARS_MAX + 1));
        assert_eq!(of(None, None), Excerpt::default());
    }

    #[test]
    fn a_value_other_than_text_is_shown_as_json() {
        let photos = |last: &str| format!("[{},{}]", text(&"p".repeat(300)), text(last));
        let excerpt = of(Some(&photos("a")), Some(&photos("b")));
        assert!(excerpt.before.ends_with("\"a\"]") && excerpt.after.ends_with("\"b\"]"), "{excerpt:?}");
    }
}
