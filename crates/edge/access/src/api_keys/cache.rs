//! What was looked up lately, and what was used.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::rows::KeyRow;
use crate::limits::{API_KEY_CACHE_TIME, API_KEY_UNCHECKED_TIME, API_KEY_USE_GRAIN, API_KEYS_CACHED_MAX};
use crate::lru::Lru;
use crate::time::Time;

/// A key that is there, or the knowledge that it is not.
pub(super) type Found = Option<Arc<KeyRow>>;

pub(super) struct Cache {
    rows: Mutex<Lru<String, (Time, Found)>>,
    uses: Mutex<Uses>,
    /// Raised whenever something is forgotten: what was read before must not be put in after.
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
    /// What is known of the key, if it was looked up a short while ago.
    pub(super) fn get(&self, id: &str, now: Time) -> Option<Found> {
        self.read_within(API_KEY_CACHE_TIME, id, now)
    }

    /// The key, if it was there when it was looked up last, and that is not too long ago to look on while the store is away.
    pub(super) fn get_unchecked(&self, id: &str, now: Time) -> Found {
        self.read_within(API_KEY_UNCHECKED_TIME, id, now).flatten()
    }

    fn read_within(&self, time: Duration, id: &str, now: Time) -> Option<Found> {
        let mut rows = lock(&self.rows);
        let (read, found) = rows.get(&id.to_owned())?;
        let fresh = *read <= now && now.since(*read) < time;
        fresh.then(|| found.clone())
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Remembers what was read, unless something was forgotten since `generation`.
    pub(super) fn put(&self, id: &str, found: Found, now: Time, generation: u64) {
        let mut rows = lock(&self.rows);
        if self.generation() == generation {
            rows.insert(id.to_owned(), (now, found), |_| true);
        }
    }

    pub(super) fn forget(&self, id: &str) {
        let mut rows = lock(&self.rows);
        self.generation.fetch_add(1, Ordering::AcqRel);
        rows.remove(&id.to_owned());
    }

    pub(super) fn note_use(&self, id: &str, now: Time) {
        let mut uses = lock(&self.uses);
        let written = uses.written.get(&id.to_owned()).copied();
        let due = written.is_none_or(|written| now.since(written) >= API_KEY_USE_GRAIN);
        if due && (uses.waiting.len() < API_KEYS_CACHED_MAX || uses.waiting.contains_key(id)) {
            uses.waiting.insert(id.to_owned(), now);
        }
    }

    /// Not more than fit into one batch; the rest stays for the next time.
    pub(super) fn uses_to_write(&self) -> Vec<(String, Time)> {
        let uses = lock(&self.uses);
        let most = store::limits::BATCH_OPS_MAX;
        uses.waiting.iter().take(most).map(|(id, at)| (id.clone(), *at)).collect()
    }

    pub(super) fn uses_written(&self, written: &[(String, Time)]) {
        let mut uses = lock(&self.uses);
        for (id, at) in written {
            uses.waiting.remove(id);
            uses.written.insert(id.clone(), *at, |_| true);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
