//! The task that keeps the leases beside the loop, so that a slow heartbeat delays no visits.

use std::collections::BTreeSet;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::LeaseManager;
use crate::Result;
use crate::entity::Entity;
use crate::relay::Serving;
use crate::watcher::Watcher;

/// What this process holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leases {
    /// The shards in which new work may begin, until `trusted_until`.
    pub(crate) serving: Serving,
    pub(crate) trusted_until: Option<Instant>,
    /// Shards that are to be released when nothing happens in them any more.
    pub(crate) leaving: BTreeSet<u32>,
}

/// A request of the loop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LeaseRequest {
    /// Nothing happens in this shard any more.
    Release(u32),
    /// A batch was refused as if a shard were not ours: read the leases.
    Verify,
}

/// Keeps the leases until the work has ended, then releases them.
pub(crate) async fn maintain<E: Entity>(
    watcher: &Watcher<E>,
    mut manager: LeaseManager,
    leases: watch::Sender<Leases>,
    mut orders: mpsc::UnboundedReceiver<LeaseRequest>,
    mut ended: watch::Receiver<bool>,
) {
    let mut heartbeat_at = Instant::now();
    while !*ended.borrow() {
        if Instant::now() >= heartbeat_at {
            heartbeat_at = Instant::now() + manager.heartbeat_interval();
            manager.set_status(watcher.status().stages());
            log_error(manager.tick().await);
            leases.send_replace(manager.held());
        }
        tokio::select! {
            biased;
            () = turns_true(&mut ended) => {}
            Some(order) = orders.recv() => {
                let (mut leaving, mut next) = (Vec::new(), Some(order));
                while let Some(order) = next {
                    match order {
                        LeaseRequest::Release(shard) => leaving.push(shard),
                        LeaseRequest::Verify => heartbeat_at = Instant::now(),
                    }
                    next = orders.try_recv().ok();
                }
                log_error(manager.release(&leaving).await);
                leases.send_replace(manager.held());
            }
            () = sleep_until(heartbeat_at) => {}
        }
    }
    log_error(manager.release_all().await);
}

async fn turns_true(flag: &mut watch::Receiver<bool>) {
    // A closed channel is an end too.
    let _ = flag.wait_for(|flag| *flag).await;
}

fn log_error(outcome: Result<()>) {
    if let Err(error) = outcome {
        tracing::warn!(%error, "cannot keep the leases of the shards, will try again");
    }
}
