//! The simulator finds nothing wrong with the watcher, and finds what is wrong when something is.

use std::collections::BTreeSet;

use watcher::planted::Bug;
use watcher_sim::{Options, breaks, hunt, simulate};

/// Seeds that every run of the tests tries; `cargo run --release -p watcher-sim -- --seeds 1000`
/// tries more.
const SEEDS: u64 = 40;
/// A planted bug must be caught within so many seeds.
const HUNT_SEEDS_MAX: u64 = 50;

fn options(seed: u64) -> Options {
    Options { seed, ..Options::default() }
}

#[test]
fn nothing_is_violated_and_every_invariant_is_looked_at_and_has_a_planted_bug() {
    let mut looked_at = BTreeSet::new();
    for seed in 1..=SEEDS {
        let outcome = simulate(&options(seed));
        assert!(outcome.violations.is_empty(), "seed {seed}: {:?}", outcome.violations);
        looked_at.extend(outcome.checks.into_keys());
    }
    let broken: BTreeSet<&str> = Bug::ALL.iter().map(|bug| breaks(*bug)).collect();
    assert_eq!(looked_at, broken);
}

#[test]
fn a_seed_gives_the_same_trace_every_time_and_another_seed_gives_another() {
    let run = |seed| simulate(&Options { keep_trace: true, ..options(seed) });
    let mut hashes = BTreeSet::new();
    for seed in 101..=105 {
        let (one, two) = (run(seed), run(seed));
        assert_eq!(one.trace, two.trace, "seed {seed}");
        assert_eq!((one.hash, one.events), (two.hash, two.events));
        assert_eq!(one.events, one.trace.map_or(0, |trace| trace.len() as u64));
        hashes.insert(one.hash);
    }
    assert_eq!(hashes.len(), 5);
}

#[test]
fn a_failure_is_found_again_with_its_seed() {
    let run = || simulate(&Options { bug: Some(Bug::QueueRowStays), ..options(1) });
    let (one, two) = (run(), run());
    assert_eq!(one.violations.len(), 1);
    assert_eq!((&one.violations, one.hash, &one.last), (&two.violations, two.hash, &two.last));
    assert!(one.last.last().is_some_and(|line| line.contains("VIOLATION")));
}

#[test]
fn every_planted_bug_is_caught_by_the_invariant_that_it_breaks() {
    for bug in Bug::ALL {
        let hunted = hunt(*bug, 1, HUNT_SEEDS_MAX, None);
        assert!(hunted.seed.is_some(), "{bug:?} was not caught by {:?}: {hunted:?}", breaks(*bug));
    }
}
