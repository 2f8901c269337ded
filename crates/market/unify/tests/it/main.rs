//! The unifier through its public interface.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod accuracy;
mod unifying;
