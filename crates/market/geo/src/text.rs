//! Normalised words, and stems that are the same in every grammatical case.

use smallvec::SmallVec;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// Two or three capital Latin letters: possibly a code.
    pub(crate) is_code: bool,
}

/// The words of a text in lower case, with `ё` as `е` and Latin letters without diacritics.
pub(crate) fn words(text: &str) -> SmallVec<[Word; 8]> {
    let mut found = SmallVec::new();
    for raw in text.split(|c: char| !c.is_alphanumeric() && !is_joiner(c)) {
        let text = fold(raw);
        if !text.is_empty() {
            let is_code = (2..=3).contains(&raw.len()) && raw.bytes().all(|b| b.is_ascii_uppercase());
            found.push(Word { text, is_code });
        }
    }
    found
}

/// Characters inside a word that are dropped.
fn is_joiner(c: char) -> bool {
    matches!(c, '\'' | '’' | 'ʻ' | '`' | '‘')
}

fn fold(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for c in word.chars().flat_map(char::to_lowercase) {
        match c {
            'a'..='z' | '0'..='9' | 'а'..='я' => out.push(c),
            'ё' => out.push('е'),
            _ if is_joiner(c) => {}
            _ => match plain(c) {
                "" if c.is_alphanumeric() => out.push(c),
                other => out.push_str(other),
            },
        }
    }
    out
}

/// A Latin letter without diacritics; empty for other characters.
fn plain(c: char) -> &'static str {
    match c {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ā' | 'ă' | 'ą' => "a",
        'æ' => "ae",
        'ç' | 'ć' | 'č' => "c",
        'ď' | 'đ' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ė' | 'ę' | 'ě' => "e",
        'ğ' => "g",
        'ì' | 'í' | 'î' | 'ï' | 'ī' | 'ı' => "i",
        'ł' | 'ľ' => "l",
        'ñ' | 'ń' | 'ň' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ō' | 'ő' => "o",
        'œ' => "oe",
        'ř' => "r",
        'ś' | 'š' | 'ş' | 'ș' => "s",
        'ß' => "ss",
        'ť' | 'ţ' | 'ț' => "t",
        'ù' | 'ú' | 'û' | 'ü' | 'ū' | 'ů' | 'ű' => "u",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        _ => "",
    }
}

const ENDINGS: [&str; 38] = [
    "ого", "его", "ому", "ему", "ыми", "ими", "ами", "ями", "ая", "яя", "ое", "ее", "ые", "ие", "ый", "ий",
    "ой", "ей", "ых", "их", "ую", "юю", "ым", "им", "ом", "ем", "ам", "ям", "ах", "ях", "а", "я", "о", "е",
    "ы", "и", "у", "ю",
];

/// A Russian word without its case ending; other words unchanged.
pub(crate) fn stem(word: &str) -> &str {
    if word.is_ascii() {
        return word;
    }
    let cut = |word| {
        let without =
            |ending: &str| str::strip_suffix(word, ending).filter(|rest| rest.chars().nth(2).is_some());
        ENDINGS.iter().find_map(|ending| without(ending)).unwrap_or(word)
    };
    // "Ростове" loses its case ending, then the suffix that "Ростов" loses too.
    let mut rest = cut(word);
    for suffix in ["ов", "ев", "ь"] {
        rest = rest.strip_suffix(suffix).filter(|rest| rest.chars().nth(2).is_some()).unwrap_or(rest);
    }
    rest
}

/// The stem of a name that loses its last vowel in other cases: `орел` becomes `орл`, `елец`
/// becomes `ельц`.
pub(crate) fn stem_without_vowel(word: &str) -> Option<String> {
    let (head, tail) = [("лец", "льц"), ("ец", "ц"), ("ел", "л"), ("ок", "к")]
        .into_iter()
        .find_map(|(ending, rest)| Some((word.strip_suffix(ending)?, rest)))?;
    head.chars().next().is_some().then(|| format!("{head}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diacritics_case_and_yo_do_not_matter() {
        let folded: Vec<String> =
            words("Ёлкино, MÜNCHEN; O'Fallon").into_iter().map(|word| word.text).collect();
        assert_eq!(folded, ["елкино", "munchen", "ofallon"]);
    }

    #[test]
    fn a_declined_name_has_the_stem_of_the_name() {
        for (name, declined) in [
            ("москва", "москве"),
            ("казань", "казани"),
            ("химки", "химках"),
            ("нижний", "нижнем"),
            ("пермь", "перми"),
            ("ростов", "ростове"),
            ("челны", "челнов"),
        ] {
            assert_eq!(stem(name), stem(declined), "{name}");
        }
        assert_eq!(stem_without_vowel("орел").as_deref(), Some(stem("орле")));
        assert_eq!(stem_without_vowel("елец").as_deref(), Some(stem("ельце")));
    }
}
