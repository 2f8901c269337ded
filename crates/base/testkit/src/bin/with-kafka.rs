//! Runs a command beside a Kafka broker of its own: `with-kafka COMMAND ARGUMENT...`.
//!
//! `{url}` in the arguments becomes the broker's address. The broker listens on a free port of 127.0.0.1, and is gone when the
//! command ends.

use std::process::ExitCode;

fn main() -> ExitCode {
    testkit::run_beside("with-kafka", testkit::Kafka::start, |broker| {
        format!("kafka://{}", broker.bootstrap())
    })
}
