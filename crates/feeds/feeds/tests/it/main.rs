//! Tests of feeds as their callers use them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod common;
mod links;
mod lists;
mod offline;
mod path;
mod places;
mod reload;
mod simulation;
mod statuses;
