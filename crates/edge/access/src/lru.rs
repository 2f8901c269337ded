//! A bounded map that evicts the least recently used entry.

use std::collections::BTreeMap;

/// Every lookup counts as a use. An entry may be protected from eviction.
pub(crate) struct Lru<K, V> {
    entries: BTreeMap<K, (u64, V)>,
    /// Keys, least recently used first.
    order: BTreeMap<u64, K>,
    uses: u64,
    most: usize,
}

impl<K: Ord + Clone, V> Lru<K, V> {
    pub(crate) fn new(most: usize) -> Self {
        Self { entries: BTreeMap::new(), order: BTreeMap::new(), uses: 0, most }
    }

    pub(crate) fn get(&mut self, key: &K) -> Option<&mut V> {
        let (used, value) = self.entries.get_mut(key)?;
        self.uses += 1;
        self.order.remove(used);
        self.order.insert(self.uses, key.clone());
        *used = self.uses;
        Some(value)
    }

    /// Inserts an entry, evicting the least recently used one that may go if the map is full.
    pub(crate) fn insert(&mut self, key: K, value: V, may_go: impl Fn(&V) -> bool) {
        self.remove(&key);
        if self.entries.len() >= self.most {
            let gone = self.order.values().find(|key| self.entries.get(key).is_some_and(|(_, v)| may_go(v)));
            if let Some(gone) = gone.cloned() {
                self.remove(&gone);
            }
        }
        self.uses += 1;
        self.order.insert(self.uses, key.clone());
        self.entries.insert(key, (self.uses, value));
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let (used, value) = self.entries.remove(key)?;
        self.order.remove(&used);
        Some(value)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unused_goes_first_unless_it_may_not() {
        let mut lru = Lru::new(2);
        lru.insert("a", 1, |_| true);
        lru.insert("b", 2, |_| true);
        assert_eq!(lru.get(&"a"), Some(&mut 1));
        lru.insert("c", 3, |_| true);
        assert_eq!(lru.get(&"b"), None, "it was not used since");
        assert_eq!(lru.len(), 2);
        lru.insert("d", 4, |value| *value != 1);
        assert_eq!(lru.get(&"c"), None);
        assert_eq!(lru.get(&"a"), Some(&mut 1), "it may not go");
    }
}
