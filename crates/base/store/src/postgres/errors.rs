//! What an error of the database means for us.

use std::error::Error as _;
use std::io;

use tokio_postgres::error::{DbError, SqlState};

use crate::Error;

pub(super) type PgError = tokio_postgres::Error;

/// Why a step failed, and so what to do about it.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The connection is gone or no longer of use; a new one may work.
    Lost(String),
    /// The transaction lost against another one; the same again may work.
    Again(String),
    /// A number left its range: a counter overflows.
    OutOfRange,
    /// Trying again does not help.
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
        // Shutdown, crash, start-up, idle time-outs, too many connections, a standby that does not write; and a
        // prepared statement that the server has forgotten or that no longer fits.
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
        // What rustls says about a certificate comes as invalid data.
        Some(io) if io.kind() == io::ErrorKind::InvalidData && is_tls(error) => {
            Trouble::Final(Error::Refused { detail })
        }
        Some(_) => Trouble::Lost(detail),
        None if is_tls(error) || is_login(error) => Trouble::Final(Error::Refused { detail }),
        None => Trouble::Final(engine(detail)),
    }
}

/// The kinds of the client's errors are private; their messages are all there is to tell them apart.
fn is_tls(error: &PgError) -> bool {
    error.to_string().starts_with("error performing TLS")
}

fn is_login(error: &PgError) -> bool {
    let text = error.to_string();
    text.starts_with("authentication error") || text.starts_with("invalid configuration")
}

/// An error that has no better name.
pub(super) fn engine(detail: impl Into<String>) -> Error {
    Error::Engine { engine: "postgres", detail: detail.into() }
}

/// The error and its cause in one line.
pub(super) fn one_line(error: &PgError) -> String {
    let text = match (error.as_db_error(), error.source()) {
        (Some(db), _) => format!("{} ({})", db.message(), db.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the server itself says that the transaction failed, so that it is certain that it did. A connection that
/// breaks says nothing, and neither does a server that is going down.
pub(super) fn is_certain(error: &PgError) -> bool {
    let Some(db) = error.as_db_error() else { return false };
    let fatal = !matches!(db.severity(), "ERROR")
        && db.parsed_severity() != Some(tokio_postgres::error::Severity::Error);
    let unsure = *db.code() == SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN
        || db.code().code().starts_with("08")
        || db.code().code().starts_with("57P");
    !fatal && !unsure
}

/// Whether the statement, or the thing it names, is not known to this database: one of PostgreSQL's kin may lack it.
pub(super) fn is_unsupported(error: &PgError) -> bool {
    let code = error.code().map_or("", SqlState::code);
    matches!(code, "0A000" | "42601" | "42704" | "22023" | "42883" | "42501" | "55P02")
}

/// Whether another process created the same schema or table at the same moment.
pub(super) fn is_duplicate(error: &PgError) -> bool {
    let code = error.code().map_or("", SqlState::code);
    // PostgreSQL calls a concurrent change of its own catalogue an internal error.
    let concurrently = error.as_db_error().is_some_and(|db| db.message().contains("concurrently"));
    matches!(code, "23505" | "42P07" | "42P06" | "42710" | "42701") || (code == "XX000" && concurrently)
}
