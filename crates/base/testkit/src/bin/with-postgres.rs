//! Runs a command beside a PostgreSQL server of its own: `with-postgres COMMAND ARGUMENT...`.
//!
//! `{url}` in the arguments becomes the server's address. The server is durable, listens on a free port of 127.0.0.1, and is gone
//! when the command ends.

use std::process::ExitCode;

fn main() -> ExitCode {
    // What a small production server would have; the defaults are for machines of twenty years ago.
    let settings = [("shared_buffers", "1GB"), ("max_wal_size", "4GB"), ("checkpoint_timeout", "15min")];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let options = testkit::PostgresOptions { settings, ..Default::default() };
    testkit::run_beside("with-postgres", || testkit::Postgres::start_with(&options), testkit::Postgres::url)
}
