//! In what two long values differ, short enough to be kept.

use std::borrow::Cow;

use wire::torg::offers::v1::history_entry::Excerpt;

use crate::limits::{EXCERPT_AROUND_CHARS, EXCERPT_CHARS_MAX};

/// Stands for what is left out.
const LEFT_OUT: char = '…';

/// The parts of two values, each as JSON, that lie between what they begin with and what they end with alike.
pub(super) fn of(before: Option<&str>, after: Option<&str>) -> Excerpt {
    let (before, after) = (plain(before), plain(after));
    let (before, after): (Vec<char>, Vec<char>) = (before.chars().collect(), after.chars().collect());
    let alike = before.iter().zip(&after).take_while(|(old, new)| old == new).count();
    let left = before.len().min(after.len()) - alike;
    let ends = before.iter().rev().zip(after.iter().rev()).take(left);
    let alike_at_the_end = ends.take_while(|(old, new)| old == new).count();
    let part = |letters: &[char]| part(letters, alike, letters.len() - alike_at_the_end);
    Excerpt { before: part(&before), after: part(&after), ..Excerpt::default() }
}

/// A text as it is, anything else as JSON; nothing if there is no value.
fn plain(value: Option<&str>) -> Cow<'_, str> {
    let value = value.unwrap_or_default();
    serde_json::from_str::<String>(value).map_or(Cow::Borrowed(value), Cow::Owned)
}

/// The letters from `first` to `end` with some around.
fn part(letters: &[char], first: usize, end: usize) -> String {
    let first = first.saturating_sub(EXCERPT_AROUND_CHARS);
    let end = (end + EXCERPT_AROUND_CHARS).min(letters.len());
    let shown = end.min(first + EXCERPT_CHARS_MAX);
    let before = (first > 0).then_some(LEFT_OUT);
    let after = (shown < letters.len()).then_some(LEFT_OUT);
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
    fn only_what_differs_is_kept_with_some_letters_around() {
        let (begin, end) = ("Диван угловой, ".repeat(20), " самовывоз, торг уместен".repeat(20));
        let (before, after) = parts(&format!("{begin}\"зелёный\"{end}"), &format!("{begin}синий{end}"));
        assert_eq!(before, "…ван угловой, Диван угловой, \"зелёный\" самовывоз, торг уместен сам…");
        assert_eq!(after, "…ван угловой, Диван угловой, синий самовывоз, торг уместен сам…");
    }

    #[test]
    fn a_part_that_is_long_itself_is_cut() {
        let (before, after) = parts(&"а".repeat(1000), &"б".repeat(1000));
        assert_eq!((before.chars().count(), before.ends_with("а…")), (EXCERPT_CHARS_MAX + 1, true));
        assert!(after.starts_with('б') && after.ends_with("б…"), "{after}");
    }

    #[test]
    fn what_was_only_added_or_removed_or_repeated_is_found() {
        let long = "x".repeat(300);
        let (before, after) = parts(&long, &format!("{long}y"));
        assert!(before.ends_with('x') && after.ends_with("xy"), "{before} {after}");
        // The same letter at both ends of what was added belongs to one of them only.
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
    fn what_is_no_text_stands_as_json() {
        let photos = |last: &str| format!("[{},{}]", text(&"p".repeat(300)), text(last));
        let excerpt = of(Some(&photos("a")), Some(&photos("b")));
        assert!(excerpt.before.ends_with("\"a\"]") && excerpt.after.ends_with("\"b\"]"), "{excerpt:?}");
    }
}
