//! Chance: everybody has dice of their own, so that one who rolls more often does not change what
//! happens to the others.

use std::ops::Range;
use std::sync::Mutex;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

pub(crate) struct Dice(Mutex<StdRng>);

/// A seed by name.
pub(crate) fn seed_of(seed: u64, who: &str) -> u64 {
    let hash = blake3::hash(format!("{seed} {who}").as_bytes());
    u64::from_le_bytes(hash.as_bytes()[..8].try_into().unwrap())
}

impl Dice {
    pub(crate) fn of(seed: u64, who: &str) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed_of(seed, who))))
    }

    pub(crate) fn within(&self, range: Range<u64>) -> u64 {
        self.0.lock().unwrap().random_range(range)
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&self, chance: u64) -> bool {
        self.within(0..100) < chance
    }

    pub(crate) fn ms(&self, range: Range<u64>) -> Duration {
        Duration::from_millis(self.within(range))
    }
}
