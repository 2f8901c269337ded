//! Tests of the crate: the table of cases, properties, calendars.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod calendar;
mod cases;
mod earliest;
mod properties;
mod table;
