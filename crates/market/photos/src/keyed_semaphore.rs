//! A semaphore for each key, in this process.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A semaphore exists only while it is held or waited for.
pub(crate) struct KeyedSemaphore {
    permits: usize,
    semaphores: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

pub(crate) struct KeyPermit<'a> {
    owner: &'a KeyedSemaphore,
    key: String,
    permit: Option<OwnedSemaphorePermit>,
}

impl KeyedSemaphore {
    pub(crate) fn new(permits: usize) -> Self {
        Self { permits: permits.max(1), semaphores: Mutex::default() }
    }

    /// Waits for a permit of this key; first come, first served.
    pub(crate) async fn acquire(&self, key: &str) -> KeyPermit<'_> {
        let semaphore = {
            let mut semaphores = self.semaphores.lock();
            let new = || Arc::new(Semaphore::new(self.permits));
            Arc::clone(semaphores.entry(key.to_owned()).or_insert_with(new))
        };
        // Made before the wait, so that a dropped future cleans up too.
        let mut held = KeyPermit { owner: self, key: key.to_owned(), permit: None };
        // The semaphores are never closed.
        held.permit = semaphore.acquire_owned().await.ok();
        held
    }
}

impl Drop for KeyPermit<'_> {
    fn drop(&mut self) {
        self.permit = None;
        let mut semaphores = self.owner.semaphores.lock();
        if semaphores.get(&self.key).is_some_and(|semaphore| Arc::strong_count(semaphore) == 1) {
            semaphores.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_key_has_its_permits_and_is_dropped_when_they_are_released() {
        let hosts = KeyedSemaphore::new(2);
        let (first, second) = (hosts.acquire("a").await, hosts.acquire("a").await);
        let other = hosts.acquire("b").await;
        let mut third = std::pin::pin!(hosts.acquire("a"));
        assert!(futures::poll!(&mut third).is_pending());
        {
            let mut fourth = std::pin::pin!(hosts.acquire("a"));
            assert!(futures::poll!(&mut fourth).is_pending(), "and gives up");
        }
        drop(first);
        let third = third.await;
        drop((second, third, other));
        assert!(hosts.semaphores.lock().is_empty());
    }
}
