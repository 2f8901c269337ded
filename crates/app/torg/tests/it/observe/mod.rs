//! Observability of a running process: figures, problems, who serves what, and the actions of
//! users.

#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]
#![allow(clippy::float_cmp, reason = "these numbers are exact")]

mod actions;
mod deploy;
mod figures;
mod limits;
mod problems;
mod rig;
