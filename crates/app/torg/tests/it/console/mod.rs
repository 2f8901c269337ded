//! The console in a real browser, against the complete server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accessible;
mod actions;
mod browser;
mod forms;
mod hostile;
mod live;
mod outage;
mod pages;
mod rig;
mod signing_in;
mod sources;
