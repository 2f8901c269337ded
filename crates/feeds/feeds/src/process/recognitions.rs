//! The recognised categories of one file by the seller's categories, which support can correct.

use std::collections::BTreeMap;

use unify::path_key;

use crate::limits::MAPPINGS_MAX;

#[derive(Default)]
pub(crate) struct Recognitions {
    own: BTreeMap<String, OwnCategory>,
    is_partial: bool,
}

#[derive(Default)]
pub(crate) struct OwnCategory {
    pub(crate) path: Vec<String>,
    offers: u64,
    taken_for: BTreeMap<String, u64>,
}

impl Recognitions {
    /// Counts an offer of a seller's category as recognised to be of `category`, or of none.
    pub(super) fn note(&mut self, path: &[&str], category: Option<&str>) {
        let key = path_key(path);
        if key.is_empty() || self.own.len() >= MAPPINGS_MAX && !self.own.contains_key(&key) {
            return;
        }
        let own = self.own.entry(key).or_insert_with(|| OwnCategory {
            path: path.iter().map(ToString::to_string).collect(),
            ..OwnCategory::default()
        });
        own.offers += 1;
        if let Some(category) = category {
            match own.taken_for.get_mut(category) {
                Some(count) => *count += 1,
                None => drop(own.taken_for.insert(category.to_owned(), 1)),
            }
        }
    }

    /// Notes that an unchanged offer was skipped.
    pub(super) fn pass_over(&mut self) {
        self.is_partial = true;
    }

    /// Whether offers were skipped: then older recognitions are more complete.
    pub(crate) fn is_partial(&self) -> bool {
        self.is_partial
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&String, &OwnCategory)> {
        self.own.iter()
    }
}

impl OwnCategory {
    /// The most frequent category, and its share from 0 to 1.
    pub(crate) fn mostly(&self) -> Option<(&str, f64)> {
        let (category, count) = self.taken_for.iter().max_by_key(|(_, count)| **count)?;
        Some((category, *count as f64 / self.offers as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_is_what_most_of_its_offers_were_taken_for() {
        let mut recognitions = Recognitions::default();
        for category in [Some("sofas"), Some("chairs"), Some("sofas"), None] {
            recognitions.note(&["Мебель", "Диваны"], category);
        }
        recognitions.note(&[], Some("sofas"));
        let all: Vec<_> = recognitions.all().map(|(_, own)| (own.path.join("/"), own.mostly())).collect();
        assert_eq!(all, [("Мебель/Диваны".to_owned(), Some(("sofas", 0.5)))]);
    }
}
