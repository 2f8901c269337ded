//! So many at a time by host, in this process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many are at each host. A host is known only while somebody is there or waits for it.
pub(crate) struct Hosts {
    each_max: usize,
    gates: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

/// The right to ask a host.
pub(crate) struct AtHost<'a> {
    hosts: &'a Hosts,
    host: String,
    permit: Option<OwnedSemaphorePermit>,
}

impl Hosts {
    pub(crate) fn new(each_max: usize) -> Self {
        Self { each_max: each_max.max(1), gates: Mutex::default() }
    }

    /// Waits until there is room at this host; whoever came first goes first.
    pub(crate) async fn enter(&self, host: &str) -> AtHost<'_> {
        let gate = {
            let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
            let gate =
                gates.entry(host.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(self.each_max)));
            Arc::clone(gate)
        };
        // Made before the wait: a caller that gives up waiting cleans up too.
        let mut at_host = AtHost { hosts: self, host: host.to_owned(), permit: None };
        // Gates are never closed.
        at_host.permit = gate.acquire_owned().await.ok();
        at_host
    }
}

impl Drop for AtHost<'_> {
    fn drop(&mut self) {
        self.permit = None;
        let mut gates = self.hosts.gates.lock().unwrap_or_else(PoisonError::into_inner);
        if gates.get(&self.host).is_some_and(|gate| Arc::strong_count(gate) == 1) {
            gates.remove(&self.host);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_host_has_so_many_at_a_time_and_is_forgotten_when_they_are_gone() {
        let hosts = Hosts::new(2);
        let (first, second) = (hosts.enter("a").await, hosts.enter("a").await);
        let other = hosts.enter("b").await;
        let mut third = std::pin::pin!(hosts.enter("a"));
        assert!(futures::poll!(&mut third).is_pending());
        {
            let mut fourth = std::pin::pin!(hosts.enter("a"));
            assert!(futures::poll!(&mut fourth).is_pending(), "and gives up");
        }
        drop(first);
        let third = third.await;
        drop((second, third, other));
        assert!(hosts.gates.lock().unwrap().is_empty());
    }
}
