//! A bounded cache by the hash of several texts; cleared when full.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::Xxh3Default;

#[derive(Debug)]
pub(crate) struct Cache<V> {
    values: BTreeMap<u128, V>,
    entries_max: usize,
}

impl<V: Clone> Cache<V> {
    pub(crate) fn new(entries_max: usize) -> Self {
        Self { values: BTreeMap::new(), entries_max }
    }

    pub(crate) fn get_or_insert<'t>(
        &mut self,
        texts: impl IntoIterator<Item = &'t str>,
        make: impl FnOnce() -> V,
    ) -> V {
        let mut hasher = Xxh3Default::new();
        for text in texts {
            hasher.update(text.as_bytes());
            hasher.update(&[0]);
        }
        let key = hasher.digest128();
        if let Some(known) = self.values.get(&key) {
            return known.clone();
        }
        if self.values.len() >= self.entries_max {
            self.values.clear();
        }
        let value = make();
        self.values.insert(key, value.clone());
        value
    }
}
