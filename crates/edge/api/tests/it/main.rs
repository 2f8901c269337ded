//! Tests of the RPC layer.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod common;
mod offers;
mod refusals;
mod service;
