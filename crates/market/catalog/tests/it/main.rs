//! The catalogue through its public interface.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod builtin;
mod common;
mod inheritance;
mod load;
mod migration;
mod recognition;
mod validation;
