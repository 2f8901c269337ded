//! How Torg fares: figures, problems, who serves what, and what people did; on a running process.

#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]
#![allow(clippy::float_cmp, reason = "these numbers are exact")]

mod actions;
mod deploy;
mod figures;
mod limits;
mod problems;
mod rig;
