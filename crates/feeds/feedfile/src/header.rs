//! The header of a file: what it says beside its offers.

use crate::limits::{CATEGORIES_MAX, CATEGORY_DEPTH_MAX, CURRENCIES_MAX, TEXT_CHARS_MAX};
use crate::position::Position;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Category names from the top down.
pub type CategoryPath = Arc<[Arc<str>]>;

#[derive(Debug, Clone, PartialEq)]
pub struct HeaderCategory {
    pub name: Arc<str>,
    /// The id of the parent; empty at the top.
    pub parent: String,
    pub at: Position,
    path: Option<CategoryPath>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct HeaderCurrency {
    pub code: String,
    /// A number in units of the main currency, or the name of a bank; may be empty.
    pub rate: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Header {
    pub name: String,
    pub company: String,
    pub url: String,
    pub email: String,
    pub phone: String,
    /// The seller's id on the site from which the offers come (parsed profiles).
    pub uid: String,
    /// The site from which the offers come (parsed profiles).
    pub source: String,
    /// When the file was made, according to it.
    pub date: String,
    pub currencies: Vec<HeaderCurrency>,
    pub categories: BTreeMap<String, HeaderCategory>,
    pub columns: Vec<String>,
}

impl Header {
    /// Adds a category; false if there are too many or the id is taken.
    pub(crate) fn add_category(&mut self, id: &str, parent: &str, name: &str, at: Position) -> bool {
        if id.is_empty() || self.categories.len() >= CATEGORIES_MAX || self.categories.contains_key(id) {
            return false;
        }
        let parent = if parent == "0" || parent == id { String::new() } else { cut(parent) };
        let category = HeaderCategory { name: Arc::from(cut(name)), parent, at, path: None };
        self.categories.insert(cut(id), category);
        true
    }

    pub(crate) fn add_currency(&mut self, code: &str, rate: &str) {
        if self.currencies.len() < CURRENCIES_MAX {
            self.currencies.push(HeaderCurrency { code: cut(code), rate: cut(rate) });
        }
    }

    /// The currency of the rates of the others.
    pub(crate) fn main_currency(&self) -> Option<&str> {
        let one = |rate: &str| rate.parse::<f64>().is_ok_and(|rate| (rate - 1.0).abs() < f64::EPSILON);
        let main = self.currencies.iter().find(|currency| one(&currency.rate));
        let only = if self.currencies.len() == 1 { self.currencies.first() } else { None };
        main.or(only).map(|currency| currency.code.as_str())
    }

    pub(crate) fn resolve(&mut self) {
        let paths: Vec<CategoryPath> = self.categories.keys().map(|id| self.walk_up(id)).collect();
        for (category, path) in self.categories.values_mut().zip(paths) {
            category.path = Some(path);
        }
    }

    fn walk_up(&self, id: &str) -> CategoryPath {
        let mut names = Vec::new();
        let mut next = self.categories.get(id);
        while let Some(category) = next.filter(|_| names.len() < CATEGORY_DEPTH_MAX) {
            names.push(Arc::clone(&category.name));
            next = self.categories.get(&category.parent);
        }
        names.reverse();
        names.into()
    }

    /// The names from the top down to a category.
    #[must_use]
    pub fn category_path(&self, id: &str) -> Option<CategoryPath> {
        let category = self.categories.get(id)?;
        Some(category.path.clone().unwrap_or_else(|| self.walk_up(id)))
    }
}

/// A text of the header, truncated.
pub(crate) fn cut(text: &str) -> String {
    text::head(text.trim(), TEXT_CHARS_MAX).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_from_the_top_down_and_circles_end() {
        let mut header = Header::default();
        for (id, parent, name) in [("1", "0", "A"), ("2", "1", "B"), ("3", "4", "C"), ("4", "3", "D")] {
            assert!(header.add_category(id, parent, name, Position::START));
        }
        assert!(!header.add_category("1", "", "again", Position::START));
        header.resolve();
        assert_eq!(
            header.category_path("2").unwrap().iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
            ["A", "B"]
        );
        assert_eq!(header.category_path("3").unwrap().len(), CATEGORY_DEPTH_MAX);
        assert_eq!(header.category_path("9"), None);
    }

    #[test]
    fn the_main_currency_has_the_rate_one_or_stands_alone() {
        let mut header = Header::default();
        assert_eq!(header.main_currency(), None);
        header.add_currency("USD", "60");
        assert_eq!(header.main_currency(), Some("USD"));
        header.add_currency("RUR", "1.00");
        assert_eq!(header.main_currency(), Some("RUR"));
    }
}
