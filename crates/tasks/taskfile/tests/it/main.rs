//! Tests of the language of task files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod changes;
mod common;
mod docs;
mod hostile;
mod language;
mod mistakes;
mod properties;
mod schema;
mod warnings;
