//! The shards that the loop serves, by the leases of this process.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::lease::{LeaseRequest, Leases};
use crate::relay::{InFlight, Serving};

/// The pause before another attempt to release a shard in which something is under way.
const RELEASE_RETRY: Duration = Duration::from_millis(50);

pub(super) struct Shards {
    pub(super) leases: watch::Receiver<Leases>,
    requests: mpsc::UnboundedSender<LeaseRequest>,
    /// The shards that new work may begin in; the tasks beside the loop follow it.
    pub(super) serving: watch::Sender<Serving>,
    /// What the exporter is doing.
    in_flight: InFlight,
    /// Shards whose release was requested.
    released: BTreeSet<u32>,
    /// Shards that may not be ours any more; a check was requested.
    suspect: BTreeSet<u32>,
}

impl Shards {
    pub(super) fn new(
        leases: watch::Receiver<Leases>,
        requests: mpsc::UnboundedSender<LeaseRequest>,
        serving: watch::Sender<Serving>,
        in_flight: InFlight,
    ) -> Self {
        Self { leases, requests, serving, in_flight, released: BTreeSet::new(), suspect: BTreeSet::new() }
    }

    /// Whether there is news of the leases. Earlier requests may have failed and are made again.
    pub(super) fn take_change(&mut self) -> bool {
        let changed = self.leases.has_changed().unwrap_or(false);
        if changed {
            self.leases.mark_unchanged();
            self.released.clear();
            self.suspect.clear();
        }
        changed
    }

    /// Serves what is ours at the moment; returns what was served before and now, if that differs.
    pub(super) fn update(&mut self) -> Option<(Serving, Serving)> {
        let leases = self.leases.borrow();
        let is_trusted = leases.trusted_until.is_some_and(|until| Instant::now() < until);
        let ours = leases.serving.iter().filter(|(shard, _)| is_trusted && !self.suspect.contains(shard));
        let ours: Serving = ours.map(|(shard, fence)| (*shard, fence.clone())).collect();
        if *self.serving.borrow() == ours {
            return None;
        }
        Some((self.serving.send_replace(ours.clone()), ours))
    }

    /// Releases shards that are to be given away and in which nothing happens any more.
    pub(super) fn release_idle(&mut self, is_busy: impl Fn(u32) -> bool) {
        for shard in &self.leases.borrow().leaving {
            // The leases may have changed since the last update: a shard that is served stays.
            let is_idle = !is_busy(*shard)
                && !self.in_flight.contains(*shard)
                && !self.serving.borrow().contains_key(shard);
            if (is_idle || planted!(BusyGivenAway)) && self.released.insert(*shard) {
                // The receiver lives as long as the loop.
                let _ = self.requests.send(LeaseRequest::Release(*shard));
            }
        }
    }

    /// A batch was refused as if the shard were not ours.
    pub(super) fn suspect(&mut self, shard: u32) {
        if self.suspect.insert(shard) {
            // The receiver lives as long as the loop.
            let _ = self.requests.send(LeaseRequest::Verify);
        }
    }

    pub(super) fn wake_at(&self) -> Option<Instant> {
        let leases = self.leases.borrow();
        let release =
            leases.leaving.difference(&self.released).next().map(|_| Instant::now() + RELEASE_RETRY);
        let trusted_until = leases.trusted_until.filter(|_| !self.serving.borrow().is_empty());
        release.into_iter().chain(trusted_until).min()
    }
}
