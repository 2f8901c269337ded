//! Tests of the reader of feed files.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod agreement;
mod common;
mod docs;
mod formats;
mod hostile;
mod in_the_wild;
mod leniency;
mod properties;
mod samples;
