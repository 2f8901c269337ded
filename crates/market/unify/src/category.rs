//! Chooses the category of an offer by the feed's category, the title and the description.

use smallvec::SmallVec;

use crate::evidence::{Evidence, Scratch, TextKind, of, weigh};
use crate::index::Index;
use crate::limits::CANDIDATES_MAX;
use crate::output::Reason;
use crate::path::PathEvidence;
use crate::words::{Word, Words, of_title, push};

/// For a category near one of the feed's path.
const FACTOR_NEAR: f32 = 0.5;
/// For a category of the path with children: the title may mean one of them or a neighbour.
const FACTOR_INNER: f32 = 0.85;
/// For a category below one of the path.
const FACTOR_BELOW: f32 = 0.95;
/// For words of ancestors in the text.
const FACTOR_ABOVE: f32 = 0.3;
const POINTS_ABOVE_MAX: f32 = 6.0;
/// For each level: of equal names the broader category is meant.
const COST_DEPTH: f32 = 0.2;
/// An accessory, if the text does not say so.
const COST_ACCESSORY: f32 = 2.0;
/// No accessory, if the text says so.
const COST_NO_ACCESSORY: f32 = 1.0;
/// For sale although the text says rent, or an item although it says service.
const COST_OTHER_INTENT: f32 = 2.5;
/// Evidence below this share of the best is ignored.
const SHARE_LEAST: f32 = 0.3;
/// Below this nothing is recognised.
const POINTS_LEAST: f32 = 5.0;
/// Below this the description is read too.
const POINTS_SURE: f32 = 7.0;
/// A second category within this share of the best is equally likely.
const SHARE_AMBIGUOUS: f32 = 0.06;
/// Points at a confidence of two thirds.
const POINTS_SCALE: f32 = 11.0;
/// For words of a description; less if the title has evidence.
const WEIGHT_DESCRIPTION: f32 = 0.4;
const WEIGHT_DESCRIPTION_ALONE: f32 = 0.9;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) best: u32,
    pub(crate) points: u16,
    pub(crate) second: Option<(u32, u16)>,
    pub(crate) reason: Reason,
    pub(crate) is_ambiguous: bool,
}

/// No category that accepts offers was recognised; `inner` is one that does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unrecognised {
    pub(crate) inner: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    category: u32,
    by_path: f32,
    total: f32,
}

pub(crate) struct Texts<'t> {
    pub(crate) title: &'t str,
    /// Words of parameters that describe the kind of the item.
    pub(crate) kind: &'t Words,
    pub(crate) description: &'t str,
}

pub(crate) fn decide(
    index: &Index,
    path: &PathEvidence,
    texts: &Texts<'_>,
    scratch: &mut Scratch,
) -> Result<Verdict, Unrecognised> {
    let mut words = of_title(texts.title);
    texts.kind.iter().for_each(|word| push(&mut words, *word));
    let told: SmallVec<[u32; 24]> = words.iter().filter_map(|word| index.word(word.stem)).collect();
    let has_title = !words.is_empty();
    path.words.iter().for_each(|word| push(&mut words, *word));
    let by_title = if has_title { weigh(index, &words, TextKind::Title, scratch) } else { Evidence::new() };
    let candidates = compare(index, path, &by_title, &words);
    let verdict = judge(index, path, &candidates, &told, false);
    if texts.description.is_empty() || verdict.is_ok_and(|verdict| verdict.points >= points(POINTS_SURE)) {
        return verdict;
    }
    let factor = if verdict.is_err() { WEIGHT_DESCRIPTION_ALONE } else { WEIGHT_DESCRIPTION };
    for word in of_title(texts.description) {
        push(&mut words, Word { stem: word.stem, weight: word.weight * factor });
    }
    let by_title = weigh(index, &words, TextKind::Title, scratch);
    let candidates = compare(index, path, &by_title, &words);
    judge(index, path, &candidates, &told, verdict.is_err())
}

/// The most likely categories, the best first.
fn compare(
    index: &Index,
    path: &PathEvidence,
    by_title: &Evidence,
    words: &Words,
) -> SmallVec<[Candidate; CANDIDATES_MAX]> {
    let mut candidates: Vec<Candidate> = Vec::with_capacity(by_title.len() + path.top.len());
    let mut add = |category: u32, points: f32| {
        let by_path = near(index, path, category);
        candidates.push(Candidate { category, by_path, total: by_path + points });
    };
    let greatest = |evidence: &Evidence| evidence.iter().map(|(_, points)| *points).fold(0.0, f32::max);
    let least = SHARE_LEAST * greatest(by_title);
    let least_by_path = SHARE_LEAST * greatest(&path.evidence);
    let told = by_title
        .iter()
        .filter(|(category, points)| *points >= least || of(&path.evidence, *category) > least_by_path);
    told.for_each(|(category, points)| add(*category, *points));
    let named = path.evidence.iter().filter(|(_, points)| *points >= least_by_path);
    named
        .filter(|(category, _)| of(by_title, *category) == 0.0)
        .for_each(|(category, _)| add(*category, 0.0));
    let best_first =
        |a: &Candidate, b: &Candidate| b.total.total_cmp(&a.total).then(a.category.cmp(&b.category));
    candidates.sort_unstable_by(best_first);
    candidates.truncate(CANDIDATES_MAX);
    let known: SmallVec<[(u32, f32); 32]> =
        words.iter().filter_map(|word| index.word(word.stem).map(|number| (number, word.weight))).collect();
    let intents: SmallVec<[(u32, u32); 6]> = index.intents_of(words).collect();
    let says_accessory = words.iter().any(|word| index.accessory_words.contains(&word.stem));
    for candidate in &mut candidates {
        candidate.total -= cost_of_kind(index, candidate.category, says_accessory, &intents);
        let above = above(index, candidate.category, &known);
        candidate.total += above;
        let is_told =
            |branch: &crate::tables::Branch| words.iter().any(|word| branch.words.contains(&word.stem));
        let branch = index.branch(candidate.category).filter(|branch| above == 0.0 && !is_told(branch));
        candidate.total -= branch.map_or(0.0, |branch| branch.cost);
        candidate.total -= COST_DEPTH * f32::from(index.nodes[candidate.category as usize].depth);
    }
    candidates.sort_unstable_by(best_first);
    candidates.into_iter().collect()
}

/// The cost of another kind than the text says: an item or its accessory, for sale or for rent, or
/// a service.
fn cost_of_kind(index: &Index, category: u32, says_accessory: bool, intents: &[(u32, u32)]) -> f32 {
    let node = &index.nodes[category as usize];
    let is_accessory = node.is_accessory || node.id.starts_with("transport/parts");
    let accessory = match (says_accessory, is_accessory) {
        (false, true) if node.is_accessory => COST_ACCESSORY,
        (true, false) => COST_NO_ACCESSORY,
        _ => 0.0,
    };
    let fits = |(word, branch): &(u32, u32)| {
        index.upwards(category).any(|above| above == *branch || index.stems_of(above).contains(word))
    };
    accessory + if intents.iter().all(fits) { 0.0 } else { COST_OTHER_INTENT }
}

/// The evidence of the feed's path for a category itself or near those of the path.
fn near(index: &Index, path: &PathEvidence, category: u32) -> f32 {
    let is_inner = index.nodes[category as usize].has_children;
    let mut best = of(&path.evidence, category) * if is_inner { FACTOR_INNER } else { 1.0 };
    for (pillar, points) in &path.top {
        let common = f32::from(index.common(category, *pillar));
        let share = common / f32::from(index.nodes[*pillar as usize].depth + 1);
        let factor = if share >= 1.0 { FACTOR_BELOW } else { FACTOR_NEAR };
        best = best.max(factor * points * share);
    }
    best
}

/// The evidence of words of the ancestors in the text.
fn above(index: &Index, category: u32, known: &[(u32, f32)]) -> f32 {
    let mut seen: SmallVec<[u32; 16]> = SmallVec::from_slice(index.stems_of(category));
    let mut points = 0.0;
    for parent in index.upwards(category).skip(1) {
        for stem in index.stems_of(parent) {
            let weight = known.iter().find(|(number, _)| number == stem).map(|(_, weight)| *weight);
            if let Some(weight) = weight.filter(|_| !seen.contains(stem)) {
                points += index.rarity[*stem as usize] * weight;
                seen.push(*stem);
            }
        }
    }
    (FACTOR_ABOVE * points).min(POINTS_ABOVE_MAX)
}

fn judge(
    index: &Index,
    path: &PathEvidence,
    candidates: &[Candidate],
    told: &[u32],
    by_description: bool,
) -> Result<Verdict, Unrecognised> {
    let open = |candidate: &&Candidate| index.nodes[candidate.category as usize].accepts_offers;
    let mut ranked = candidates.iter().filter(open);
    let first = candidates.first().filter(|first| first.total >= POINTS_LEAST);
    let inner = first.filter(|first| !open(first)).map(|first| first.category);
    let Some(best) = ranked.next().filter(|best| best.total >= POINTS_LEAST) else {
        return other_below(index, inner).ok_or(Unrecognised { inner });
    };
    let second = ranked.next();
    let is_ambiguous = second.is_some_and(|second| {
        let is_within = |a: u32, b: u32| index.upwards(a).any(|above| above == b);
        best.total - second.total < SHARE_AMBIGUOUS * best.total
            && !is_within(best.category, second.category)
            && !is_within(second.category, best.category)
    });
    Ok(Verdict {
        best: best.category,
        points: points(best.total),
        second: second.map(|second| (second.category, points(second.total))),
        reason: reason(index, path, best, told, by_description),
        is_ambiguous,
    })
}

/// The category `other` below one that accepts no offers: a guess with low confidence.
fn other_below(index: &Index, inner: Option<u32>) -> Option<Verdict> {
    let best = index.node(&format!("{}/other", index.nodes[inner? as usize].id))?;
    let takes_offers = index.nodes[best as usize].accepts_offers;
    let points = points(POINTS_LEAST);
    let second = inner.map(|inner| (inner, points));
    takes_offers.then_some(Verdict { best, points, second, reason: Reason::Path, is_ambiguous: true })
}

fn reason(
    index: &Index,
    path: &PathEvidence,
    best: &Candidate,
    told: &[u32],
    by_description: bool,
) -> Reason {
    let by_title = index.stems_of(best.category).iter().any(|stem| told.contains(stem));
    match (path.by_id, best.by_path > 0.0, by_title) {
        (Some(id), ..) if id == best.category => Reason::Id,
        _ if by_description => Reason::Description,
        (_, true, _) if path.by_google && path.top.first().is_some_and(|first| first.0 == best.category) => {
            Reason::Google
        }
        (_, true, true) => Reason::PathAndTitle,
        (_, true, false) => Reason::Path,
        (_, false, _) => Reason::Title,
    }
}

/// The confidence from 0 to 1000.
fn points(total: f32) -> u16 {
    (1000.0 * (1.0 - (-total.max(0.0) / POINTS_SCALE).exp())) as u16
}
