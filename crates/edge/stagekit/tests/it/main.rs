//! Tests of stages that are served.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod conformance;
mod serving;
mod tls;
