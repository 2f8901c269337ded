//! The seller's own mapping from categories of a feed to ours.

use std::collections::BTreeMap;

use catalog::text::normalise;

/// The key of a feed's category: the normal forms of its parts, separated by ` > `.
#[must_use]
pub fn path_key(path: &[&str]) -> String {
    let parts: Vec<String> =
        path.iter().map(|part| normalise(part)).filter(|part| !part.is_empty()).collect();
    parts.join(" > ")
}

/// Decisions of a seller or of support. They have precedence over recognition.
pub trait Mapping: Send + Sync {
    /// The id of our category for the [key](path_key) of a feed's category.
    fn category(&self, key: &str) -> Option<&str>;
}

/// An empty mapping.
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
