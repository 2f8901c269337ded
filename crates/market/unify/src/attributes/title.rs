//! Reads missing required attributes from the title: a make, a model, a number with its unit, a
//! year.

use std::collections::BTreeMap;

use catalog::text::normalise;
use catalog::{Category, Kind, OwnedValue, Use};
use smallvec::SmallVec;

use crate::limits::{TITLE_CHARS_MAX, WORDS_MAX};
use crate::output::Unified;
use crate::unifier::truncate;

/// Words of the longest name of a choice that is searched.
const CHOICE_WORDS_MAX: usize = 3;
const YEARS: std::ops::RangeInclusive<i64> = 1950..=2035;

pub(super) fn read(
    category: Category<'_>,
    makers: &BTreeMap<String, &'static str>,
    title: &str,
    unified: &mut Unified,
) {
    let wanted = category.attributes().filter(|used| used.required());
    let missing: SmallVec<[Use<'_>; 8]> =
        wanted.filter(|used| !unified.attributes.contains_key(used.attribute().id())).collect();
    if missing.is_empty() {
        return;
    }
    let title = truncate(title, TITLE_CHARS_MAX);
    let words: SmallVec<[&str; 24]> = title
        .split([' ', ',', ';', '\u{a0}', '(', ')'])
        .filter(|word| !word.is_empty())
        .take(WORDS_MAX)
        .collect();
    for used in missing {
        let found = match used.attribute().id() {
            "brand" => maker(makers, &words),
            "model" => text(used, title),
            "vehicle-model" => words_after_make(category, &words).and_then(|model| text(used, &model)),
            _ => find(used, &words),
        };
        if let Some(values) = found {
            unified.attributes.insert(used.attribute().id().to_owned(), values);
        }
    }
}

/// The maker by its name or one of its product lines: "iPhone 12".
fn maker(makers: &BTreeMap<String, &'static str>, words: &[&str]) -> Option<Vec<OwnedValue>> {
    let known = |run: &[&str]| makers.get(&normalise(&run.join(" "))).map(|maker| vec![(*maker).into()]);
    words.windows(2).find_map(known).or_else(|| words.chunks(1).find_map(known))
}

/// Without a model in the feed, the title is the model.
fn text(used: Use<'_>, text: &str) -> Option<Vec<OwnedValue>> {
    let Kind::Text { max_length, .. } = used.kind() else { return None };
    used.read(truncate(text.trim(), *max_length as usize).trim_end()).ok()
}

/// "Продам Volvo V90 2018": "V90".
fn words_after_make(category: Category<'_>, words: &[&str]) -> Option<String> {
    let make = ["car-make", "moto-make", "truck-make"].iter().find_map(|id| category.attribute(id))?;
    let at = words.iter().position(|word| make.find_choice(word).is_some())?;
    let model = words.get(at + 1).filter(|word| year(&[word]).is_none())?;
    Some((*model).to_owned())
}

fn find(used: Use<'_>, words: &[&str]) -> Option<Vec<OwnedValue>> {
    match used.kind() {
        Kind::One => choice(used, words),
        Kind::Whole { .. } | Kind::Decimal { .. } if used.attribute().unit().is_some() => {
            measure(used, words)
        }
        Kind::Whole { .. } if used.attribute().id() == "year" => year(words),
        _ => None,
    }
}

/// The choice with a name in the title, longer names first.
fn choice(used: Use<'_>, words: &[&str]) -> Option<Vec<OwnedValue>> {
    let mut text = String::new();
    for length in (1..=CHOICE_WORDS_MAX).rev() {
        for run in words.windows(length) {
            text.clear();
            for word in run {
                text.extend([word, " "]);
            }
            // A bare number may count anything.
            let has_letters = text.chars().any(char::is_alphabetic);
            if let Some(choice) = used.find_choice(text.trim_end()).filter(|_| has_letters) {
                return Some(vec![choice.id().into()]);
            }
        }
    }
    None
}

/// A number with a unit of the attribute's quantity: "54 м²", "95 000 км".
fn measure(used: Use<'_>, words: &[&str]) -> Option<Vec<OwnedValue>> {
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let mut position = 0;
    while position < words.len() {
        let run = words[position..].iter().take_while(|word| is_number(word)).count();
        // The unit is in the last number itself or in the next word.
        for end in [position + run, position + run + 1] {
            if run > 0 && end <= words.len() {
                let text = words[position..end].join(" ");
                if let Ok(values) = used.read(&text)
                    && text.chars().any(char::is_alphabetic)
                {
                    return Some(values);
                }
            }
        }
        position += run.max(1);
    }
    None
}

fn year(words: &[&str]) -> Option<Vec<OwnedValue>> {
    let year = |word: &&str| word.parse().ok().filter(|year| word.len() == 4 && YEARS.contains(year));
    words.iter().find_map(year).map(|year| vec![OwnedValue::Whole(year)])
}
