//! Leases: which process serves which shard, over all processes that share a store.
//!
//! ```text
//! watcher_instances   one row for each live process; its version grows with every heartbeat
//! watcher_leases      one row for each shard: its owner; the version is the epoch
//! ```
//!
//! A process writes a heartbeat every third of the lease time. A process that sees a row unchanged
//! for a whole lease time, by its own clock, deletes it: the other process counts as dead, and its
//! shards are free. Clocks of different machines are never compared. Taking or releasing a shard
//! raises its epoch, and every batch of an owner checks the epoch ([`Fence`]): the store refuses
//! the late batches of an old owner.
//!
//! An owner stops before others may think it dead: it trusts its leases from the start of the last
//! successful heartbeat for the lease time less a margin. That saves work; the fence is what keeps
//! data safe.
//!
//! Every process takes its fair share: all shards divided by the live processes. One that has too
//! many releases some, once their visits under way have ended.

mod task;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::future::join_all;
use store::{Batch, Key, Read, Row, Store};
use tokio::time::Instant;

use crate::Result;
use crate::change::replace;
use crate::config::Config;
use crate::entity::Entity;
use crate::limits::{FAILURES_TOLD_MAX, LEASES_IN_A_READ_MAX, TAKEN_AT_ONCE_MAX};
use crate::rows::{Instance, Lease, decode, encode};
use crate::status::{StageStatus, to_row};
use crate::tables::{INSTANCES, LEASES};
use crate::watcher::Watcher;
use clock::Clock;
pub(crate) use task::{LeaseRequest, Leases, maintain};

/// The part of the lease time in which an owner no longer trusts its lease, and others do not take
/// it yet.
const MARGIN_PARTS: u32 = 5;
/// Heartbeats in one lease time.
const BEATS: u32 = 3;

/// The right to write in a shard until another process takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    key: Key,
    epoch: u64,
}

impl Fence {
    /// Makes a batch apply only while the shard is ours.
    pub fn guard(&self, batch: &mut Batch) {
        batch.check(self.key.clone(), self.epoch);
    }

    /// Whether a conflict on these keys may mean that the shard is not ours any more.
    #[must_use]
    pub fn is_among(&self, keys: &[Key]) -> bool {
        keys.contains(&self.key)
    }
}

/// The leases of one process for one kind of entities.
pub(crate) struct LeaseManager {
    store: Store,
    clock: Clock,
    kind: &'static str,
    shards: u32,
    lease_time: Duration,
    instance: String,
    /// The version of our row; zero if there is none.
    row_version: u64,
    /// The last version that our row ever had. It grows even if others deleted the row, so that
    /// they see every heartbeat.
    beat: u64,
    trusted_until: Option<Instant>,
    /// Our shards with their epochs.
    owned: BTreeMap<u32, u64>,
    /// The last epoch that we took each shard with: at that epoch it is ours, even if we believed
    /// it lost.
    taken: BTreeMap<u32, u64>,
    /// Owned shards that are to be released when nothing happens in them any more.
    leaving: BTreeSet<u32>,
    /// Other processes: the version of their rows, and since when we see that version.
    others: BTreeMap<String, (u64, Instant)>,
    /// The content of our row.
    content: Instance,
}

impl LeaseManager {
    /// `instance` must be unique among all processes, and never used again.
    pub(crate) fn new<E: Entity>(watcher: &Watcher<E>, instance: String) -> Self {
        Self::over(watcher.store().clone(), watcher.clock().clone(), E::KIND, watcher.config(), instance)
    }

    fn over(store: Store, clock: Clock, kind: &'static str, config: &Config, instance: String) -> Self {
        Self {
            content: Instance { started_ms: clock.now().as_ms(), ..Instance::default() },
            store,
            clock,
            kind,
            shards: config.shards,
            lease_time: config.lease_time,
            instance,
            row_version: 0,
            beat: 0,
            trusted_until: None,
            owned: BTreeMap::new(),
            taken: BTreeMap::new(),
            leaving: BTreeSet::new(),
            others: BTreeMap::new(),
        }
    }

    /// Published with the next heartbeat.
    pub(crate) fn set_status(&mut self, stages: BTreeMap<String, StageStatus>) {
        let failures_max = (FAILURES_TOLD_MAX / stages.len().max(1)).max(1);
        self.content.stages =
            stages.into_iter().map(|(stage, status)| to_row(stage, status, failures_max)).collect();
    }

    /// The interval between two calls of [`tick`](Self::tick).
    pub(crate) fn heartbeat_interval(&self) -> Duration {
        self.lease_time / BEATS
    }

    /// What this process may rely on.
    pub(crate) fn held(&self) -> Leases {
        let fence = |(shard, epoch): (&u32, &u64)| {
            let fence = Fence { key: self.lease_key(*shard), epoch: *epoch };
            (!self.leaving.contains(shard)).then_some((*shard, fence))
        };
        let serving = self.owned.iter().filter_map(fence).collect();
        Leases { serving, trusted_until: self.trusted_until, leaving: self.leaving.clone() }
    }

    /// Writes a heartbeat, deletes dead processes, and takes or offers shards to reach the fair
    /// share.
    pub(crate) async fn tick(&mut self) -> Result<()> {
        self.heartbeat().await?;
        let live = self.live_instances().await?;
        let mut leases = self.leases().await?;
        // The store is right, whatever we remember.
        self.owned.retain(|shard, epoch| leases.get(shard).is_some_and(|(version, _)| version == epoch));
        for (shard, (epoch, owner)) in &leases {
            if *owner == self.instance && self.taken.get(shard) == Some(epoch) {
                self.owned.insert(*shard, *epoch);
            }
        }
        self.release_strays(&mut leases).await?;
        self.leaving.retain(|shard| self.owned.contains_key(shard));
        let share = self.share(&live);
        if self.owned.len() > share {
            let surplus = self.owned.len() - share;
            self.leaving = self.owned.keys().rev().take(surplus).copied().collect();
        } else {
            self.leaving.clear();
            self.take_free(&live, &leases, share).await?;
        }
        Ok(())
    }

    /// Releases shards in which nothing happens any more, if they are still to be released.
    pub(crate) async fn release(&mut self, shards: &[u32]) -> Result<()> {
        let mut batches = Vec::with_capacity(shards.len());
        for shard in shards {
            let epoch = self.leaving.remove(shard).then(|| self.owned.remove(shard)).flatten();
            if let Some(epoch) = epoch {
                let mut batch = Batch::new();
                self.put_lease(&mut batch, *shard, epoch, "");
                batches.push(self.store.commit(batch));
            }
        }
        for outcome in join_all(batches).await {
            // In conflict only if the shard is not ours any more.
            let _ = outcome?;
        }
        Ok(())
    }

    /// Releases all shards and leaves the cluster.
    pub(crate) async fn release_all(&mut self) -> Result<()> {
        let owned = Vec::from_iter(std::mem::take(&mut self.owned));
        self.leaving.clear();
        self.trusted_until = None;
        for shards in owned.chunks(LEASES_IN_A_READ_MAX) {
            let mut batch = Batch::new();
            for (shard, epoch) in shards {
                self.put_lease(&mut batch, *shard, *epoch, "");
            }
            // If one of them was taken meanwhile, the absence of our row frees the others.
            let _ = self.store.commit(batch).await?;
        }
        let mut batch = Batch::new();
        batch.delete(self.instance_key(&self.instance));
        let _ = self.store.commit(batch).await?;
        Ok(())
    }

    /// Writes our row. If another process deleted it, we count as dead, and our shards are free.
    async fn heartbeat(&mut self) -> Result<()> {
        let started = Instant::now();
        self.content.beat_ms = self.clock.now().as_ms();
        let key = self.instance_key(&self.instance);
        let mut batch = Batch::new();
        batch.check(key.clone(), self.row_version).put(key.clone(), self.beat + 1, encode(&self.content));
        if self.store.commit(batch).await?.is_applied() {
            self.beat += 1;
            self.row_version = self.beat;
            self.trusted_until = Some(started + self.lease_time - self.lease_time / MARGIN_PARTS);
            return Ok(());
        }
        let there = self.store.get_one(&key).await?.map_or(0, |row| row.version);
        if there != self.row_version {
            tracing::warn!(kind = self.kind, instance = self.instance, "this process was taken to be dead");
            self.trusted_until = None;
            self.owned.clear();
            self.row_version = there;
            self.beat = self.beat.max(there);
        }
        Ok(())
    }

    /// The live processes, this one included. Deletes the rows of dead ones.
    async fn live_instances(&mut self) -> Result<BTreeSet<String>> {
        // A scan may take long: new rows count from its end, old ones were still there at its
        // beginning.
        let began = Instant::now();
        let mut seen = BTreeMap::new();
        let mut scan = INSTANCES.prefix((0, self.kind));
        loop {
            let page = self.store.scan(&scan).await?;
            let now = Instant::now();
            for row in page.rows {
                let (_, _, instance) = INSTANCES.parts(&row.key)?;
                let since = match self.others.get(&instance) {
                    Some((version, since)) if *version == row.version => *since,
                    _ => now,
                };
                seen.insert(instance, (row.version, since));
            }
            let Some(next) = page.next else { break };
            scan = scan.after(next);
        }
        seen.remove(&self.instance);
        self.others = seen;
        let silent = |(_, since): &(u64, Instant)| {
            planted!(EagerBurial) || began.duration_since(*since) >= self.lease_time
        };
        let dead: Vec<String> =
            self.others.iter().filter(|(_, seen)| silent(seen)).map(|(i, _)| i.clone()).collect();
        for instance in dead {
            self.delete_dead(&instance).await?;
        }
        let mut live: BTreeSet<String> = self.others.keys().cloned().collect();
        live.insert(self.instance.clone());
        Ok(live)
    }

    /// Deletes the row of a silent process, unless it writes a heartbeat at this moment.
    async fn delete_dead(&mut self, instance: &str) -> Result<()> {
        let Some((version, _)) = self.others.get(instance).copied() else { return Ok(()) };
        let key = self.instance_key(instance);
        let mut batch = Batch::new();
        batch.check(key.clone(), version).delete(key);
        if self.store.commit(batch).await?.is_applied() {
            tracing::warn!(
                kind = self.kind,
                instance,
                "a process has been silent for a lease time: its shards are free"
            );
            self.others.remove(instance);
        }
        Ok(())
    }

    /// The epoch and owner of every shard that ever had one.
    async fn leases(&self) -> Result<BTreeMap<u32, (u64, String)>> {
        let mut leases = BTreeMap::new();
        let shards: Vec<u32> = (0..self.shards).collect();
        for shards in shards.chunks(LEASES_IN_A_READ_MAX) {
            let keys: Vec<Key> = shards.iter().map(|shard| self.lease_key(*shard)).collect();
            let rows = self.store.get(&keys).await?;
            for (shard, row) in shards.iter().zip(rows) {
                if let Some(row) = row {
                    leases.insert(*shard, (row.version, owner(&row)?));
                }
            }
        }
        Ok(leases)
    }

    /// Our fair share: the first processes, by name, have the shards that are left over.
    fn share(&self, live: &BTreeSet<String>) -> usize {
        let (shards, count) = (self.shards as usize, live.len().max(1));
        let rank = live.iter().take_while(|instance| **instance != self.instance).count();
        shards / count + usize::from(rank < shards % count)
    }

    /// Releases shards that have our name and that we did not take: from an earlier run of this
    /// name, or from a commit with an unknown outcome. The next owner gets a new epoch.
    async fn release_strays(&self, leases: &mut BTreeMap<u32, (u64, String)>) -> Result<()> {
        for (shard, (epoch, owner)) in leases {
            if *owner == self.instance && !self.owned.contains_key(shard) {
                let mut batch = Batch::new();
                self.put_lease(&mut batch, *shard, *epoch, "");
                if self.store.commit(batch).await?.is_applied() {
                    *epoch += 1;
                    owner.clear();
                }
            }
        }
        Ok(())
    }

    /// Takes shards that nobody serves, up to our share.
    async fn take_free(
        &mut self,
        live: &BTreeSet<String>,
        leases: &BTreeMap<u32, (u64, String)>,
        share: usize,
    ) -> Result<()> {
        let rank = live.iter().take_while(|instance| **instance != self.instance).count();
        // Processes start at different places, so that they seldom want the same shard.
        let begin = (rank * self.shards as usize / live.len().max(1)) as u32;
        let is_free = |shard: &u32| leases.get(shard).is_none_or(|(_, owner)| !live.contains(owner));
        let wanted = share.saturating_sub(self.owned.len());
        let free: Vec<u32> = (begin..self.shards).chain(0..begin).filter(is_free).take(wanted).collect();
        for shards in free.chunks(TAKEN_AT_ONCE_MAX) {
            let manager = &*self;
            let takes = shards.iter().map(|shard| {
                let (epoch, owner) = leases.get(shard).map_or((0, ""), |(epoch, owner)| (*epoch, &**owner));
                let mut batch = Batch::new();
                manager.put_lease(&mut batch, *shard, epoch, &manager.instance);
                if !owner.is_empty() {
                    batch.check_absent(manager.instance_key(owner));
                }
                // Only while others see us alive.
                batch.check(manager.instance_key(&manager.instance), manager.row_version);
                async move { Ok::<_, store::Error>((*shard, epoch + 1, manager.store.commit(batch).await?)) }
            });
            for taken in join_all(takes.collect::<Vec<_>>()).await {
                let (shard, epoch, outcome) = taken?;
                if outcome.is_applied() {
                    self.owned.insert(shard, epoch);
                    self.taken.insert(shard, epoch);
                }
            }
        }
        Ok(())
    }

    fn put_lease(&self, batch: &mut Batch, shard: u32, epoch: u64, owner: &str) {
        let lease = Lease { owner: owner.to_owned(), since_ms: self.clock.now().as_ms(), ..Lease::default() };
        let key = self.lease_key(shard);
        replace(batch, key, epoch, encode(&lease));
    }

    fn lease_key(&self, shard: u32) -> Key {
        LEASES.key((shard, self.kind))
    }

    fn instance_key(&self, instance: &str) -> Key {
        INSTANCES.key((0, self.kind, instance))
    }
}

fn owner(row: &Row) -> Result<String> {
    Ok(decode::<Lease>(row)?.owner)
}

#[cfg(test)]
mod tests;
