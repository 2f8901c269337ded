//! Finds ids in constant time: open addressing over a deterministic hash.

use xxhash_rust::xxh3::xxh3_64;

const EMPTY: u32 = u32::MAX;

/// A map from id to number. It stores no text: the owner maps numbers to ids.
#[derive(Debug, Default)]
pub(crate) struct IdIndex {
    slots: Vec<u32>,
}

impl IdIndex {
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self { slots: vec![EMPTY; (count * 2).next_power_of_two().max(4)] }
    }

    /// Inserts `number` unless the id is known; returns the known number.
    pub(crate) fn insert<'t>(
        &mut self,
        id: &str,
        number: u32,
        id_of: impl Fn(u32) -> &'t str,
    ) -> Option<u32> {
        let slot = self.slot_of(id, id_of);
        let known = self.slots[slot];
        if known != EMPTY {
            return Some(known);
        }
        self.slots[slot] = number;
        None
    }

    pub(crate) fn find<'t>(&self, id: &str, id_of: impl Fn(u32) -> &'t str) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        Some(self.slots[self.slot_of(id, id_of)]).filter(|found| *found != EMPTY)
    }

    /// The slot of the id, or the free slot for it. At most half of the slots are in use.
    fn slot_of<'t>(&self, id: &str, id_of: impl Fn(u32) -> &'t str) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = xxh3_64(id.as_bytes()) as usize & mask;
        while self.slots[slot] != EMPTY && id_of(self.slots[slot]) != id {
            slot = (slot + 1) & mask;
        }
        slot
    }
}
