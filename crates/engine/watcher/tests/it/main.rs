//! The watcher from the outside.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]
#![allow(clippy::similar_names, reason = "a stage has a state")]

mod asking;
mod common;
mod engines;
mod evolution;
mod processes;
mod recrawl;
mod relay;
mod requests;
mod save;
mod scheduling;
mod waiting;
mod work_once;

#[path = "../../examples/parcel.rs"]
#[allow(clippy::unwrap_used, dead_code, reason = "it stands alone")]
mod parcel;

#[test]
fn the_example_runs_to_its_end() {
    parcel::main().unwrap();
}
