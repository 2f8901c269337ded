//! A compact set of ids: 128-bit hashes in shards that grow one at a time.

use xxhash_rust::xxh3::xxh3_128;

const SHARDS: usize = 256;
const FIRST_SLOTS: usize = 16;

#[derive(Debug)]
pub(crate) struct IdSet {
    shards: Vec<Shard>,
}

#[derive(Debug, Default)]
struct Shard {
    slots: Vec<u128>,
    used: usize,
}

impl IdSet {
    pub(crate) fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| Shard::default()).collect() }
    }

    /// False if it is a repetition.
    pub(crate) fn insert(&mut self, id: &str) -> bool {
        // Zero marks a free slot.
        let hash = xxh3_128(id.as_bytes()).max(1);
        self.shards[(hash % SHARDS as u128) as usize].insert(hash)
    }
}

impl Shard {
    fn insert(&mut self, hash: u128) -> bool {
        if self.used * 8 >= self.slots.len() * 7 {
            self.grow();
        }
        let place = self.place(hash);
        if self.slots[place] == hash {
            return false;
        }
        self.slots[place] = hash;
        self.used += 1;
        true
    }

    fn place(&self, hash: u128) -> usize {
        let slots = self.slots.len();
        let mut place = (((hash >> 64) * slots as u128) >> 64) as usize;
        while self.slots[place] != 0 && self.slots[place] != hash {
            place = if place + 1 == slots { 0 } else { place + 1 };
        }
        place
    }

    fn grow(&mut self) {
        let slots = (self.slots.len() * 5 / 4).max(FIRST_SLOTS);
        for hash in std::mem::replace(&mut self.slots, vec![0; slots]) {
            if hash != 0 {
                let place = self.place(hash);
                self.slots[place] = hash;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_is_new_once() {
        let mut ids = IdSet::new();
        assert!((0..20_000).all(|id| ids.insert(&id.to_string())));
        assert!((0..20_000).all(|id| !ids.insert(&id.to_string())));
        assert!(ids.insert("another"));
    }

    #[test]
    fn two_million_ids_take_less_than_fifty_megabytes() {
        let mut ids = IdSet::new();
        for id in 0..200_000 {
            ids.insert(&id.to_string());
        }
        let slots: usize = ids.shards.iter().map(|shard| shard.slots.len()).sum();
        assert!(slots * size_of::<u128>() * 10 < 50 << 20, "{slots}");
    }
}
