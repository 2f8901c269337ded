//! `torg doctor` against faults that are really there: each is planted, found, and told with what
//! to do; where nothing is wrong, nothing is told.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

mod alone;
mod certificates;
mod clocks;
mod rig;
mod running;
mod services;
