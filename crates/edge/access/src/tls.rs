//! TLS for the port: loaded from files, and loaded again when they change.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use rustls::ServerConfig;

use crate::config::TlsConfig;
use crate::files::{FileState, read_file};
use crate::limits::UPKEEP_INTERVAL;
use crate::{Error, Result};

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

    /// Loads the files again if they have changed; tells whether it did. When they are wrong, such
    /// as in the middle of a renewal, the old ones stay in use.
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

/// The settings from the files. Certificate and key must belong together.
fn server_config(config: &TlsConfig) -> Result<ServerConfig> {
    let chain = read(&config.cert_file, net::certificates)?;
    let key = read(&config.key_file, net::private_key)?;
    let clients = Some(&config.client_ca_file).filter(|file| !file.as_os_str().is_empty());
    let clients = clients.map(|file| read(file, net::roots)).transpose()?;
    net::server(chain, key, clients).map_err(|error| Error::Tls {
        why: format!("{} with {}: {error}", config.cert_file.display(), config.key_file.display()),
    })
}

fn read<T>(file: &Path, parse: impl FnOnce(&[u8]) -> net::Result<T>) -> Result<T> {
    parse(&read_file(file)?).map_err(|error| Error::file(file, error))
}
