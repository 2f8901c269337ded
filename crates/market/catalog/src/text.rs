//! Comparison of texts: normal form, word stems, similarity.

use crate::limits::ECHO_CHARS_MAX;

/// Appends the [normal form](normalise) of `text` to `out`.
pub(crate) fn normalise_into(text: &str, out: &mut String) {
    let start = out.len();
    let mut gap = false;
    for c in text.chars() {
        let plain = match c {
            'ё' | 'Ё' => 'е',
            'A'..='Z' => c.to_ascii_lowercase(),
            'а'..='я' | 'a'..='z' | '0'..='9' => c,
            // An apostrophe joins its word: "men's" is "mens".
            '\'' | '’' | '`' => continue,
            _ if c.is_alphanumeric() => {
                push_word_char(out, start, &mut gap, None);
                out.extend(c.to_lowercase());
                continue;
            }
            _ => {
                gap = true;
                continue;
            }
        };
        push_word_char(out, start, &mut gap, Some(plain));
    }
}

fn push_word_char(out: &mut String, start: usize, gap: &mut bool, c: Option<char>) {
    if *gap && out.len() > start {
        out.push(' ');
    }
    *gap = false;
    out.extend(c);
}

/// The normal form of `text`: lower case, `ё` as `е`, every run of other characters as one space,
/// none at the ends.
#[must_use]
pub fn normalise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    normalise_into(text, &mut out);
    out
}

const RUSSIAN_ENDINGS: [&str; 46] = [
    "иями", "ями", "ами", "ого", "его", "ому", "ему", "ыми", "ими", "иях", "ая", "яя", "ое", "ее", "ые",
    "ие", "ый", "ий", "ой", "ей", "ых", "их", "ую", "юю", "ым", "им", "ом", "ем", "ам", "ям", "ах", "ях",
    "ов", "ев", "ия", "ию", "ии", "а", "я", "о", "е", "ы", "и", "у", "ю", "ь",
];

/// The part of a normalised word that stays the same in number and case. A heuristic by endings:
/// "bicycle" and "bicycles", "велосипед" and "велосипеды".
pub(crate) fn stem(word: &str) -> &str {
    if word.is_ascii() {
        let singular = english_singular(word);
        return singular.strip_suffix('y').filter(|rest| rest.len() >= 3).unwrap_or(singular);
    }
    without_russian_ending(word).unwrap_or(word)
}

/// A normalised Russian word without its case ending, if it has one.
#[must_use]
pub fn without_russian_ending(word: &str) -> Option<&str> {
    let rest = |ending: &&str| word.strip_suffix(*ending).filter(|rest| rest.chars().nth(2).is_some());
    RUSSIAN_ENDINGS.iter().find_map(rest)
}

/// A normalised English word without its plural ending.
#[must_use]
pub fn english_singular(word: &str) -> &str {
    let without = |ending: &str| word.strip_suffix(ending).filter(|rest: &&str| rest.len() >= 3);
    if let Some(rest) = without("ies") {
        return rest;
    }
    if word.len() >= 5 && ["sses", "shes", "ches", "xes"].iter().any(|ending| word.ends_with(ending)) {
        return &word[..word.len() - 2];
    }
    if word.ends_with("ss") { word } else { without("s").unwrap_or(word) }
}

/// Words without meaning for a category.
#[must_use]
pub fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "and"
            | "for"
            | "of"
            | "the"
            | "with"
            | "in"
            | "or"
            | "и"
            | "для"
            | "с"
            | "в"
            | "на"
            | "из"
            | "от"
            | "к"
            | "или"
            | "по"
    )
}

/// A given text, truncated for a report.
pub(crate) fn echo(text: &str) -> Box<str> {
    ::text::shortened(text, ECHO_CHARS_MAX).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_punctuation_and_yo_do_not_matter() {
        assert_eq!(normalise("  Animals & Pet-Supplies! "), "animals pet supplies");
        assert_eq!(normalise("Ёлки, палки"), "елки палки");
        assert_eq!(normalise("Men’s T-Shirts"), "mens t shirts");
        assert_eq!(normalise("ÉCLAIRS №5"), "éclairs 5");
        assert_eq!(normalise("&&"), "");
    }

    #[test]
    fn number_and_case_of_a_word_do_not_change_its_stem() {
        for (one, many) in
            [("bicycle", "bicycles"), ("box", "boxes"), ("battery", "batteries"), ("dress", "dresses")]
        {
            assert_eq!(stem(one), stem(many), "{one}");
        }
        for (one, many) in
            [("велосипед", "велосипеды"), ("машина", "машины"), ("квартира", "квартиру"), ("дом", "дома")]
        {
            assert_eq!(stem(one), stem(many), "{one}");
        }
    }

    #[test]
    fn a_long_text_is_repeated_only_in_part() {
        assert_eq!(echo("short").as_ref(), "short");
        assert_eq!(echo(&"я".repeat(1000)).chars().count(), ECHO_CHARS_MAX + 1);
    }
}
