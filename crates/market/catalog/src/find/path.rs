//! Recognises "Animals & Pet Supplies > Pet Supplies > Bird Supplies", in full or in part.

use crate::catalogue::{Catalogue, Category};
use crate::text::normalise;

use super::index::SearchIndex;
use super::{Reason, Scores};

/// The first separator in the text is used.
const SEPARATORS: [&str; 9] = [">", "→", "»", "|", "\\", " / ", ";", "/", ":"];

const POINTS_PATH: u16 = 980;
/// A path with only its last part known is worth less than a bare name; matching ancestors add.
const COST_LAST_PART: u16 = 40;
const POINTS_ANCESTORS: u16 = 160;
/// For each part after the last known one.
const COST_BY_PART_ABOVE: u16 = 150;
const PARTS_ABOVE_MAX: usize = 2;

pub(crate) fn score(
    catalogue: &Catalogue,
    index: &SearchIndex,
    text: &str,
    language: Option<u8>,
    scores: &mut Scores,
) {
    let Some(separator) = SEPARATORS.iter().find(|separator| text.contains(**separator)) else { return };
    let parts: Vec<&str> = text.split(separator).map(str::trim).filter(|part| !part.is_empty()).collect();
    for above in 0..parts.len().min(PARTS_ABOVE_MAX + 1) {
        let Some((last, before)) = parts[..parts.len() - above].split_last() else { return };
        if before.is_empty() && above == 0 {
            return;
        }
        let mut named = Scores::new();
        let cost = COST_LAST_PART + COST_BY_PART_ABOVE * above as u16;
        super::score_names(index, last, language, cost, &mut named);
        if named.is_empty() {
            continue;
        }
        let before: Vec<String> = before.iter().map(|part| normalise(part)).collect();
        for (number, (points, reason)) in named {
            let fit = fit(catalogue.at(number), &before);
            let exact = reason <= Reason::Synonym;
            let (points, reason) = if above == 0 && exact && fit.whole {
                (POINTS_PATH, Reason::Path)
            } else if fit.ancestors > 0 {
                let share = POINTS_ANCESTORS * fit.ancestors as u16 / before.len() as u16;
                (points + share, Reason::PartOfPath)
            } else {
                (points, if above == 0 { reason } else { Reason::PartOfPath })
            };
            super::score(scores, number, points, reason);
        }
        return;
    }
}

struct Fit {
    /// Parts that are names of ancestors in the right order.
    ancestors: usize,
    /// The parts are all the ancestors from the root on.
    whole: bool,
}

fn fit(category: Category<'_>, before: &[String]) -> Fit {
    let mut open = before;
    let mut ancestors = 0;
    let mut all = true;
    for above in category.ancestors() {
        match open.iter().rposition(|part| is_called(above, part)) {
            Some(place) => {
                all &= place + 1 == open.len();
                open = &open[..place];
                ancestors += 1;
            }
            None => all = false,
        }
    }
    Fit { ancestors, whole: all && open.is_empty() }
}

fn is_called(category: Category<'_>, normal: &str) -> bool {
    let languages = 0..category.catalogue.languages.len();
    languages.into_iter().any(|language| normalise(category.name_in(language)) == normal)
        || category.synonym_texts().any(|(_, name)| normalise(name) == normal)
}
