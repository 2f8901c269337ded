//! Keeping the leases beside the work, so that a beat that takes long does not hold up visits.

use std::collections::BTreeSet;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use crate::Result;
use crate::entity::Entity;
use crate::relay::Serving;
use crate::shards::Keeper;
use crate::watcher::Watcher;

/// What this process holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leases {
    /// The shards in which new work may begin,
    pub(crate) serving: Serving,
    /// until this moment, if there is no newer word.
    pub(crate) trusted_until: Option<Instant>,
    /// The shards that are to be given away when nothing happens in them any more.
    pub(crate) leaving: BTreeSet<u32>,
}

/// What the loop wants of the keeper.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// Nothing happens in this shard any more.
    GiveAway(u32),
    /// A batch was refused as if a shard were not ours: look what the store says.
    Look,
}

/// Keeps the leases until the work has ended, then gives them away.
pub(crate) async fn keep<E: Entity>(
    watcher: &Watcher<E>,
    mut keeper: Keeper,
    leases: watch::Sender<Leases>,
    mut orders: mpsc::UnboundedReceiver<Order>,
    mut ended: watch::Receiver<bool>,
) {
    let mut next_beat = Instant::now();
    while !*ended.borrow() {
        if Instant::now() >= next_beat {
            next_beat = Instant::now() + keeper.beat_every();
            keeper.set_status(watcher.board().stages());
            log_error(keeper.tick().await);
            leases.send_replace(keeper.held());
        }
        tokio::select! {
            biased;
            () = turns_true(&mut ended) => {}
            Some(order) = orders.recv() => {
                let (mut leaving, mut next) = (Vec::new(), Some(order));
                while let Some(order) = next {
                    match order {
                        Order::GiveAway(shard) => leaving.push(shard),
                        Order::Look => next_beat = Instant::now(),
                    }
                    next = orders.try_recv().ok();
                }
                log_error(keeper.give_away(&leaving).await);
                leases.send_replace(keeper.held());
            }
            () = sleep_until(next_beat) => {}
        }
    }
    log_error(keeper.resign().await);
}

async fn turns_true(flag: &mut watch::Receiver<bool>) {
    // Whoever is gone wants nothing more.
    let _ = flag.wait_for(|flag| *flag).await;
}

fn log_error(outcome: Result<()>) {
    if let Err(error) = outcome {
        tracing::warn!(%error, "cannot keep the leases of the shards, will try again");
    }
}
