//! Many clients, moderators, a stage, the archive and a consumer that is killed act on one marketplace at the same time, at random; at the end, everything that can be read of it
//! is held against a simple model (`model/rules.rs`, `model/checks/`) that shares no code with what is tested.
//!
//! On memory with faults a run follows from its seed: it happens in simulated time, on one thread, the same way every time. `TORG_MODEL_SEEDS=200` tries more seeds than usual,
//! `TORG_MODEL_SEED=17` that one alone. On the other engines chance decides what happens, and time is real.
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

/// Seeds that every run of the tests tries on memory.
const SEEDS: u64 = 20;
/// Seeds that are tried at the same time.
const THREADS: usize = 2;
/// Operations of a run on memory.
const OPERATIONS: u64 = 1500;
/// Operations of a run on another engine.
const OPERATIONS_REAL: u64 = 3000;

fn number_from(variable: &str) -> Option<u64> {
    Some(std::env::var(variable).ok()?.parse().unwrap_or_else(|_| panic!("{variable} must be a number")))
}

#[test]
fn whatever_happens_on_memory_with_faults_all_agrees_at_the_end() {
    let seeds = match number_from("TORG_MODEL_SEED") {
        Some(seed) => seed..seed + 1,
        None => 1..number_from("TORG_MODEL_SEEDS").unwrap_or(SEEDS) + 1,
    };
    // A run has one thread, and knows nothing of the others.
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
fn whatever_happens_on_fjall_all_agrees_at_the_end() {
    let seed = number_from("TORG_MODEL_SEED").unwrap_or(1);
    let outcome = play(&Plan::of(Engine::Fjall, seed, OPERATIONS_REAL)).unwrap();
    println!("{}", outcome.figures);
}

#[test]
fn whatever_happens_on_postgres_all_agrees_at_the_end() {
    let seed = number_from("TORG_MODEL_SEED").unwrap_or(1);
    if let Some(outcome) = play(&Plan::of(Engine::Postgres, seed, OPERATIONS_REAL)) {
        println!("{}", outcome.figures);
    }
}
