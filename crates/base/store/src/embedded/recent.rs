//! A cache of what the committing thread read or wrote, so that hot rows are decided without a
//! read.
//!
//! Only that thread writes, so the cache equals the database.

use xxhash_rust::xxh3::Xxh3Builder;

use crate::key::Key;

#[expect(clippy::disallowed_types, reason = "only looked up, never iterated: its order is not observable")]
type Remembered<T> = std::collections::HashMap<Key, T, Xxh3Builder>;

/// Two generations: a full young generation becomes the old one, and a hit in the old one becomes
/// young again.
pub(super) struct Recent<T> {
    young: Remembered<T>,
    old: Remembered<T>,
    generation_max: usize,
}

impl<T: Copy> Recent<T> {
    /// Holds at least `generation_max` values and at most twice as many.
    pub(super) fn new(generation_max: usize) -> Self {
        Self { young: Remembered::default(), old: Remembered::default(), generation_max }
    }

    pub(super) fn get(&mut self, key: &Key) -> Option<T> {
        if let Some(value) = self.young.get(key) {
            return Some(*value);
        }
        let (key, value) = self.old.remove_entry(key)?;
        self.note(key, value);
        Some(value)
    }

    pub(super) fn note(&mut self, key: Key, value: T) {
        if self.young.len() >= self.generation_max && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }

    /// The cached value, or the result of `read`.
    pub(super) fn get_or_read<E>(&mut self, key: &Key, read: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        if let Some(value) = self.get(key) {
            return Ok(value);
        }
        let value = read()?;
        self.note(key.clone(), value);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;

    static ROWS: Table<(u32,)> = Table::versioned("rows", &["shard"]);

    fn key(n: u32) -> Key {
        ROWS.key((n,))
    }

    #[test]
    fn a_new_value_replaces_the_one_of_an_older_generation() {
        let mut recent = Recent::new(2);
        recent.note(key(1), 'a');
        recent.note(key(2), 'b');
        recent.note(key(3), 'c');
        recent.note(key(1), 'd');
        recent.note(key(4), 'e');
        assert_eq!(recent.get(&key(1)), Some('d'));
    }

    #[test]
    fn values_nobody_asks_for_are_forgotten_and_the_others_stay() {
        let mut recent = Recent::new(4);
        recent.note(key(0), 0);
        recent.note(key(1), 1);
        for n in 2..100 {
            recent.note(key(n), n);
            assert_eq!(recent.get(&key(0)), Some(0));
        }
        assert_eq!(recent.get(&key(1)), None);
        assert!(recent.young.len() + recent.old.len() <= 8);
    }

    #[test]
    fn what_was_read_once_is_not_read_again() {
        let mut recent = Recent::new(4);
        assert_eq!(recent.get_or_read(&key(1), || Ok::<_, ()>(7)), Ok(7));
        assert_eq!(recent.get_or_read(&key(1), || Err(())), Ok(7));
        assert_eq!(recent.get_or_read(&key(2), || Err(())), Err(()));
        assert_eq!(recent.get(&key(2)), None);
    }
}
