//! Splits texts into weighted words, identified by the hash of their stem.

use catalog::text;
use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_64;

use crate::limits::WORDS_MAX;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Word {
    /// A hash.
    pub(crate) stem: u64,
    /// Its share of the text's meaning, from 0 to 1.
    pub(crate) weight: f32,
}

pub(crate) type Words = SmallVec<[Word; 16]>;

/// For words after "for" or in brackets, which name something else than the item.
const WEIGHT_AFTER_FOR: f32 = 0.45;
const WEIGHT_AFTER_IN: f32 = 0.65;
const WEIGHT_IN_BRACKETS: f32 = 0.5;
/// For parts of a compound.
const WEIGHT_PART: f32 = 0.7;
/// Prefixes of compounds with their meaning.
const COMPOUNDS: [(&str, &str); 9] = [
    ("автомобиле", "автомобильный"),
    ("авто", "автомобильный"),
    ("мото", "мотоцикл"),
    ("вело", "велосипед"),
    ("электро", "электрический"),
    ("фото", "фото"),
    ("видео", "видео"),
    ("аудио", "аудио"),
    ("зоо", "животные"),
];
/// Subtracted for each word before: titles begin with the item.
const WEIGHT_LOST_BY_WORD: f32 = 0.05;
const WEIGHT_LEAST: f32 = 0.5;

/// The words of a short name or a part of a path, with equal weights.
pub(crate) fn of_name(text: &str) -> Words {
    let mut words = Words::new();
    each_word(text, |word, _| {
        if words.len() < WORDS_MAX && !is_filler(word) && !is_number(word) {
            push(&mut words, Word { stem: stem_hash(word), weight: 1.0 });
        }
    });
    words
}

/// The words of a title, weighted by their position.
pub(crate) fn of_title(text: &str) -> Words {
    let mut words = Words::new();
    let mut position = 0.0;
    let mut after = 1.0_f32;
    each_word(text, |word, context| {
        after = if context.begins_clause { 1.0 } else { after };
        if is_filler(word) || is_number(word) {
            after = if position > 0.0 { after.min(weight_after(word)) } else { after };
            return;
        }
        let mut weight = (1.0 - WEIGHT_LOST_BY_WORD * position).max(WEIGHT_LEAST) * after;
        weight *= if context.is_in_brackets { WEIGHT_IN_BRACKETS } else { 1.0 };
        position += 1.0;
        if words.len() < WORDS_MAX {
            push(&mut words, Word { stem: stem_hash(word), weight });
            for part in parts_of_compound(word) {
                push(&mut words, Word { stem: stem_hash(part), weight: weight * WEIGHT_PART });
            }
        }
    });
    words
}

/// The meanings of both parts of a compound: "фоторамка" is a "рамка" too.
fn parts_of_compound(word: &str) -> impl Iterator<Item = &str> {
    let split = COMPOUNDS.iter().find_map(|(beginning, meant)| {
        let rest = word.strip_prefix(beginning)?;
        rest.chars().nth(3).map(|_| [*meant, rest])
    });
    split.into_iter().flatten()
}

/// The weight of the words after a filler.
fn weight_after(filler: &str) -> f32 {
    match filler {
        "для" | "for" | "под" | "к" | "с" | "со" | "with" | "без" | "от" => WEIGHT_AFTER_FOR,
        "в" | "во" | "на" | "in" | "on" | "at" | "по" | "у" | "из" | "of" | "to" => WEIGHT_AFTER_IN,
        _ => 1.0,
    }
}

/// Adds a word, or raises the weight of the same one.
pub(crate) fn push(words: &mut Words, word: Word) {
    match words.iter_mut().find(|known| known.stem == word.stem) {
        Some(known) => known.weight = known.weight.max(word.weight),
        None => words.push(word),
    }
}

/// The context of a word.
#[derive(Clone, Copy)]
struct Context {
    is_in_brackets: bool,
    /// The first word after a punctuation mark.
    begins_clause: bool,
}

/// Calls `visit` with every word in lower case (`ё` as `е`) and its context.
fn each_word(text: &str, mut visit: impl FnMut(&str, Context)) {
    let mut brackets = 0_u32;
    let mut begins_clause = true;
    let mut buffer = String::new();
    for c in text.chars().chain(std::iter::once(' ')) {
        match c {
            'a'..='z' | '0'..='9' | 'а'..='я' => buffer.push(c),
            'A'..='Z' => buffer.push(c.to_ascii_lowercase()),
            'ё' | 'Ё' => buffer.push('е'),
            '\'' | '’' | '`' => {}
            _ if c.is_alphanumeric() => buffer.extend(c.to_lowercase()),
            _ => {
                if !buffer.is_empty() {
                    visit(&buffer, Context { is_in_brackets: brackets > 0, begins_clause });
                    buffer.clear();
                    begins_clause = false;
                }
                match c {
                    '(' | '[' => brackets += 1,
                    ')' | ']' => brackets = brackets.saturating_sub(1),
                    ',' | ';' | ':' | '.' | '!' | '|' => begins_clause = true,
                    _ => {}
                }
            }
        }
    }
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_digit())
}

/// Words without meaning for a category.
fn is_filler(word: &str) -> bool {
    text::is_filler(word)
        || matches!(
            word,
            "a" | "an" | "to" | "at" | "on" | "со" | "во" | "под" | "у" | "за" | "до" | "без" | "не"
        )
}

/// The hash of the stem of a normalised word.
pub(crate) fn stem_hash(word: &str) -> u64 {
    let stem = stem(word);
    let mut letters: SmallVec<[u8; 48]> = SmallVec::from_slice(stem.as_bytes());
    if word.len() == stem.len() + 3 && word.ends_with("ies") {
        letters.push(b'y');
    }
    drop_fleeting_vowel(&mut letters);
    xxh3_64(&letters)
}

/// A word without its ending: a heuristic, not a dictionary.
fn stem(word: &str) -> &str {
    if word.is_ascii() {
        return text::english_singular(word);
    }
    let soft = || word.strip_suffix('й').filter(|rest| rest.chars().nth(2).is_some());
    text::without_russian_ending(word).or_else(soft).unwrap_or(word)
}

/// Drops the last vowel of stems like "кроссовок", which "кроссовки" lacks.
fn drop_fleeting_vowel(stem: &mut SmallVec<[u8; 48]>) {
    const LETTER: usize = 2;
    let Ok(text) = std::str::from_utf8(stem) else { return };
    let falls = ["ок", "ек", "ец", "ол", "ел"].iter().any(|ending| text.ends_with(ending));
    if falls && text.chars().nth(3).is_some() {
        let at = stem.len() - 2 * LETTER;
        stem.drain(at..at + LETTER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_are_one_stem() {
        let forms = [
            ["кроссовки", "кроссовок", "кроссовка"],
            ["чехол", "чехлы", "чехлов"],
            ["детский", "детские", "детская"],
            ["щенок", "щенки", "щенков"],
            ["сумка", "сумок", "сумки"],
            ["battery", "batteries", "battery"],
            ["box", "boxes", "box"],
        ];
        for [first, second, third] in forms {
            assert_eq!(stem_hash(first), stem_hash(second), "{first} {second}");
            assert_eq!(stem_hash(first), stem_hash(third), "{first} {third}");
        }
        assert_ne!(stem_hash("brand"), stem_hash("brandy"));
        assert_ne!(stem_hash("стол"), stem_hash("стул"));
        assert_ne!(stem_hash("плата"), stem_hash("платье"));
    }

    #[test]
    fn a_compound_has_its_parts_too() {
        let words = of_title("фоторамка");
        assert!(words.iter().any(|word| word.stem == stem_hash("рамки")));
        assert_eq!(of_title("автор").len(), 1, "too short a rest is no word");
    }

    #[test]
    fn what_a_thing_is_for_weighs_less_than_what_it_is() {
        let words = of_title("Чехол для телефона (новый)");
        let weight = |text: &str| words.iter().find(|word| word.stem == stem_hash(text)).unwrap().weight;
        assert!(weight("чехол") > 2.0 * weight("телефон"));
        assert!(weight("телефон") > weight("новый"));
    }
}
