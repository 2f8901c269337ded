//! Reactive tasks on a running process: real commands, by the command line and in JSON.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod backfill;
mod calls;
mod day;
mod guide;
mod mending;
mod people;
mod places;
mod rig;
mod wrong;
