//! The seller's own mapping: which of our categories a category of a feed is.

use std::collections::BTreeMap;

use crate::words::normal;

/// The key of a feed's category: the normal forms of its parts with ` > ` between them. Equal keys are the same category.
#[must_use]
pub fn path_key(path: &[&str]) -> String {
    let parts: Vec<String> = path.iter().map(|part| normal(part)).filter(|part| !part.is_empty()).collect();
    parts.join(" > ")
}

/// What a seller, or support for them, has decided. It wins over everything that is recognised.
pub trait Mapping: Send + Sync {
    /// The id of our category for the [key](path_key) of the feed's, if that was decided.
    fn category(&self, key: &str) -> Option<&str>;
}

/// Nothing was decided.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMapping;

impl Mapping for NoMapping {
    fn category(&self, _: &str) -> Option<&str> {
        None
    }
}

impl Mapping for BTreeMap<String, String> {
    fn category(&self, key: &str) -> Option<&str> {
        self.get(key).map(String::as_str)
    }
}
