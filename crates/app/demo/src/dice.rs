//! Chance with a seed: the same number gives the same offer.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// What an offer is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Russian,
    English,
}

/// A text in both languages: Russian, English.
pub(super) type Words = (&'static str, &'static str);

impl Language {
    pub(super) fn of(self, words: Words) -> &'static str {
        match self {
            Language::Russian => words.0,
            Language::English => words.1,
        }
    }
}

/// Draws one thing after the other.
pub(super) struct Dice(StdRng);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice(StdRng::seed_from_u64(seed))
    }

    /// A whole number, both ends included.
    pub(super) fn between(&mut self, least: i64, most: i64) -> i64 {
        self.0.random_range(least..=most)
    }

    /// Whether it happens, in so many of a hundred cases.
    pub(super) fn chance(&mut self, percent: u32) -> bool {
        self.0.random_range(0..100) < percent
    }

    /// One of these, which must not be empty.
    pub(super) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.0.random_range(0..all.len())]
    }

    /// One of these texts in a language.
    pub(super) fn words(&mut self, language: Language, all: &[Words]) -> &'static str {
        language.of(*self.one_of(all))
    }

    /// An amount near another one: so many percent below or above at most.
    pub(super) fn near(&mut self, amount: i64, percent: i64) -> i64 {
        (amount * (100 + self.between(-percent, percent)) / 100).max(1)
    }

    pub(super) fn random(&mut self) -> &mut StdRng {
        &mut self.0
    }
}
