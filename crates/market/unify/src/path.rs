//! Scores categories by the feed's category. Computed once for each category of a feed.

use crate::evidence::{Evidence, Scratch, TextKind, join, weigh};
use crate::index::{Index, NOTHING};
use crate::input::Input;
use crate::limits::{PATH_PART_CHARS_MAX, PATH_PARTS_MAX};
use crate::tables::Google;
use crate::unifier::truncate;
use crate::words::{Word, Words, of_name, push};

/// For the last part of a path and for the parts above it.
const FACTORS: [f32; 4] = [1.0, 0.55, 0.35, 0.25];
/// For a part that lists several things, and for each of them.
const FACTOR_LIST: f32 = 0.8;
const AND: [&str; 3] = [" и ", " & ", " and "];
/// For a path that is a name as a whole: "Квартиры > Аренда".
const FACTOR_WHOLE_PATH: f32 = 0.9;
/// For an id of our own catalogue; exceeds everything else.
const POINTS_ID: f32 = 60.0;
/// The limit for names of a path.
const POINTS_NAMES_MAX: f32 = 10.0;
const POINTS_GOOGLE: f32 = 12.0;
const POINTS_GOOGLE_ROOT: f32 = 6.0;
/// For words of a path beside those of the title.
const WEIGHT_BESIDE_TITLE: f32 = 0.2;
/// The most likely categories of a path, to which others are compared.
const TOP_MAX: usize = 4;

#[derive(Debug, Default, Clone)]
pub(crate) struct PathEvidence {
    pub(crate) evidence: Evidence,
    /// The most likely categories, the best first.
    pub(crate) top: Vec<(u32, f32)>,
    /// The words of all parts, added to those of the title.
    pub(crate) words: Words,
    /// The category whose id the feed gives.
    pub(crate) by_id: Option<u32>,
    /// Whether the feed gives a known category of Google.
    pub(crate) by_google: bool,
}

pub(crate) fn read(index: &Index, google: &Google, input: &Input<'_>, scratch: &mut Scratch) -> PathEvidence {
    let mut found = PathEvidence::default();
    let parts: Vec<&str> = parts(input).collect();
    for (position, part) in parts.iter().rev().enumerate() {
        let words = of_name(part);
        let factor = FACTORS[position.min(FACTORS.len() - 1)];
        let whole = if part.contains(',') { FACTOR_LIST } else { 1.0 };
        join(&mut found.evidence, &weigh(index, &words, TextKind::Name, scratch), factor * whole);
        for item in items(part) {
            let evidence = weigh(index, &of_name(item), TextKind::Name, scratch);
            join(&mut found.evidence, &evidence, factor * FACTOR_LIST);
        }
        let weight = WEIGHT_BESIDE_TITLE * factor.max(0.5);
        words.iter().for_each(|word| push(&mut found.words, Word { stem: word.stem, weight }));
    }
    if parts.len() > 1 {
        let mut words = Words::new();
        parts.iter().flat_map(|part| of_name(part)).for_each(|word| push(&mut words, word));
        join(&mut found.evidence, &weigh(index, &words, TextKind::Name, scratch), FACTOR_WHOLE_PATH);
    }
    found.evidence.iter_mut().for_each(|(_, points)| *points = points.min(POINTS_NAMES_MAX));
    if let Some(category) = input.google.and_then(|text| google.find(text)) {
        let target = index.nodes[category as usize].target;
        let points =
            if index.nodes[category as usize].depth == 0 { POINTS_GOOGLE_ROOT } else { POINTS_GOOGLE };
        if target != NOTHING {
            join(&mut found.evidence, &vec![(target, points)], 1.0);
            found.by_google = true;
        }
    }
    if let Some(category) = input.category.and_then(|id| index.node(id.trim())) {
        found.by_id = Some(index.nodes[category as usize].target).filter(|target| *target != NOTHING);
        found.by_id.iter().for_each(|target| join(&mut found.evidence, &vec![(*target, POINTS_ID)], 1.0));
    }
    found.top.clone_from(&found.evidence);
    found.top.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.top.truncate(TOP_MAX);
    found
}

/// The items of a list: "Столы и стулья", "Шины, диски". None if the part is no list.
fn items(part: &str) -> impl Iterator<Item = &str> {
    let is_list = part.contains(',') || AND.iter().any(|and| part.contains(and));
    let items = part.split(',').flat_map(|item| item.split(" и ")).flat_map(|item| item.split(" & "));
    items.flat_map(|item| item.split(" and ")).filter(move |_| is_list)
}

/// The parts of the feed's category from the root down. Texts with separators are split.
fn parts<'i>(input: &Input<'i>) -> impl Iterator<Item = &'i str> {
    let skip = input.path.len().saturating_sub(PATH_PARTS_MAX);
    let own = input.category.into_iter().filter(|text| !text.contains('/') || text.contains(' '));
    let google = input.google.into_iter().filter(|text| text.contains('>'));
    let texts = input.path.iter().copied().skip(skip).chain(google).chain(own);
    texts
        .map(|text| truncate(text, PATH_PART_CHARS_MAX))
        .flat_map(|text| text.split(['>', '|', '»', '→', '\\']))
        .filter(|part| !part.trim().is_empty())
}
