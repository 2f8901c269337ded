//! Tests of access control from outside.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod api_keys;
mod gate;
mod rotation;
mod secrets;
mod support;
mod tls;
mod tokens;
