//! A deterministic simulator for the watcher.
//!
//! One thread runs several processes of the real watcher over one memory engine, each with its own
//! store, its own stages and a clock with an error. They crash, stall while others take their
//! shards, come back as old owners whose last commits land late, are stopped in order, and start
//! again under new names. Their stores fail in every way that a store may. Stages fail, hang,
//! panic, fight over a field, and change entities during the visits of others. Writers from outside
//! save, remove and recreate entities, set states and request visits. Operators pause and resume
//! stages, change limits, release what is parked, and start, pause and cancel re-crawls. Hints
//! between processes get lost.
//!
//! tokio's clock is paused, so that time passes only when nothing else can happen, and everything
//! random comes from one seed: the same seed gives the same [trace](Outcome::hash), byte for byte.
//!
//! The world (`world.rs`) sees every batch when it is applied, with all rows before and after, and
//! every call of a stage, and asks the invariants (`invariants/`, one file for each). After some
//! time faults stop, more time passes, and the invariants check what is left undone.
//!
//! - Many seeds: `cargo run --release -p watcher-sim -- --seeds 1000`.
//! - A failure prints its seed. `cargo run --release -p watcher-sim -- --seed N --trace FILE`
//!   repeats it and writes everything that happened to a file.
//! - `--bugs` plants every bug that the watcher knows (`watcher::planted`) and prints which
//!   invariant caught it. `--bug NAME` runs with one of them.
//!
//! Where things are: `scenario.rs` draws what happens; `instance.rs`, `chaos.rs`, `outside.rs`,
//! `operator.rs` and `stages.rs` act; `engine.rs`, `world.rs`, `tables.rs` and `trace.rs` observe.
//! A new invariant is a file in `invariants/`, a line in `invariants/mod.rs`, and a planted bug
//! with a line in `bugs.rs`; a bug that shows at the store is planted in `damage.rs`.

#![allow(clippy::similar_names, reason = "a stage has a state")]

mod bugs;
mod chaos;
mod damage;
mod dice;
mod engine;
mod gate;
mod instance;
mod invariants;
mod operator;
mod outside;
mod run;
mod scenario;
mod stages;
mod tables;
mod thing;
mod trace;
mod world;

pub use bugs::{Hunted, breaks, bug_named, hunt};
pub use run::{Options, Outcome, simulate};
pub use scenario::Scenario;
pub use world::Violation;
