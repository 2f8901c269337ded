//! Scores categories by the names whose words a text has.

use crate::index::Index;
use crate::words::Words;

/// The minimal share of a name's weight in the text.
const COVERED_LEAST: f32 = 0.45;
const COVERED_LEAST_BY_NAME: f32 = 0.25;
/// The rarity of words that no name has.
const RARITY_UNKNOWN: f32 = 8.0;
/// For a name with all its words in the text.
const POINTS_WHOLE: f32 = 1.0;
/// For each further word of such a name.
const POINTS_WHOLE_BY_WORD: f32 = 1.5;
const FACTOR_WHOLE: f32 = 1.25;
/// For a part of a path whose words the name has, with others.
const FACTOR_SPECIAL: f32 = 0.5;
/// For a part of a path that equals the name.
const FACTOR_EXACT: f32 = 1.3;
/// For a word that an alias stands for.
const WEIGHT_ALIAS: f32 = 0.9;

/// Categories with their scores, sorted.
pub(crate) type Evidence = Vec<(u32, f32)>;

/// Buffers for one thread, sized by the index and cleared after every use.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// By label: the sum of rarity times weight of matching words, and of their rarity.
    labels: Vec<(f32, f32)>,
    touched: Vec<u32>,
    /// By category.
    categories: Vec<f32>,
    found: Vec<u32>,
}

impl Scratch {
    pub(crate) fn new(index: &Index) -> Self {
        Self {
            labels: vec![(0.0, 0.0); index.labels.len()],
            touched: Vec::new(),
            categories: vec![0.0; index.nodes.len()],
            found: Vec::new(),
        }
    }
}

/// Whether a text is a name or only contains one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// A part of a path: other words count against the name.
    Name,
    Title,
}

pub(crate) fn weigh(index: &Index, words: &Words, kind: TextKind, scratch: &mut Scratch) -> Evidence {
    let mut total = 0.0;
    let mut known: smallvec::SmallVec<[(u32, f32); 24]> = smallvec::SmallVec::new();
    for word in words {
        let number = index.word(word.stem);
        total += number.map_or(RARITY_UNKNOWN, |number| index.rarity[number as usize]);
        known.extend(number.map(|number| (number, word.weight)));
        for meant in index.alias(word.stem) {
            known.extend(index.word(meant).map(|number| (number, word.weight * WEIGHT_ALIAS)));
        }
    }
    known.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    known.dedup_by_key(|(number, _)| *number);
    for (number, weight) in known {
        let rarity = index.rarity[number as usize];
        for label in index.labels_with(number) {
            let sums = &mut scratch.labels[*label as usize];
            if sums.1 == 0.0 {
                scratch.touched.push(*label);
            }
            sums.0 += rarity * weight;
            sums.1 += rarity;
        }
    }
    gather(index, total, kind, scratch)
}

/// Turns the sums of labels into scores of categories and clears the buffers.
fn gather(index: &Index, total: f32, kind: TextKind, scratch: &mut Scratch) -> Evidence {
    for number in scratch.touched.drain(..) {
        let (matched, rarity) = std::mem::take(&mut scratch.labels[number as usize]);
        let label = index.labels[number as usize];
        let covered = rarity / label.weight;
        let least = if kind == TextKind::Name { COVERED_LEAST_BY_NAME } else { COVERED_LEAST };
        if covered < least {
            continue;
        }
        let bonus = POINTS_WHOLE + POINTS_WHOLE_BY_WORD * f32::from(label.words - 1);
        let is_whole = covered > 0.999;
        let mut points = if is_whole {
            matched * FACTOR_WHOLE + bonus * matched / rarity
        } else {
            matched * covered.powi(3)
        };
        if kind == TextKind::Name {
            let explained = (rarity / total.max(0.1)).min(1.0);
            points = match (is_whole, explained > 0.999) {
                (true, true) => points * FACTOR_EXACT,
                // The name is more special than the text.
                (false, true) => points.max(matched * FACTOR_SPECIAL),
                _ => points * (0.4 + 0.6 * explained),
            };
        }
        let best = &mut scratch.categories[label.category as usize];
        if *best == 0.0 {
            scratch.found.push(label.category);
        }
        *best = best.max(points * label.factor);
    }
    let mut evidence: Evidence = scratch
        .found
        .drain(..)
        .map(|category| (category, std::mem::take(&mut scratch.categories[category as usize])))
        .collect();
    evidence.sort_unstable_by_key(|(category, _)| *category);
    evidence
}

/// The score of one category.
pub(crate) fn of(evidence: &Evidence, category: u32) -> f32 {
    evidence.binary_search_by_key(&category, |(known, _)| *known).map_or(0.0, |position| evidence[position].1)
}

/// Merges the scores of another text, the greater of both.
pub(crate) fn join(evidence: &mut Evidence, other: &Evidence, factor: f32) {
    evidence.extend(other.iter().map(|(category, points)| (*category, points * factor)));
    evidence.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    evidence.dedup_by_key(|(category, _)| *category);
}
