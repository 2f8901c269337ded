//! A randomised model test: clients, moderators, a stage, the archive and a consumer that is killed
//! act on one marketplace concurrently; at the end everything that can be read is compared with a
//! simple model (`model/rules.rs`, `model/checks/`) that shares no code with the crate.
//!
//! On memory with faults a run depends on its seed only: simulated time, one thread.
//! `TORG_MODEL_SEEDS=200` runs more seeds, `TORG_MODEL_SEED=17` one of them. On the other engines
//! time is real.
#![allow(clippy::large_futures, reason = "one client at a time holds one")]

mod checks;
mod client;
mod consumer;
mod dice;
mod drafting;
mod evidence;
mod filters;
mod found;
mod journal;
mod market;
mod moderator;
mod plan;
mod rules;
mod run;

use std::sync::Mutex;

use plan::{Engine, Plan};
use run::play;

/// Seeds on memory.
const SEEDS: u64 = 20;
/// Seeds that run at the same time.
const THREADS: usize = 2;
/// Operations of a run on memory.
const OPERATIONS: u64 = 1500;
/// Operations of a run on another engine.
const OPERATIONS_REAL: u64 = 3000;

fn number_from(variable: &str) -> Option<u64> {
    Some(std::env::var(variable).ok()?.parse().unwrap_or_else(|_| panic!("{variable} must be a number")))
}

#[test]
fn memory_with_faults_agrees_with_the_model() {
    let seeds = match number_from("TORG_MODEL_SEED") {
        Some(seed) => seed..seed + 1,
        None => 1..number_from("TORG_MODEL_SEEDS").unwrap_or(SEEDS) + 1,
    };
    // Every run has one thread and shares nothing with the others.
    let next = Mutex::new(seeds);
    let play_some = || {
        while let Some(seed) = { next.lock().unwrap().next() } {
            let outcome = play(&Plan::of(Engine::Memory, seed, OPERATIONS)).unwrap();
            println!("seed {seed}: {}", outcome.figures);
        }
    };
    std::thread::scope(|threads| {
        for _ in 0..THREADS {
            threads.spawn(play_some);
        }
    });
}

#[test]
fn a_seed_gives_the_same_trace_every_time_and_another_seed_gives_another() {
    let run =
        |seed| play(&Plan { keep_trace: true, ..Plan::of(Engine::Memory, seed, OPERATIONS / 3) }).unwrap();
    let (one, two, other) = (run(1001), run(1001), run(1002));
    let differ = one.trace.iter().zip(&two.trace).position(|(a, b)| a != b);
    assert_eq!(differ, None, "{:?}", differ.map(|at| (&one.trace[at], &two.trace[at])));
    assert_eq!((one.hash, one.events), (two.hash, two.events));
    assert_ne!(one.hash, other.hash);
}

#[test]
fn fjall_agrees_with_the_model() {
    let seed = number_from("TORG_MODEL_SEED").unwrap_or(1);
    let outcome = play(&Plan::of(Engine::Fjall, seed, OPERATIONS_REAL)).unwrap();
    println!("{}", outcome.figures);
}

#[test]
fn postgres_agrees_with_the_model() {
    let seed = number_from("TORG_MODEL_SEED").unwrap_or(1);
    if let Some(outcome) = play(&Plan::of(Engine::Postgres, seed, OPERATIONS_REAL)) {
        println!("{}", outcome.figures);
    }
}
