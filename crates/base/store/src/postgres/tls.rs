//! TLS to PostgreSQL.
//!
//! `prefer`, and `require` without a file of authorities, encrypt but trust any certificate, as
//! every PostgreSQL client does. `require` with such a file, and `verify-full`, verify certificate
//! and host name.

use std::fmt::Display;
use std::path::Path;

use rustls::RootCertStore;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::TlsMode;
use super::errors::engine;
use crate::options::PostgresOptions;
use crate::{Error, Result};

/// Connects with TLS if the server and the address want it.
pub(super) fn connector(mode: TlsMode, options: &PostgresOptions) -> Result<MakeRustlsConnect> {
    let must_verify = match mode {
        TlsMode::Disable | TlsMode::Prefer => false,
        TlsMode::Require => options.tls_ca_file.is_some(),
        TlsMode::VerifyFull => true,
    };
    let builder = if must_verify {
        net::client(roots(options.tls_ca_file.as_deref())?)
    } else {
        net::client_trusting_any()
    };
    let config = match &options.tls_client_files {
        Some((certificate, key)) if mode != TlsMode::Disable => {
            let (chain, key) = (read(certificate, net::certificates)?, read(key, net::private_key)?);
            builder.with_client_auth_cert(chain, key).map_err(|error| unreadable(certificate, error))?
        }
        _ => builder.with_no_client_auth(),
    };
    Ok(MakeRustlsConnect::new(config))
}

fn roots(file: Option<&Path>) -> Result<RootCertStore> {
    match file {
        Some(file) => read(file, net::roots),
        None => Some(net::system_roots()).filter(|roots| !roots.is_empty()).ok_or_else(|| {
            engine("TLS: the system has no list of trusted authorities; set a file of authorities")
        }),
    }
}

fn read<T>(file: &Path, parse: impl FnOnce(&[u8]) -> net::Result<T>) -> Result<T> {
    let pem = std::fs::read(file).map_err(|error| unreadable(file, error))?;
    parse(&pem).map_err(|error| unreadable(file, error))
}

fn unreadable(file: &Path, error: impl Display) -> Error {
    Error::Io { path: file.display().to_string(), detail: error.to_string() }
}
