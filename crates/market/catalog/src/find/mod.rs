//! Recognises a category by its id, path, name, synonym or words of its name.

mod index;
mod path;
mod words;

use std::collections::BTreeMap;

use crate::catalogue::{Catalogue, Category};
use crate::declared::EVERY_LANGUAGE;
use crate::limits::{CANDIDATES_MAX, QUERY_CHARS_MAX};
use crate::text::normalise;

pub(crate) use index::SearchIndex;
use index::Source;

/// Why a category was recognised, the most reliable first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The text is the id.
    Id,
    /// The text is the full path.
    Path,
    /// The text is a path that ends in the name, with some of the ancestors.
    PartOfPath,
    /// The text is the name.
    Name,
    Synonym,
    /// The text has the words of a name or synonym in another number, case or order.
    Similar,
    /// The text shares words with the name.
    Words,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate<'c> {
    pub category: Category<'c>,
    pub reason: Reason,
    /// Confidence from 0 to 1000. From 650 on the text names the category; below it is a guess.
    pub points: u16,
}

const POINTS_ID: u16 = 1000;
const POINTS_NAME: u16 = 800;
const POINTS_SYNONYM: u16 = 780;
const POINTS_SIMILAR: u16 = 700;
/// For a name in another language than the requested one.
const COST_LANGUAGE: u16 = 20;
/// For a closed branch.
const COST_CLOSED: u16 = 45;

pub(crate) type Scores = BTreeMap<u32, (u16, Reason)>;

pub(crate) fn score(scores: &mut Scores, category: u32, points: u16, reason: Reason) {
    let best = scores.entry(category).or_insert((points, reason));
    if points > best.0 {
        *best = (points, reason);
    }
}

impl Catalogue {
    /// The categories that `text` may mean, the most likely first, at most [`CANDIDATES_MAX`].
    /// Case, punctuation and `ё`/`е` do not matter. Parts of a path may be separated by `>`, `|`,
    /// `/`, `\`, `»`, `→` or `:`. Names in `language` are preferred. Among equals those that accept
    /// offers come first, then those nearer to the root.
    ///
    /// The first call builds an index of all names: see [`prepare_search`](Self::prepare_search).
    #[must_use]
    pub fn find_category(&self, text: &str, language: Option<&str>) -> Vec<Candidate<'_>> {
        let text = text::head(text, QUERY_CHARS_MAX).trim();
        let mut scores = Scores::new();
        if let Some(category) = self.category(text) {
            score(&mut scores, category.number, POINTS_ID, Reason::Id);
        }
        let index = self.search_index();
        let language = language.map(|code| self.language(code) as u8);
        score_names(index, text, language, 0, &mut scores);
        path::score(self, index, text, language, &mut scores);
        if scores.is_empty() {
            words::score(self, index, text, &mut scores);
        }
        self.rank(scores)
    }

    /// Builds the index of [`find_category`](Self::find_category) ahead of its first call.
    pub fn prepare_search(&self) {
        self.search_index();
    }

    pub(crate) fn search_index(&self) -> &SearchIndex {
        self.search.get_or_init(|| SearchIndex::new(self))
    }

    fn rank(&self, scores: Scores) -> Vec<Candidate<'_>> {
        let mut candidates: Vec<Candidate<'_>> = scores
            .into_iter()
            .map(|(number, (points, reason))| {
                let category = self.at(number);
                let cost = if category.is_closed() && reason != Reason::Id { COST_CLOSED } else { 0 };
                Candidate { category, reason, points: points.saturating_sub(cost) }
            })
            .collect();
        candidates.sort_by_key(|candidate| {
            let category = candidate.category;
            (
                std::cmp::Reverse(candidate.points),
                !category.accepts_offers(),
                category.depth(),
                category.number,
            )
        });
        candidates.truncate(CANDIDATES_MAX);
        candidates
    }
}

/// Scores the categories that are named `text`.
fn score_names(index: &SearchIndex, text: &str, language: Option<u8>, cost: u16, scores: &mut Scores) {
    let wanted = normalise(text);
    if wanted.is_empty() {
        return;
    }
    for entry in index.named(&wanted) {
        let (points, reason) = match entry.source {
            Source::Name => (POINTS_NAME, Reason::Name),
            Source::Synonym => (POINTS_SYNONYM, Reason::Synonym),
            Source::Stems => continue,
        };
        score(scores, entry.category, points - cost - language_cost(entry.language, language), reason);
    }
    for entry in index.similar(&wanted) {
        let points = POINTS_SIMILAR - cost - language_cost(entry.language, language);
        score(scores, entry.category, points, Reason::Similar);
    }
}

fn language_cost(found: u8, wanted: Option<u8>) -> u16 {
    match wanted {
        Some(wanted) if found != wanted && found != EVERY_LANGUAGE => COST_LANGUAGE,
        _ => 0,
    }
}
