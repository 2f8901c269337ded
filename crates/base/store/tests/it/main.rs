//! The engines and the store over them: the conformance suite, restarts, crashes, damage and locks.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

mod disk_full;
mod embedded;
mod keys;
mod kill;
mod memory;
mod postgres;
mod postgres_failures;
mod postgres_locks;
mod support;
