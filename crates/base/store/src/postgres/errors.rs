//! Classification of database errors.

use std::error::Error as _;
use std::io;

use tokio_postgres::error::{DbError, SqlState};

use crate::Error;

pub(super) type PgError = tokio_postgres::Error;

/// The cause of a failed step.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The connection is unusable; a new one may work.
    Lost(String),
    /// The transaction conflicted with another one; a retry may work.
    Again(String),
    /// A counter overflows.
    OutOfRange,
    /// A retry does not help.
    Final(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

impl From<PgError> for Trouble {
    fn from(error: PgError) -> Self {
        match error.as_db_error() {
            Some(db) => from_database(db, &error),
            None => from_client(&error),
        }
    }
}

fn from_database(db: &DbError, error: &PgError) -> Trouble {
    let detail = one_line(error);
    let code = db.code();
    match code.code() {
        // Serialization failure, deadlock, lock not available.
        "40001" | "40P01" | "55P03" => Trouble::Again(detail),
        "22003" => Trouble::OutOfRange,
        "53100" => Trouble::Final(Error::DiskFull { detail }),
        "57014" | "53200" | "53400" => Trouble::Final(Error::unavailable(detail)),
        // Shutdown, crash, start-up, idle time-outs, too many connections, a read-only standby; and
        // a prepared statement that the server dropped or that no longer fits.
        "57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "53300" | "25006" | "26000" => {
            Trouble::Lost(detail)
        }
        "0A000" if db.message().contains("cached plan") => Trouble::Lost(detail),
        "3D000" | "42501" => Trouble::Final(Error::Refused { detail }),
        other if other.starts_with("08") => Trouble::Lost(detail),
        other if other.starts_with("28") => Trouble::Final(Error::Refused { detail }),
        _ => Trouble::Final(engine(detail)),
    }
}

fn from_client(error: &PgError) -> Trouble {
    let detail = one_line(error);
    let Some(source) = error.source() else { return Trouble::Lost(detail) };
    match source.downcast_ref::<io::Error>() {
        // Certificate errors of rustls are invalid data.
        Some(io) if io.kind() == io::ErrorKind::InvalidData && is_tls(error) => {
            Trouble::Final(Error::Refused { detail })
        }
        Some(_) => Trouble::Lost(detail),
        None if is_tls(error) || is_login(error) => Trouble::Final(Error::Refused { detail }),
        None => Trouble::Final(engine(detail)),
    }
}

/// The kinds of the client's errors are private; only their messages distinguish them.
fn is_tls(error: &PgError) -> bool {
    error.to_string().starts_with("error performing TLS")
}

fn is_login(error: &PgError) -> bool {
    let text = error.to_string();
    text.starts_with("authentication error") || text.starts_with("invalid configuration")
}

pub(super) fn engine(detail: impl Into<String>) -> Error {
    Error::Engine { engine: "postgres", detail: detail.into() }
}

pub(super) fn one_line(error: &PgError) -> String {
    let text = match (error.as_db_error(), error.source()) {
        (Some(db), _) => format!("{} ({})", db.message(), db.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the server reports that the transaction failed, so that this is certain. A broken
/// connection is not certain, and neither is a server that shuts down.
pub(super) fn is_certain(error: &PgError) -> bool {
    let Some(db) = error.as_db_error() else { return false };
    let fatal = !matches!(db.severity(), "ERROR")
        && db.parsed_severity() != Some(tokio_postgres::error::Severity::Error);
    let unsure = *db.code() == SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN
        || db.code().code().starts_with("08")
        || db.code().code().starts_with("57P");
    !fatal && !unsure
}

/// Whether the database does not have the statement, or the thing it names.
pub(super) fn is_unsupported(error: &PgError) -> bool {
    let code = error.code().map_or("", SqlState::code);
    matches!(code, "0A000" | "42601" | "42704" | "22023" | "42883" | "42501" | "55P02")
}

/// Whether another process created the same schema or table concurrently.
pub(super) fn is_duplicate(error: &PgError) -> bool {
    let code = error.code().map_or("", SqlState::code);
    // PostgreSQL reports a concurrent change of its catalogue as an internal error.
    let concurrently = error.as_db_error().is_some_and(|db| db.message().contains("concurrently"));
    matches!(code, "23505" | "42P07" | "42P06" | "42710" | "42701") || (code == "XX000" && concurrently)
}
