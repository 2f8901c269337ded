//! What makes a title tidy.

/// Shouting is a title of at least so many letters, all of them capital.
const SHOUTED_LETTERS_MIN: usize = 10;
/// Words of so many letters that have no vowel are names and units, which stay as they are: BMW, HP.
const NAME_LETTERS: std::ops::RangeInclusive<usize> = 2..=3;
const VOWELS: &str = "AEIOUYАЕЁИОУЫЭЮЯ";

/// The title with single spaces, and without shouting.
pub(super) fn polished(title: &str) -> String {
    let shouted = is_shouted(title);
    let mut words: Vec<String> = title.split_whitespace().map(str::to_owned).collect();
    if shouted {
        for (place, word) in words.iter_mut().enumerate() {
            *word = calm(word, place == 0);
        }
    }
    words.join(" ")
}

/// A word with Latin and Cyrillic letters in it, if there is one.
pub(super) fn mixed_word(title: &str) -> Option<&str> {
    let is_word_end = |letter: char| !letter.is_alphanumeric();
    title
        .split(is_word_end)
        .find(|word| word.chars().any(|letter| letter.is_ascii_alphabetic()) && word.chars().any(is_cyrillic))
}

fn is_cyrillic(letter: char) -> bool {
    ('\u{400}'..='\u{52f}').contains(&letter)
}

fn is_shouted(title: &str) -> bool {
    let letters: Vec<char> = title.chars().filter(|letter| letter.is_alphabetic()).collect();
    letters.len() >= SHOUTED_LETTERS_MIN && letters.iter().all(|letter| letter.is_uppercase())
}

/// A word in small letters. The first one, and what is a name, keeps a capital.
fn calm(word: &str, is_first: bool) -> String {
    if is_name(word) {
        return word.to_owned();
    }
    let small = word.to_lowercase();
    if !is_first {
        return small;
    }
    let mut letters = small.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn is_name(word: &str) -> bool {
    let letters: Vec<char> = word.chars().filter(|letter| letter.is_alphabetic()).collect();
    let is_short =
        NAME_LETTERS.contains(&letters.len()) && !letters.iter().any(|letter| VOWELS.contains(*letter));
    is_short || word.chars().any(|letter| letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_calm_and_have_single_spaces() {
        for (title, tidy) in [
            ("Диван  угловой   серый", "Диван угловой серый"),
            ("УГЛОВОЙ ДИВАН, СЕРЫЙ", "Угловой диван, серый"),
            ("PRETTY RED BICYCLE, ALMOST NEW", "Pretty red bicycle, almost new"),
            ("BMW X5, ДЛЯ СЕМЬИ В ОТЛИЧНОМ СОСТОЯНИИ", "BMW X5, для семьи в отличном состоянии"),
            ("BMW 320i, 2019", "BMW 320i, 2019"),
            ("IKEA", "IKEA"),
        ] {
            assert_eq!(polished(title), tidy);
            assert_eq!(polished(tidy), tidy, "once is enough");
        }
    }

    #[test]
    fn a_word_of_two_alphabets_is_found() {
        assert_eq!(mixed_word("Дивaн угловой"), Some("Дивaн"));
        assert_eq!(mixed_word("Диван IKEA, 2-местный"), None);
    }
}
