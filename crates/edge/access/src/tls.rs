//! TLS for the port: loaded from files, and loaded again when they change.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::config::TlsConfig;
use crate::files::{FileState, read_file};
use crate::limits::UPKEEP_INTERVAL;
use crate::{Error, Result};

/// The protocols that the port speaks, the preferred one first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The server's TLS. New connections take [`Tls::current`]; running ones keep what they began with.
pub struct Tls {
    files: TlsConfig,
    current: ArcSwap<ServerConfig>,
    seen: Mutex<FileState>,
}

impl Tls {
    /// Loads the files; `None` when TLS is not configured.
    pub fn load(config: &TlsConfig) -> Result<Option<Self>> {
        if !config.is_on()? {
            return Ok(None);
        }
        let seen = FileState::of(paths(config));
        let current = ArcSwap::from_pointee(server_config(config)?);
        Ok(Some(Self { files: config.clone(), current, seen: Mutex::new(seen) }))
    }

    /// What a new connection is to be served with.
    #[must_use]
    pub fn current(&self) -> Arc<ServerConfig> {
        self.current.load_full()
    }

    /// Loads the files again if they have changed; tells whether it did. When they are wrong, such as in the middle of a
    /// renewal, the old ones stay in use.
    pub fn reload(&self) -> Result<bool> {
        let state = FileState::of(paths(&self.files));
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == state {
            return Ok(false);
        }
        let loaded = server_config(&self.files)?;
        self.current.store(Arc::new(loaded));
        *seen = state;
        Ok(true)
    }

    /// Loads changed files for as long as the process runs. Spawn it, and abort it at the end.
    pub async fn upkeep(&self) {
        loop {
            tokio::time::sleep(UPKEEP_INTERVAL).await;
            match self.reload() {
                Ok(true) => tracing::info!("the certificate has changed and was loaded again"),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%error, "the changed certificate cannot be used; the old one stays in use");
                }
            }
        }
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("files", &self.files).finish_non_exhaustive()
    }
}

fn paths(config: &TlsConfig) -> impl Iterator<Item = &PathBuf> {
    let all = [&config.cert_file, &config.key_file, &config.client_ca_file];
    all.into_iter().filter(|path| !path.as_os_str().is_empty())
}

/// The server's side of TLS 1.2 and 1.3 as configured. Certificate and key must belong together.
fn server_config(config: &TlsConfig) -> Result<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let chain = certificates(&config.cert_file)?;
    let key = private_key(&config.key_file)?;
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Tls { why: error.to_string() })?;
    let builder = if config.client_ca_file.as_os_str().is_empty() {
        builder.with_no_client_auth()
    } else {
        builder.with_client_cert_verifier(client_verifier(&config.client_ca_file, provider)?)
    };
    let mut server = builder.with_single_cert(chain, key).map_err(|error| Error::Tls {
        why: format!("{} with {}: {error}", config.cert_file.display(), config.key_file.display()),
    })?;
    server.alpn_protocols = PROTOCOLS.iter().map(|name| name.to_vec()).collect();
    Ok(server)
}

fn client_verifier(
    file: &Path,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn rustls::server::danger::ClientCertVerifier>> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(|error| Error::file(file, error))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| Error::file(file, error))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let text = read_file(file)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let read = read.map_err(|error| Error::file(file, format!("no PEM: {error:?}")))?;
    if read.is_empty() {
        return Err(Error::file(file, "no certificate in it: it should hold -----BEGIN CERTIFICATE-----"));
    }
    Ok(read)
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>> {
    // What the parser says of a broken key is not repeated: it might show a part of it.
    PrivateKeyDer::from_pem_slice(&read_file(file)?).map_err(|_| {
        Error::file(
            file,
            "no private key in it that is not encrypted: it should hold -----BEGIN PRIVATE KEY-----",
        )
    })
}
