//! An index of names as sorted hashes of whole names and of their stems, without text.

use xxhash_rust::xxh3::xxh3_64;

use crate::text::{Word, stem, stem_without_vowel, words};

/// The kind of a name, the most reliable first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameKind {
    Name,
    Other,
    /// In any grammatical case.
    Stem,
}

/// Equal hashes of 64 bits count as equal names: with 400 thousand names a collision is less likely
/// than a misprint.
#[derive(Debug)]
pub(crate) struct Names {
    hashes: Vec<u64>,
    places: Vec<(u32, NameKind)>,
}

#[derive(Default)]
pub(crate) struct NamesBuilder {
    entries: Vec<(u64, u32, NameKind)>,
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
        let kind = if is_first { NameKind::Name } else { NameKind::Other };
        self.entries.push((hash(&words), place, kind));
        if words.iter().any(|word| !word.text.is_ascii()) {
            self.entries.push((hash_of_stems(&words), place, NameKind::Stem));
        }
        if let ([word], true) = (&words[..], words.len() == 1)
            && let Some(declined) = stem_without_vowel(&word.text)
        {
            self.entries.push((seal(declined.bytes(), STEMS), place, NameKind::Stem));
        }
    }

    pub(crate) fn build(mut self) -> Names {
        self.entries.sort_unstable();
        // The most reliable kind of a name stays.
        self.entries.dedup_by_key(|entry| (entry.0, entry.1));
        Names {
            hashes: self.entries.iter().map(|entry| entry.0).collect(),
            places: self.entries.iter().map(|entry| (entry.1, entry.2)).collect(),
        }
    }
}

impl Names {
    /// The places with this name.
    pub(crate) fn called(&self, hash: u64) -> &[(u32, NameKind)] {
        let start = self.hashes.partition_point(|known| *known < hash);
        let count = self.hashes[start..].iter().take_while(|known| **known == hash).count();
        &self.places[start..start + count]
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.hashes.len() * (size_of::<u64>() + size_of::<(u32, NameKind)>())
    }
}

const WHOLE: u8 = 0;
const STEMS: u8 = 1;

fn seal(bytes: impl Iterator<Item = u8>, kind: u8) -> u64 {
    let joined: smallvec::SmallVec<[u8; 96]> = std::iter::once(kind).chain(bytes).collect();
    xxh3_64(&joined)
}

pub(crate) fn hash(words: &[Word]) -> u64 {
    seal(joined(words.iter().map(|word| word.text.as_str())), WHOLE)
}

pub(crate) fn hash_of_stems(words: &[Word]) -> u64 {
    seal(joined(words.iter().map(|word| stem(&word.text))), STEMS)
}

fn joined<'a>(words: impl Iterator<Item = &'a str>) -> impl Iterator<Item = u8> {
    words.enumerate().flat_map(|(number, word)| (number > 0).then_some(b' ').into_iter().chain(word.bytes()))
}
