//! What values of choices were read as: feeds say the same few colours and materials all the time, and to find what a wrong one may have meant takes long.

use std::collections::BTreeMap;

use catalog::{Category, Fault, OwnedValue, Use};
use xxhash_rust::xxh3::Xxh3Default;

use super::read_value;
use crate::limits::{VALUE_BYTES_REMEMBERED_MAX, VALUES_REMEMBERED_MAX};

/// Values that one session has read, by the hash of what was given.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    values: BTreeMap<u128, Result<Vec<OwnedValue>, Fault>>,
}

impl Memory {
    /// Reads a value of an attribute, or remembers it.
    pub(super) fn read(
        &mut self,
        category: Category<'_>,
        used: Use<'_>,
        value: &str,
        unit: &str,
    ) -> Result<Vec<OwnedValue>, Fault> {
        if !used.kind().chooses() || value.len() + unit.len() > VALUE_BYTES_REMEMBERED_MAX {
            return read_value(used, value, unit);
        }
        let mut hasher = Xxh3Default::new();
        for text in [category.id(), used.attribute().id(), value, unit] {
            hasher.update(text.as_bytes());
            hasher.update(&[0]);
        }
        let key = hasher.digest128();
        if let Some(known) = self.values.get(&key) {
            return known.clone();
        }
        if self.values.len() >= VALUES_REMEMBERED_MAX {
            self.values.clear();
        }
        let read = read_value(used, value, unit);
        self.values.insert(key, read.clone());
        read
    }
}
