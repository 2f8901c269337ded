//! Tests of the pages over services that are fakes.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod fake_market;
mod fake_torg;
mod feeds;
mod offers;
mod sellers;
mod stages;
mod tasks;
mod upload;
mod values;
