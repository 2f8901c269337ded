//! A seeded random generator: the same seed gives the same offer.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The language of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Russian,
    English,
}

/// A text in Russian and in English.
pub(super) type Words = (&'static str, &'static str);

impl Language {
    pub(super) fn of(self, words: Words) -> &'static str {
        match self {
            Language::Russian => words.0,
            Language::English => words.1,
        }
    }
}

pub(super) struct Dice(StdRng);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice(StdRng::seed_from_u64(seed))
    }

    /// A whole number between both bounds, inclusive.
    pub(super) fn between(&mut self, least: i64, most: i64) -> i64 {
        self.0.random_range(least..=most)
    }

    /// True with a probability of `percent`.
    pub(super) fn chance(&mut self, percent: u32) -> bool {
        self.0.random_range(0..100) < percent
    }

    /// A random element of a list, which must not be empty.
    pub(super) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.0.random_range(0..all.len())]
    }

    pub(super) fn words(&mut self, language: Language, all: &[Words]) -> &'static str {
        language.of(*self.one_of(all))
    }

    /// A random amount at most `percent` below or above the given one.
    pub(super) fn near(&mut self, amount: i64, percent: i64) -> i64 {
        (amount * (100 + self.between(-percent, percent)) / 100).max(1)
    }

    pub(super) fn random(&mut self) -> &mut StdRng {
        &mut self.0
    }
}
