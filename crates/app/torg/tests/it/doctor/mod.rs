//! `torg doctor` against real faults: each is planted and found, and the report says what to do;
//! without faults there are no reports.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

mod alone;
mod certificates;
mod clocks;
mod rig;
mod running;
mod services;
