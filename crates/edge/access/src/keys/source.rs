//! The sources of keys and their refresh.
//!
//! Files are reloaded when they change. A URL is fetched at the start, when its keys are old, and
//! when a token names an unknown key, then at most once per [`FETCH_INTERVAL_MIN`]. While fetches
//! fail, the old keys are used.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::{Mutex, Semaphore};

use super::{Key, jwks, pem};
use crate::config::Config;
use crate::fetch::Fetch;
use crate::files::{FileState, read_file};
use crate::limits::{
    FETCH_INTERVAL_MIN, FETCH_TIME_MAX, FETCH_WAITERS_MAX, HS256_SECRET_BYTES_MIN, JWKS_BYTES_MAX,
};
use crate::time::Time;
use crate::{Error, Result};

/// All configured keys.
pub(crate) struct Keyring {
    files: Files,
    from_files: ArcSwap<Vec<Key>>,
    files_seen: parking_lot::Mutex<FileState>,
    url: Option<UrlKeys>,
}

/// The configured files; empty paths are left out.
struct Files {
    jwks: Option<PathBuf>,
    pem: Option<PathBuf>,
    secret: Option<PathBuf>,
}

struct UrlKeys {
    url: String,
    fetch: Arc<dyn Fetch>,
    age_max: Duration,
    /// `None` before the first fetch that worked.
    keys: ArcSwap<Option<Vec<Key>>>,
    /// Held during a fetch, so that concurrent calls share one fetch.
    attempts: Mutex<Attempts>,
    waiting: Semaphore,
}

#[derive(Default)]
struct Attempts {
    last: Option<Time>,
    worked: Option<Time>,
}

impl Attempts {
    /// Whether the last attempt is long enough ago. A clock that went back counts as long ago.
    fn may_retry(&self, now: Time) -> bool {
        self.last.is_none_or(|last| now.since(last) >= FETCH_INTERVAL_MIN || last > now)
    }
}

impl Keyring {
    /// Reads the files. The URL is fetched by [`refresh`](Self::refresh).
    pub(crate) fn load(config: &Config, fetch: Arc<dyn Fetch>) -> Result<Self> {
        let given = |path: &PathBuf| (!path.as_os_str().is_empty()).then(|| path.clone());
        let files = Files {
            jwks: given(&config.jwks_file),
            pem: given(&config.pem_file),
            secret: given(&config.hs256_secret_file),
        };
        let seen = FileState::of(files.paths());
        let keys = files.read()?;
        let url = (!config.jwks_url.is_empty()).then(|| UrlKeys {
            url: config.jwks_url.clone(),
            fetch,
            age_max: Duration::from_secs(config.jwks_refresh_s.into()),
            keys: ArcSwap::default(),
            attempts: Mutex::default(),
            waiting: Semaphore::new(FETCH_WAITERS_MAX),
        });
        Ok(Self {
            files,
            from_files: ArcSwap::from_pointee(keys),
            files_seen: parking_lot::Mutex::new(seen),
            url,
        })
    }

    /// Whether no fetch has succeeded yet.
    pub(crate) fn is_url_pending(&self) -> bool {
        self.url.as_ref().is_some_and(|url| url.keys.load().is_none())
    }

    pub(crate) fn candidates(&self, kid: Option<&str>) -> Vec<Key> {
        let (files, url) = (self.from_files.load(), self.url.as_ref().map(|url| url.keys.load()));
        let fetched = url.iter().flat_map(|keys| keys.iter().flatten());
        files.iter().chain(fetched).filter(|key| key.matches_id(kid)).cloned().collect()
    }

    /// Fetches because a token names an unknown key, unless there was a recent attempt. Concurrent
    /// calls share the fetch. Returns whether the keys may have changed.
    pub(crate) async fn fetch_for_unknown_key(&self, now: Time) -> bool {
        let Some(url) = &self.url else { return false };
        // Forged tokens must not fill the process with waiting calls.
        let Ok(_place) = url.waiting.try_acquire() else { return false };
        let version = url.keys.load_full();
        let mut attempts = url.attempts.lock().await;
        if attempts.may_retry(now)
            && let Err(error) = url.try_fetch(&mut attempts, now).await
        {
            tracing::warn!(%error, "a token is signed by a key that is not known, and the keys cannot be fetched");
        }
        !Arc::ptr_eq(&version, &url.keys.load_full())
    }

    /// Fetches the URL if its keys are old or missing and there was no recent attempt.
    pub(crate) async fn refresh(&self, now: Time) -> Result<()> {
        let Some(url) = &self.url else { return Ok(()) };
        let mut attempts = url.attempts.lock().await;
        let old = attempts.worked.is_none_or(|worked| now.since(worked) >= url.age_max || worked > now);
        if old && attempts.may_retry(now) { url.try_fetch(&mut attempts, now).await } else { Ok(()) }
    }

    /// Reloads changed files. On failure the old keys stay.
    pub(crate) fn reread(&self) -> Result<bool> {
        let state = FileState::of(self.files.paths());
        let mut seen = self.files_seen.lock();
        if *seen == state {
            return Ok(false);
        }
        *seen = state;
        self.from_files.store(Arc::new(self.files.read()?));
        Ok(true)
    }
}

impl Files {
    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.jwks, &self.pem, &self.secret].into_iter().flatten()
    }

    fn read(&self) -> Result<Vec<Key>> {
        let mut keys = Vec::new();
        if let Some(path) = &self.jwks {
            keys.extend(jwks::keys(&read_file(path)?).map_err(|why| Error::file(path, why))?);
        }
        if let Some(path) = &self.pem {
            keys.extend(pem::keys(path, &read_file(path)?)?);
        }
        if let Some(path) = &self.secret {
            let text = read_file(path)?;
            let secret = text.trim_ascii_end();
            let why = format!("the secret has {} bytes; HS256 needs {HS256_SECRET_BYTES_MIN}", secret.len());
            keys.push(Key::from_secret(secret).ok_or_else(|| Error::file(path, why))?);
        }
        Ok(keys)
    }
}

impl UrlKeys {
    async fn try_fetch(&self, attempts: &mut Attempts, now: Time) -> Result<()> {
        attempts.last = Some(now);
        let fetched = tokio::time::timeout(FETCH_TIME_MAX, self.fetch.fetch(&self.url, JWKS_BYTES_MAX)).await;
        let text = fetched.unwrap_or_else(|_| Err(format!("no answer within {FETCH_TIME_MAX:?}")));
        match text.and_then(|text| jwks::keys(&text)) {
            Ok(keys) => {
                attempts.worked = Some(now);
                self.keys.store(Arc::new(Some(keys)));
                Ok(())
            }
            Err(why) => Err(Error::Fetch { url: store::masked_url(&self.url), why }),
        }
    }
}
