//! Tests of offers.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

mod engines;
mod masks;
mod model;
mod support;
mod validation;
