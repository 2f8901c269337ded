//! Finds an id in constant time: open addressing over a hash of the text, the same on every run.

use xxhash_rust::xxh3::xxh3_64;

const EMPTY: u32 = u32::MAX;

/// From id to number. It keeps no text: the owner tells what id stands at a number.
#[derive(Debug, Default)]
pub(crate) struct IdIndex {
    slots: Vec<u32>,
}

impl IdIndex {
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self { slots: vec![EMPTY; (count * 2).next_power_of_two().max(4)] }
    }

    /// Puts `number` under `id`; the number that already stands there, if there is one.
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

    /// The slot that has the id, or the empty one where it belongs. At most half of the slots are taken.
    fn slot_of<'t>(&self, id: &str, id_of: impl Fn(u32) -> &'t str) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = xxh3_64(id.as_bytes()) as usize & mask;
        while self.slots[slot] != EMPTY && id_of(self.slots[slot]) != id {
            slot = (slot + 1) & mask;
        }
        slot
    }
}
