//! The index of names: sorted hashes of whole names and of their stems, no text.

use xxhash_rust::xxh3::xxh3_64;

use crate::text::{Word, stem, stem_without_vowel, words};

/// How sure a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sort {
    /// Its first name.
    Name,
    /// Another name.
    Other,
    /// A name in another grammatical case.
    Stem,
}

/// Two hashes of 64 bits are taken as equal names: with 400 thousand names a false one is less likely than a misprint in them.
#[derive(Debug)]
pub(crate) struct Names {
    hashes: Vec<u64>,
    places: Vec<(u32, Sort)>,
}

#[derive(Default)]
pub(crate) struct NamesBuilder {
    entries: Vec<(u64, u32, Sort)>,
}

impl NamesBuilder {
    pub(crate) fn add(&mut self, place: u32, name: &str, is_first: bool) {
        // `LED` is an airport, and a lamp.
        let is_airport = name.len() == 3 && name.bytes().all(|b| b.is_ascii_uppercase());
        if !is_first && is_airport {
            return;
        }
        let words = words(name);
        if words.is_empty() {
            return;
        }
        let sort = if is_first { Sort::Name } else { Sort::Other };
        self.entries.push((hash(&words), place, sort));
        if words.iter().any(|word| !word.text.is_ascii()) {
            self.entries.push((hash_of_stems(&words), place, Sort::Stem));
        }
        if let ([word], true) = (&words[..], words.len() == 1)
            && let Some(declined) = stem_without_vowel(&word.text)
        {
            self.entries.push((seal(declined.bytes(), STEMS), place, Sort::Stem));
        }
    }

    pub(crate) fn build(mut self) -> Names {
        self.entries.sort_unstable();
        // Of several sorts of one name the surest stays.
        self.entries.dedup_by_key(|entry| (entry.0, entry.1));
        Names {
            hashes: self.entries.iter().map(|entry| entry.0).collect(),
            places: self.entries.iter().map(|entry| (entry.1, entry.2)).collect(),
        }
    }
}

impl Names {
    /// The places that are called so.
    pub(crate) fn called(&self, hash: u64) -> &[(u32, Sort)] {
        let start = self.hashes.partition_point(|known| *known < hash);
        let count = self.hashes[start..].iter().take_while(|known| **known == hash).count();
        &self.places[start..start + count]
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.hashes.len() * (size_of::<u64>() + size_of::<(u32, Sort)>())
    }
}

const WHOLE: u8 = 0;
const STEMS: u8 = 1;

fn seal(bytes: impl Iterator<Item = u8>, kind: u8) -> u64 {
    let joined: smallvec::SmallVec<[u8; 96]> = std::iter::once(kind).chain(bytes).collect();
    xxh3_64(&joined)
}

/// The hash of words as they are written.
pub(crate) fn hash(words: &[Word]) -> u64 {
    seal(joined(words.iter().map(|word| word.text.as_str())), WHOLE)
}

/// The hash of their stems.
pub(crate) fn hash_of_stems(words: &[Word]) -> u64 {
    seal(joined(words.iter().map(|word| stem(&word.text))), STEMS)
}

fn joined<'a>(words: impl Iterator<Item = &'a str>) -> impl Iterator<Item = u8> {
    words.enumerate().flat_map(|(number, word)| (number > 0).then_some(b' ').into_iter().chain(word.bytes()))
}
