//! Chance: every actor has dice of its own, so that one that asks more often does not change what
//! happens to the others.

use std::ops::Range;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// One actor's dice.
pub(crate) struct Dice(StdRng);

impl Dice {
    pub(crate) fn of(seed: u64, actor: &str) -> Self {
        Self(StdRng::seed_from_u64(seed_of(seed, actor)))
    }

    pub(crate) fn within(&mut self, range: Range<u64>) -> u64 {
        self.0.random_range(range)
    }

    /// True in this percentage of cases.
    pub(crate) fn percent(&mut self, chance: u64) -> bool {
        self.within(0..100) < chance
    }

    pub(crate) fn ms(&mut self, range: Range<u64>) -> Duration {
        Duration::from_millis(self.within(range))
    }

    pub(crate) fn one_of<'a, T>(&mut self, among: &'a [T]) -> Option<&'a T> {
        if among.is_empty() {
            return None;
        }
        among.get(self.within(0..among.len() as u64) as usize)
    }
}

/// The seed of one actor.
pub(crate) fn seed_of(seed: u64, actor: &str) -> u64 {
    xxh3_64_with_seed(actor.as_bytes(), seed)
}
