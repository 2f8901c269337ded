//! Randomness: every actor has its own generator, so that one that draws more often does not change
//! what happens to the others.

use std::ops::Range;

use parking_lot::{Mutex, MutexGuard};

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use xxhash_rust::xxh3::xxh3_64_with_seed;

pub(crate) fn seed_of(seed: u64, actor: &str) -> u64 {
    xxh3_64_with_seed(actor.as_bytes(), seed)
}

pub(crate) struct Dice(Mutex<StdRng>);

impl Dice {
    pub(crate) fn of(seed: u64, actor: &str) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed_of(seed, actor))))
    }

    fn rng(&self) -> MutexGuard<'_, StdRng> {
        self.0.lock()
    }

    pub(crate) fn within(&self, range: Range<u64>) -> u64 {
        self.rng().random_range(range)
    }

    pub(crate) fn number(&self, range: Range<i64>) -> i64 {
        self.rng().random_range(range)
    }

    pub(crate) fn thousandths(&self, chance: u64) -> bool {
        self.within(0..1000) < chance
    }

    pub(crate) fn ms(&self, range: Range<u64>) -> Duration {
        Duration::from_millis(self.within(range))
    }

    pub(crate) fn one_of<'a, T>(&self, among: &'a [T]) -> &'a T {
        &among[self.within(0..among.len() as u64) as usize]
    }
}
