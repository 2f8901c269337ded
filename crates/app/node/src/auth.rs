//! Authentication of one process: the gate, the TLS certificate, and their refresh.

use std::sync::Arc;

use access::{ApiKeys, Clock, Entropy, Gate, HttpsFetch, Mode, Tls};
use store::Store;
use tokio::task::JoinHandle;

use crate::config::Config;
use terminal::errors::advised;

/// The gate in front of every call, and the TLS of the port.
pub struct Auth {
    pub gate: Gate,
    pub tls: Option<Arc<Tls>>,
}

impl Auth {
    /// Reads what the configuration names. Refuses settings that would leave the process open to
    /// other machines. Must run before the port is bound.
    pub fn prepare(config: &Config) -> anyhow::Result<Auth> {
        access::require_safe_listen(config.listen, &config.access).map_err(access_error)?;
        let gate = Gate::new(&config.access, Arc::new(HttpsFetch::default()), Clock::system())
            .map_err(access_error)?;
        let tls = Tls::load(&config.tls).map_err(access_error)?.map(Arc::new);
        let alone = config.listen.ip().to_canonical().is_loopback();
        if config.access.mode == Mode::Required && tls.is_none() && !alone {
            tracing::warn!("without [tls] tokens travel unencrypted, unless a proxy in front speaks TLS");
        }
        Ok(Auth { gate, tls })
    }

    /// Accepts the store's API keys from now on. Refreshes keys and certificates until
    /// [`Upkeep::close`].
    pub fn open(&self, keys: &ApiKeys) -> Upkeep {
        self.gate.open_api_keys(keys.clone());
        let gate = self.gate.clone();
        let mut tasks = vec![tokio::spawn(async move {
            if let Err(error) = gate.refresh().await {
                tracing::warn!(%error, "the keys of tokens are not there yet");
            }
            gate.upkeep().await;
        })];
        if let Some(tls) = self.tls.clone() {
            tasks.push(tokio::spawn(async move { tls.upkeep().await }));
        }
        Upkeep { tasks, keys: keys.clone() }
    }
}

/// Background refresh of keys and certificates.
pub struct Upkeep {
    tasks: Vec<JoinHandle<()>>,
    keys: ApiKeys,
}

impl Upkeep {
    /// Stops the refresh and writes when each key was last used.
    pub async fn close(self) -> anyhow::Result<()> {
        for task in self.tasks {
            task.abort();
            // The task has ended, aborted or not.
            let _ = task.await;
        }
        self.keys.write_uses().await.map(|_| ()).map_err(access_error)
    }
}

pub fn api_keys(store: &Store) -> ApiKeys {
    ApiKeys::new(store.clone(), Clock::system(), Entropy::system())
}

/// Adds the hint, if the error has one.
pub fn access_error(error: access::Error) -> anyhow::Error {
    match error.hint() {
        Some(hint) => advised(error, hint),
        None => error.into(),
    }
}
