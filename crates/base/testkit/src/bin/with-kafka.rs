//! Runs a command with its own Kafka broker: `with-kafka COMMAND ARGUMENT...`.
//!
//! `{url}` in the arguments becomes the address. The service is stopped when the command ends.

use std::process::ExitCode;

fn main() -> ExitCode {
    testkit::run_beside("with-kafka", testkit::Kafka::start, |broker| {
        format!("kafka://{}", broker.bootstrap())
    })
}
