//! Splits an address into runs of words that may name a place, a region or a country.

use smallvec::SmallVec;

use crate::limits::{ADDRESS_CHARS_MAX, ADDRESS_WORDS_MAX, NAME_WORDS_MAX};
use crate::regions::is_marker;
use crate::text::{Word, stem, words};

/// Consecutive words that may be a name.
pub(crate) struct Run<'w> {
    pub(crate) words: &'w [Word],
    /// Fills its whole part of the address.
    pub(crate) is_whole: bool,
    /// Preceded by a word such as "city".
    pub(crate) is_called_city: bool,
}

/// The part of an address between commas.
pub(crate) type Part = SmallVec<[Word; 8]>;

pub(crate) fn parts(text: &str) -> SmallVec<[Part; 6]> {
    let mut left = ADDRESS_WORDS_MAX;
    let mut parts = SmallVec::new();
    for part in text::head(text, ADDRESS_CHARS_MAX).split([',', ';', '(', ')', '\n', '|', '/', '>', '•', '—'])
    {
        let mut words = words(part);
        words.truncate(left);
        left -= words.len();
        if !words.is_empty() {
            parts.push(words);
        }
    }
    parts
}

/// Calls `visit` for every run of words of a part that may be a name, the longer ones first.
pub(crate) fn each_run(part: &[Word], mut visit: impl FnMut(Run<'_>)) {
    let street = part.iter().position(|word| is_of_street(&word.text));
    let start = part.iter().take_while(|word| is_preposition(&word.text)).count();
    // Before a street word only the beginning may be a place, and not the last word unless a name
    // follows.
    let end = street.map_or(part.len(), |street| {
        let stands_before = part.get(street + 1).is_some_and(|next| !is_number(next));
        if stands_before { street } else { street.saturating_sub(1) }
    });
    if street.is_some() && part.len() <= NAME_WORDS_MAX {
        // "Sita Road" is a town.
        visit(Run { words: part, is_whole: true, is_called_city: false });
    }
    for length in (1..=NAME_WORDS_MAX).rev() {
        for first in start..end {
            let last = first + length;
            if last > end || (street.is_some() && first > start + 1) {
                break;
            }
            let run = &part[first..last];
            if (length == 1 && is_number(&run[0])) || is_of_city(&run[0].text) || is_preposition(&run[0].text)
            {
                continue;
            }
            let before = first.checked_sub(1).map(|before| &part[before].text);
            let is_called_city = before.is_some_and(|word| is_of_city(word));
            let is_more = part[..first].iter().chain(&part[last..]).any(|word| !is_filler(word));
            visit(Run { words: run, is_whole: !is_more, is_called_city });
        }
    }
}

fn is_filler(word: &Word) -> bool {
    is_number(word) || is_of_city(&word.text) || is_preposition(&word.text)
}

fn is_number(word: &Word) -> bool {
    word.text.starts_with(|c: char| c.is_ascii_digit())
}

fn is_preposition(word: &str) -> bool {
    matches!(word, "в" | "во" | "из" | "под" | "около" | "in" | "near" | "from")
}

/// "г. Москва", "city of Bath".
fn is_of_city(word: &str) -> bool {
    matches!(
        word,
        "г" | "гор"
            | "город"
            | "городе"
            | "города"
            | "пгт"
            | "пос"
            | "поселок"
            | "село"
            | "city"
            | "town"
            | "stadt"
    )
}

fn is_of_street(word: &str) -> bool {
    matches!(
        word,
        "ул" | "улица"
            | "улице"
            | "пр"
            | "просп"
            | "проспект"
            | "проспекте"
            | "пер"
            | "переулок"
            | "шоссе"
            | "ш"
            | "бульвар"
            | "бул"
            | "б-р"
            | "набережная"
            | "наб"
            | "площадь"
            | "пл"
            | "проезд"
            | "пр-т"
            | "пр-кт"
            | "тракт"
            | "мкр"
            | "микрорайон"
            | "дом"
            | "д"
            | "корпус"
            | "корп"
            | "стр"
            | "строение"
            | "кв"
            | "офис"
            | "метро"
            | "м"
            | "ст"
            | "тц"
            | "трц"
            | "снт"
            | "район"
            | "р-н"
            | "street"
            | "road"
            | "rd"
            | "avenue"
            | "ave"
            | "boulevard"
            | "blvd"
            | "lane"
            | "drive"
            | "square"
            | "strasse"
            | "rue"
            | "via"
            | "ulica"
            | "ul"
    )
}

/// Single words that are no places although some place has that name.
pub(crate) fn is_too_common(words: &[Word]) -> bool {
    match words {
        [word] => {
            let short = word.text.chars().count() < 3;
            short
                || is_marker(&word.text)
                || matches!(stem(&word.text), "центр" | "центральн" | "center" | "centre" | "north" | "south")
        }
        _ => false,
    }
}
