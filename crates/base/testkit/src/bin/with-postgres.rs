//! Runs a command with its own PostgreSQL server: `with-postgres COMMAND ARGUMENT...`.
//!
//! `{url}` in the arguments becomes the address. The service is stopped when the command ends.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The settings of a small production server; the defaults are for very small machines.
    let settings = [("shared_buffers", "1GB"), ("max_wal_size", "4GB"), ("checkpoint_timeout", "15min")];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let options = testkit::PostgresOptions { settings, ..Default::default() };
    testkit::run_beside("with-postgres", || testkit::Postgres::start_with(&options), testkit::Postgres::url)
}
