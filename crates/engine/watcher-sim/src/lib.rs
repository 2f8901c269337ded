//! A simulator for the watcher.
//!
//! One thread runs several processes of the real watcher over one memory engine, each with its own store, its own stages and a clock that goes
//! wrong. They crash, stall while others take their shards, come back as stale owners whose last commits land late, are stopped in order, and
//! start again under new names. Their stores fail in every way that a store may. Stages fail, hang, panic, fight over a field, and change things
//! while others look at them; writers from outside save, remove, make anew, set states and ask for visits. Operators
//! pause and resume stages, change limits, release what is parked, and start, pause and cancel re-crawls. Hints between processes get lost.
//!
//! tokio's clock is paused, so that time passes only when nothing else can happen, and all chance comes from one seed: the same seed gives the same
//! [trace](Outcome::hash), byte for byte.
//!
//! The world (`world.rs`) sees every batch at the moment when it is applied, with all rows before and after, and every call of a
//! stage, and asks the invariants (`invariants/`, one file for each). After some time faults stop, more time passes, and it is asked what is
//! left undone.
//!
//! - Many seeds: `cargo run --release -p sim -- --seeds 1000`.
//! - A failure prints its seed. `cargo run --release -p sim -- --seed N --trace FILE` runs that one again and writes everything that happened to a file.
//! - `--bugs` plants every bug that the watcher knows (`watcher::planted`) and tells which invariant caught it. `--bug NAME` runs with one of them.
//!
//! Where things are: what happens is drawn in `scenario.rs`; who acts is in `instance.rs`, `chaos.rs`, `outside.rs`, `operator.rs` and `stages.rs`; what is seen is in
//! `engine.rs`, `world.rs`, `tables.rs` and `trace.rs`. A new invariant is a file in `invariants/`, a line in `invariants/mod.rs`, and a planted bug
//! with a line in `bugs.rs`.

#![allow(clippy::similar_names, reason = "a stage has a state")]

mod bugs;
mod chaos;
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
