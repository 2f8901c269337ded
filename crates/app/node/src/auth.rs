//! Who may call, wired: the gate and the certificate of one process, and what keeps them fresh.

use std::sync::Arc;

use access::{ApiKeys, Clock, Entropy, Gate, HttpsFetch, Mode, Tls};
use store::Store;
use tokio::task::JoinHandle;

use crate::config::Config;
use terminal::errors::advised;

/// The gate before every call, and the port's TLS.
pub struct Auth {
    pub gate: Gate,
    pub tls: Option<Arc<Tls>>,
}

impl Auth {
    /// Reads what the configuration names. Refuses what would be open to other machines; to be
    /// asked before the port is taken.
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

    /// Believes the store's API keys from now on and keeps keys and certificates up to date until
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

/// What runs beside the calls.
pub struct Upkeep {
    tasks: Vec<JoinHandle<()>>,
    keys: ApiKeys,
}

impl Upkeep {
    /// Ends it, and writes down which keys were used last.
    pub async fn close(self) -> anyhow::Result<()> {
        for task in self.tasks {
            task.abort();
            // Aborted or not: it has ended.
            let _ = task.await;
        }
        self.keys.write_uses().await.map(|_| ()).map_err(access_error)
    }
}

/// The API keys of a store.
pub fn api_keys(store: &Store) -> ApiKeys {
    ApiKeys::new(store.clone(), Clock::system(), Entropy::system())
}

/// The error of access for a person.
pub fn access_error(error: access::Error) -> anyhow::Error {
    match error.hint() {
        Some(hint) => advised(error, hint),
        None => error.into(),
    }
}
