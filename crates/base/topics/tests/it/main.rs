//! The logs: the conformance suite, faults of the store, and failures of Kafka.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

mod faults;
mod kafka;
mod kafka_failures;
mod store;
