//! A guess by single words, if nothing has the name.

use std::collections::BTreeMap;

use crate::catalogue::Catalogue;
use crate::limits::CANDIDATES_MAX;
use crate::text::{is_filler, normalise, stem};

use super::index::SearchIndex;
use super::{Reason, Scores};

const POINTS_WORDS: u32 = 600;
/// Words of more categories are too common.
const COMMON: usize = 2_000;
/// Longer texts are truncated.
const WORDS_MAX: usize = 24;

/// Scores categories by shared words: rare words weigh more, and so do names that the text covers
/// fully.
pub(crate) fn score(catalogue: &Catalogue, index: &SearchIndex, text: &str, scores: &mut Scores) {
    let normal = normalise(text);
    let words: Vec<&str> =
        normal.split(' ').filter(|word| !word.is_empty() && !is_filler(word)).take(WORDS_MAX).collect();
    let mut weights: BTreeMap<u32, u32> = BTreeMap::new();
    let mut total = 0;
    for word in &words {
        let having = index.with_word(word);
        let weight = weight(catalogue.len(), having.len());
        total += weight;
        if having.len() <= COMMON {
            for (_, category) in having {
                *weights.entry(*category).or_default() += weight;
            }
        }
    }
    let mut best: Vec<(u32, u32)> =
        weights.into_iter().map(|(category, weight)| (weight, category)).collect();
    best.sort_unstable_by_key(|(weight, category)| (std::cmp::Reverse(*weight), *category));
    let stems: Vec<&str> = words.iter().map(|word| stem(word)).collect();
    for (weight, category) in best.into_iter().take(CANDIDATES_MAX * 4) {
        let share = covered(catalogue, category, &stems);
        let points = POINTS_WORDS * weight / total.max(1) * (50 + share / 2) / 100;
        super::score(scores, category, points as u16, Reason::Words);
    }
}

/// Twice the binary logarithm of the rarity, at least 1.
fn weight(categories: usize, having: usize) -> u32 {
    let rarity = categories.max(1) / having.max(1);
    (2 * rarity.max(1).ilog2()).max(1)
}

/// The share of a name's words in the text, in percent, for the best name.
fn covered(catalogue: &Catalogue, category: u32, stems: &[&str]) -> u32 {
    let category = catalogue.at(category);
    let names = (0..catalogue.languages.len()).map(|language| category.name_in(language));
    let share = |name: &str| {
        let normal = normalise(name);
        let words: Vec<&str> = normal.split(' ').filter(|word| !is_filler(word)).collect();
        let hits = words.iter().filter(|word| stems.contains(&stem(word))).count();
        (hits * 100 / words.len().max(1)) as u32
    };
    names.chain(category.synonym_texts().map(|(_, name)| name)).map(share).max().unwrap_or_default()
}
