//! Texts as they are compared: normal form, word stems, nearness.

use crate::limits::ECHO_CHARS_MAX;

/// Appends the normal form of `text` to `out`: lower case, `ё` as `е`, every run of other characters than letters and digits as one
/// space, none at the ends. Two texts that people would call the same name have the same normal form.
pub(crate) fn normalise_into(text: &str, out: &mut String) {
    let start = out.len();
    let mut gap = false;
    for c in text.chars() {
        let plain = match c {
            'ё' | 'Ё' => 'е',
            'A'..='Z' => c.to_ascii_lowercase(),
            'а'..='я' | 'a'..='z' | '0'..='9' => c,
            // An apostrophe is part of its word: "men's" is "mens".
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

/// The normal form as a new text.
pub(crate) fn normalise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    normalise_into(text, &mut out);
    out
}

const RUSSIAN_ENDINGS: [&str; 46] = [
    "иями", "ями", "ами", "ого", "его", "ому", "ему", "ыми", "ими", "иях", "ая", "яя", "ое", "ее", "ые",
    "ие", "ый", "ий", "ой", "ей", "ых", "их", "ую", "юю", "ым", "им", "ом", "ем", "ам", "ям", "ах", "ях",
    "ов", "ев", "ия", "ию", "ии", "а", "я", "о", "е", "ы", "и", "у", "ю", "ь",
];

/// The part of a normalised word that stays when its number or case changes. A guess by the word's ending: good enough to bring
/// "bicycle" to "bicycles" and "велосипед" to "велосипеды", not a dictionary.
pub(crate) fn stem(word: &str) -> &str {
    if word.is_ascii() {
        return english_stem(word);
    }
    for ending in RUSSIAN_ENDINGS {
        if let Some(rest) = word.strip_suffix(ending)
            && rest.chars().nth(2).is_some()
        {
            return rest;
        }
    }
    word
}

fn english_stem(word: &str) -> &str {
    let keep = |rest: &str| rest.len() >= 3;
    if let Some(rest) = word.strip_suffix("ies").filter(|rest| keep(rest)) {
        return rest;
    }
    for (ending, cut) in [("sses", 2), ("shes", 2), ("ches", 2), ("xes", 2)] {
        if word.ends_with(ending) && word.len() >= 5 {
            return &word[..word.len() - cut];
        }
    }
    if word.ends_with("ss") {
        return word;
    }
    let word = word.strip_suffix('s').filter(|rest| keep(rest)).unwrap_or(word);
    word.strip_suffix('y').filter(|rest| keep(rest)).unwrap_or(word)
}

/// Words that say nothing about a category.
pub(crate) fn is_filler(word: &str) -> bool {
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

/// `; did you mean ...?` as an advice, or the alternative.
pub(crate) fn did_you_mean(nearest: Option<&str>, otherwise: &str) -> String {
    match nearest {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => otherwise.to_owned(),
    }
}

/// What a report repeats of a text that somebody sent: its beginning.
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
