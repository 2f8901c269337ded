//! Chance: everybody has dice of their own, so that one who rolls more often does not change what
//! happens to the others.

use std::ops::Range;
use std::sync::Mutex;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The seed of an actor.
pub(crate) fn seed_of(seed: u64, who: &str) -> u64 {
    xxh3_64_with_seed(who.as_bytes(), seed)
}

pub(crate) struct Dice(Mutex<StdRng>);

impl Dice {
    pub(crate) fn of(seed: u64, who: &str) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed_of(seed, who))))
    }

    pub(crate) fn within(&self, range: Range<u64>) -> u64 {
        self.0.lock().unwrap().random_range(range)
    }

    pub(crate) fn number(&self, range: Range<i64>) -> i64 {
        self.0.lock().unwrap().random_range(range)
    }

    /// True with this probability in percent.
    pub(crate) fn percent(&self, chance: u64) -> bool {
        self.within(0..100) < chance
    }

    pub(crate) fn ms(&self, range: Range<u64>) -> Duration {
        Duration::from_millis(self.within(range))
    }

    pub(crate) fn one_of<'a, T>(&self, among: &'a [T]) -> &'a T {
        &among[self.within(0..among.len() as u64) as usize]
    }
}
