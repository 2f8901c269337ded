//! A cache of looked-up keys, and the uses that are not written yet.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::rows::KeyRow;
use crate::limits::{API_KEY_CACHE_TIME, API_KEY_UNCHECKED_TIME, API_KEY_USE_GRAIN, API_KEYS_CACHED_MAX};
use crate::lru::Lru;
use crate::time::Time;

/// The key, or `None`: it does not exist.
pub(super) type Found = Option<Arc<KeyRow>>;

pub(super) struct Cache {
    rows: Mutex<Lru<String, (Time, Found)>>,
    uses: Mutex<Uses>,
    /// Incremented by each invalidation, so that a row read before it is not cached after it.
    generation: AtomicU64,
}

struct Uses {
    written: Lru<String, Time>,
    waiting: BTreeMap<String, Time>,
}

impl Default for Cache {
    fn default() -> Self {
        let uses = Uses { written: Lru::new(API_KEYS_CACHED_MAX), waiting: BTreeMap::new() };
        Self {
            rows: Mutex::new(Lru::new(API_KEYS_CACHED_MAX)),
            uses: Mutex::new(uses),
            generation: AtomicU64::new(0),
        }
    }
}

impl Cache {
    /// The cached row, while it is fresh.
    pub(super) fn get(&self, id: &str, now: Time) -> Option<Found> {
        self.read_within(API_KEY_CACHE_TIME, id, now)
    }

    /// The cached row of an existing key while the store is unavailable.
    pub(super) fn get_unchecked(&self, id: &str, now: Time) -> Found {
        self.read_within(API_KEY_UNCHECKED_TIME, id, now).flatten()
    }

    fn read_within(&self, time: Duration, id: &str, now: Time) -> Option<Found> {
        let mut rows = self.rows.lock();
        let (read, found) = rows.get(&id.to_owned())?;
        let fresh = *read <= now && now.since(*read) < time;
        fresh.then(|| found.clone())
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Caches a row, unless there was an invalidation since `generation`.
    pub(super) fn put(&self, id: &str, found: Found, now: Time, generation: u64) {
        let mut rows = self.rows.lock();
        if self.generation() == generation {
            rows.insert(id.to_owned(), (now, found), |_| true);
        }
    }

    pub(super) fn forget(&self, id: &str) {
        let mut rows = self.rows.lock();
        self.generation.fetch_add(1, Ordering::AcqRel);
        rows.remove(&id.to_owned());
    }

    pub(super) fn note_use(&self, id: &str, now: Time) {
        let mut uses = self.uses.lock();
        let written = uses.written.get(&id.to_owned()).copied();
        let due = written.is_none_or(|written| now.since(written) >= API_KEY_USE_GRAIN);
        if due && (uses.waiting.len() < API_KEYS_CACHED_MAX || uses.waiting.contains_key(id)) {
            uses.waiting.insert(id.to_owned(), now);
        }
    }

    /// At most one batch; the rest follows next time.
    pub(super) fn uses_to_write(&self) -> Vec<(String, Time)> {
        let uses = self.uses.lock();
        let most = store::limits::BATCH_OPS_MAX;
        uses.waiting.iter().take(most).map(|(id, at)| (id.clone(), *at)).collect()
    }

    pub(super) fn uses_written(&self, written: &[(String, Time)]) {
        let mut uses = self.uses.lock();
        for (id, at) in written {
            uses.waiting.remove(id);
            uses.written.insert(id.clone(), *at, |_| true);
        }
    }
}
