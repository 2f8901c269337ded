//! One at a time by key, in this process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

/// Locks by key. A lock exists only while somebody holds it or waits for it.
#[derive(Default)]
pub(crate) struct Singles {
    locks: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

/// The right to be the only one with a key.
pub(crate) struct Single<'a> {
    singles: &'a Singles,
    key: String,
    guard: Option<OwnedMutexGuard<()>>,
}

impl Singles {
    /// Waits until nobody else holds this key.
    pub(crate) async fn hold(&self, key: &str) -> Single<'_> {
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(locks.entry(key.to_owned()).or_default())
        };
        // Made before the wait: a caller that gives up waiting cleans up too.
        let mut single = Single { singles: self, key: key.to_owned(), guard: None };
        single.guard = Some(lock.lock_owned().await);
        single
    }
}

impl Drop for Single<'_> {
    fn drop(&mut self) {
        self.guard = None;
        let mut locks = self.singles.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if locks.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            locks.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_key_is_held_by_one_and_locks_are_not_kept() {
        let singles = Singles::default();
        let first = singles.hold("a").await;
        let _other = singles.hold("b").await;
        let mut second = std::pin::pin!(singles.hold("a"));
        assert!(futures::poll!(&mut second).is_pending());
        {
            let mut third = std::pin::pin!(singles.hold("a"));
            assert!(futures::poll!(&mut third).is_pending());
        }
        drop(first);
        drop(second.await);
        assert_eq!(singles.locks.lock().unwrap().len(), 1, "only b is left");
    }
}
