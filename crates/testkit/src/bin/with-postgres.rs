//! Runs a command beside a PostgreSQL server of its own: `with-postgres COMMAND ARGUMENT...`.
//!
//! `{url}` in the arguments becomes the server's address. The server is durable, listens on a free port of 127.0.0.1, and is gone
//! when the command ends.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(program) = arguments.next() else {
        eprintln!("usage: with-postgres COMMAND ARGUMENT...   ({{url}} becomes the server's address)");
        return ExitCode::from(2);
    };
    // What a small production server would have; the defaults are for machines of twenty years ago.
    let settings = [("shared_buffers", "1GB"), ("max_wal_size", "4GB"), ("checkpoint_timeout", "15min")];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let server = testkit::Postgres::start_with(&testkit::PostgresOptions { settings, ..Default::default() });
    let server = match server {
        Ok(server) => server,
        Err(missing) => {
            eprintln!("error: {missing}");
            return ExitCode::FAILURE;
        }
    };
    let url = server.url();
    match Command::new(&program).args(arguments.map(|argument| argument.replace("{url}", &url))).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("error: {program}: {error}");
            ExitCode::FAILURE
        }
    }
}
