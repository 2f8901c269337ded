//! The address of a database: a PostgreSQL URL with a few parameters of our own.
//!
//! - `schema=NAME`: the schema of our tables; `torg` by default.
//! - `lock=by-table|by-shard`: how rows are locked, see [`LockStyle`].
//! - `sslmode=disable|prefer|require|verify-full`: see [`super::tls`].

use std::fmt::Write as _;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use crate::open::masked_url;
use crate::options::PostgresOptions;
use crate::table::is_identifier;
use crate::{Error, Result};

const SCHEMA_DEFAULT: &str = "torg";
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// A dead peer is detected within idle + retries x interval.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;
/// Parameters that are passed on unchanged.
const KNOWN_PARAMETERS: [&str; 17] = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "load_balance_hosts",
    "options",
    "password",
    "port",
    "sslnegotiation",
    "target_session_attrs",
    "user",
];

/// How a commit locks the rows that it checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockStyle {
    /// One statement for each table.
    ByTable,
    /// One statement for each table and shard: Citus refuses a row lock that spans shards.
    ByShard,
}

/// How much TLS, and how much trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TlsMode {
    Disable,
    /// If the server can; its certificate is not verified.
    Prefer,
    /// Always; the certificate is verified if a file of authorities is given.
    Require,
    /// Always, with a certificate for the host from a trusted authority.
    VerifyFull,
}

#[derive(Debug)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) schema: String,
    /// `None` lets the database decide.
    pub(super) lock: Option<LockStyle>,
    pub(super) tls: TlsMode,
    /// The URL without its password.
    pub(super) shown: String,
}

impl Address {
    /// Parses a URL. No error repeats a password.
    pub(super) fn parse(url: &str, options: &PostgresOptions) -> Result<Self> {
        let bad = |reason: String| Error::BadUrl { url: masked_url(url), reason };
        if !SCHEMES.iter().any(|scheme| url.starts_with(scheme)) {
            return Err(bad("it must start with postgres://".to_owned()));
        }
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut schema, mut lock, mut tls) = (SCHEMA_DEFAULT.to_owned(), None, TlsMode::Prefer);
        let mut handed_on = String::new();
        for (name, value) in query.split('&').filter(|p| !p.is_empty()).map(split_parameter) {
            match name {
                "schema" if is_identifier(value) && !value.starts_with("pg_") => {
                    value.clone_into(&mut schema);
                }
                "schema" => return Err(bad("schema must be a short lower-case name".to_owned())),
                "lock" => lock = Some(lock_style(value).map_err(bad)?),
                "sslmode" => tls = tls_mode(value).map_err(bad)?,
                known if KNOWN_PARAMETERS.contains(&known) => {
                    let separator = if handed_on.is_empty() { '?' } else { '&' };
                    // `String` never refuses a write.
                    let _ = write!(handed_on, "{separator}{name}={value}");
                }
                _ => return Err(bad("it has an unknown parameter behind the '?'".to_owned())),
            }
        }
        // The parser's own message may quote a piece of the password.
        let parsed: Result<Config, _> = format!("{base}{handed_on}").parse();
        let mut config = parsed.map_err(|_| bad("it cannot be parsed as a PostgreSQL URL".to_owned()))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(bad("it names no host".to_owned()));
        }
        complete(&mut config, tls, options);
        Ok(Self { config, schema, lock, tls, shown: masked_url(url) })
    }
}

fn complete(config: &mut Config, tls: TlsMode, options: &PostgresOptions) {
    config.ssl_mode(match tls {
        TlsMode::Disable => SslMode::Disable,
        TlsMode::Prefer => SslMode::Prefer,
        TlsMode::Require | TlsMode::VerifyFull => SslMode::Require,
    });
    if config.get_application_name().is_none() {
        config.application_name("torg");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(options.connect_timeout);
    }
    config.keepalives(true).keepalives_idle(KEEPALIVE_IDLE).keepalives_interval(KEEPALIVE_INTERVAL);
    config.keepalives_retries(KEEPALIVE_RETRIES).tcp_user_timeout(options.statement_timeout);
}

fn split_parameter(parameter: &str) -> (&str, &str) {
    parameter.split_once('=').unwrap_or((parameter, ""))
}

fn lock_style(value: &str) -> Result<LockStyle, String> {
    match value {
        "by-table" => Ok(LockStyle::ByTable),
        "by-shard" => Ok(LockStyle::ByShard),
        _ => Err("lock must be by-table or by-shard".to_owned()),
    }
}

fn tls_mode(value: &str) -> Result<TlsMode, String> {
    match value {
        "disable" => Ok(TlsMode::Disable),
        "prefer" => Ok(TlsMode::Prefer),
        "require" => Ok(TlsMode::Require),
        "verify-full" => Ok(TlsMode::VerifyFull),
        _ => Err("sslmode must be disable, prefer, require or verify-full".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Address> {
        Address::parse(url, &PostgresOptions::default())
    }

    #[test]
    fn our_own_parameters_are_taken_out_and_the_others_are_handed_on() {
        let url = "postgres://me:pw@db:5433/shop?schema=other&lock=by-shard&sslmode=verify-full&target_session_attrs=read-write";
        let address = parse(url).unwrap();
        assert_eq!((address.schema.as_str(), address.lock), ("other", Some(LockStyle::ByShard)));
        assert_eq!(address.tls, TlsMode::VerifyFull);
        assert_eq!(address.config.get_ssl_mode(), SslMode::Require);
        assert_eq!((address.config.get_ports(), address.config.get_dbname()), (&[5433][..], Some("shop")));
        assert_eq!(address.config.get_application_name(), Some("torg"));
    }

    #[test]
    fn a_bad_address_is_refused_without_its_password() {
        for url in [
            "postgres://me:s3cret@db:notaport/shop",
            "postgres://me:s3cret@db/shop?sslmode=maybe",
            "postgres://me:s3cret@db/shop?schema=No",
            "postgres://me:s3cret@db/shop?nonsense=1",
            "postgres://me:s3cret",
            "postgres://me:?s3cret@db/shop",
            "postgres://db/shop?user=me&password=s3cret&schema=",
            "mysql://me:s3cret@db/shop",
            "me:s3cret@db",
        ] {
            let error = parse(url).unwrap_err();
            assert!(matches!(error, Error::BadUrl { .. }), "{error}");
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }
}
