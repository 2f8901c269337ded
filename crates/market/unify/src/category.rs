//! Which category an offer belongs to: what its feed's category, its title and its description say, weighed together.

use smallvec::SmallVec;

use crate::evidence::{Evidence, Scratch, Sort, of, weigh};
use crate::index::Index;
use crate::limits::CANDIDATES_MAX;
use crate::output::Reason;
use crate::path::PathEvidence;
use crate::words::{Word, Words, of_title, push};

/// What a category gets of the points of one in the feed's path that it stands near to.
const FACTOR_NEAR: f32 = 0.5;
/// What the feed's path is worth for a category that has others below it: the title may mean one of those, or a neighbour.
const FACTOR_INNER: f32 = 0.85;
/// What it gets if it stands below that one.
const FACTOR_BELOW: f32 = 0.95;
/// What the words of categories above it are worth, if the text has them.
const FACTOR_ABOVE: f32 = 0.3;
const POINTS_ABOVE_MAX: f32 = 6.0;
/// What each step down costs: of equal names the broader category is meant.
const COST_DEPTH: f32 = 0.2;
/// What it costs to be an accessory if the text does not say so.
const COST_ACCESSORY: f32 = 2.0;
/// What it costs to be none if the text says so.
const COST_NO_ACCESSORY: f32 = 1.0;
/// What it costs to be for sale if the text says rent, or a thing if it says service.
const COST_OTHER_INTENT: f32 = 2.5;
/// What says less than this share of what the best says is not looked at.
const SHARE_LEAST: f32 = 0.3;
/// Below this nothing was recognised.
const POINTS_LEAST: f32 = 5.0;
/// Below this the description is asked too.
const POINTS_SURE: f32 = 7.0;
/// A second one that is nearer than this share is as likely.
const SHARE_AMBIGUOUS: f32 = 0.06;
/// Points at which an answer is two thirds sure.
const POINTS_SCALE: f32 = 11.0;
/// What the words of a description weigh: less if the title says something.
const WEIGHT_DESCRIPTION: f32 = 0.4;
const WEIGHT_DESCRIPTION_ALONE: f32 = 0.9;

/// What came of weighing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) best: u32,
    pub(crate) points: u16,
    pub(crate) second: Option<(u32, u16)>,
    pub(crate) reason: Reason,
    pub(crate) is_ambiguous: bool,
}

/// Nothing that takes offers was recognised; perhaps something that does not.
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

/// What is weighed.
pub(crate) struct Texts<'t> {
    pub(crate) title: &'t str,
    /// Words of parameters that say what it is.
    pub(crate) told: &'t Words,
    pub(crate) description: &'t str,
}

pub(crate) fn decide(
    index: &Index,
    path: &PathEvidence,
    texts: &Texts<'_>,
    scratch: &mut Scratch,
) -> Result<Verdict, Unrecognised> {
    let mut words = of_title(texts.title);
    texts.told.iter().for_each(|word| push(&mut words, *word));
    let told: SmallVec<[u32; 24]> = words.iter().filter_map(|word| index.word(word.stem)).collect();
    let has_title = !words.is_empty();
    path.words.iter().for_each(|word| push(&mut words, *word));
    let by_title = if has_title { weigh(index, &words, Sort::Title, scratch) } else { Evidence::new() };
    let candidates = compare(index, path, &by_title, &words);
    let verdict = judge(index, path, &candidates, &told, false);
    if texts.description.is_empty() || verdict.is_ok_and(|verdict| verdict.points >= points(POINTS_SURE)) {
        return verdict;
    }
    let factor = if verdict.is_err() { WEIGHT_DESCRIPTION_ALONE } else { WEIGHT_DESCRIPTION };
    for word in of_title(texts.description) {
        push(&mut words, Word { stem: word.stem, weight: word.weight * factor });
    }
    let by_title = weigh(index, &words, Sort::Title, scratch);
    let candidates = compare(index, path, &by_title, &words);
    judge(index, path, &candidates, &told, verdict.is_err())
}

/// The likeliest categories, the best first.
fn compare(
    index: &Index,
    path: &PathEvidence,
    by_title: &Evidence,
    words: &Words,
) -> SmallVec<[Candidate; CANDIDATES_MAX]> {
    let mut candidates: Vec<Candidate> = Vec::with_capacity(by_title.len() + path.pillars.len());
    let mut add = |category: u32, points: f32| {
        let by_path = near(index, path, category);
        candidates.push(Candidate { category, by_path, total: by_path + points });
    };
    let greatest = |evidence: &Evidence| evidence.iter().map(|(_, points)| *points).fold(0.0, f32::max);
    let (least, least_by_path) = (SHARE_LEAST * greatest(by_title), SHARE_LEAST * greatest(&path.evidence));
    let told = by_title
        .iter()
        .filter(|(category, points)| *points >= least || of(&path.evidence, *category) > least_by_path);
    told.for_each(|(category, points)| add(*category, *points));
    let named = path.evidence.iter().filter(|(_, points)| *points >= least_by_path);
    named
        .filter(|(category, _)| of(by_title, *category) == 0.0)
        .for_each(|(category, _)| add(*category, 0.0));
    candidates.sort_unstable_by(|a, b| b.total.total_cmp(&a.total).then(a.category.cmp(&b.category)));
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
    candidates.sort_unstable_by(|a, b| b.total.total_cmp(&a.total).then(a.category.cmp(&b.category)));
    candidates.into_iter().collect()
}

/// What it costs to be another kind of thing than the text says: the thing itself or what belongs to it, for sale or for rent, or a service.
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

/// What the feed's path says for a category: that it is called so, or stands near what is called so.
fn near(index: &Index, path: &PathEvidence, category: u32) -> f32 {
    let is_inner = index.nodes[category as usize].has_children;
    let mut best = of(&path.evidence, category) * if is_inner { FACTOR_INNER } else { 1.0 };
    for (pillar, points) in &path.pillars {
        let common = f32::from(index.common(category, *pillar));
        let share = common / f32::from(index.nodes[*pillar as usize].depth + 1);
        let factor = if share >= 1.0 { FACTOR_BELOW } else { FACTOR_NEAR };
        best = best.max(factor * points * share);
    }
    best
}

/// What the categories above say, if the text has their words.
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

/// The category for what fits nowhere else below one that takes no offers: not sure at all, and marked as such.
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
        (_, true, _)
            if path.by_google && path.pillars.first().is_some_and(|first| first.0 == best.category) =>
        {
            Reason::Google
        }
        (_, true, true) => Reason::PathAndTitle,
        (_, true, false) => Reason::Path,
        (_, false, _) => Reason::Title,
    }
}

/// Points as others see them: from 0 to 1000.
fn points(total: f32) -> u16 {
    (1000.0 * (1.0 - (-total.max(0.0) / POINTS_SCALE).exp())) as u16
}
