//! Tests of decisions on a store, and the simulation with failures.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod common;
mod deciding;
mod lost_update;
mod simulation;
mod starting;
