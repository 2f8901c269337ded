//! Shards: who serves which, over all processes that share a store.
//!
//! ```text
//! watcher_instances   one row for each live process; its version grows with every beat
//! watcher_leases      one row for each shard: its owner; the version is the epoch
//! ```
//!
//! A process beats every third of the lease time. Whoever sees a row that did not change for a whole lease time, by his own clock, deletes it: that process
//! is taken to be dead, and its shards are free. Clocks of different machines are never compared. Taking or giving away a shard raises
//! its epoch, and every batch of an owner checks the epoch ([`Fence`]): whatever an old owner still has on its way is refused by the store.
//!
//! An owner stops by itself before others may think it dead: it trusts its leases until the beginning of the last successful beat plus the lease
//! time less a margin. That saves work; what keeps data safe is the fence.
//!
//! Every process takes its fair share: all shards over all live processes. One that has too many gives some away, when the visits that are
//! under way in them have ended.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::future::join_all;
use store::{Batch, Key, Read, Row, Store};
use tokio::time::Instant;

use crate::Result;
use crate::board::{StageStatus, to_row};
use crate::keeping::Leases;
use crate::limits::{FAILURES_TOLD_MAX, LEASES_IN_A_READ_MAX, TAKEN_AT_ONCE_MAX};
use crate::rows::{Instance, Lease, decode, encode};
use crate::tables::{INSTANCES, LEASES};
use crate::time::Clock;

/// A part of the lease time in which an owner no longer trusts its lease, and others do not yet doubt it.
const MARGIN_PARTS: u32 = 5;
/// Beats in one lease time.
const BEATS: u32 = 3;

/// The right to write in a shard, as long as nobody else took it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    key: Key,
    epoch: u64,
}

impl Fence {
    /// Makes a batch apply only while the shard is still ours.
    pub fn guard(&self, batch: &mut Batch) {
        if !planted!(NoFence) {
            batch.check(self.key.clone(), self.epoch);
        }
    }

    /// Whether a conflict on these keys may mean that the shard is not ours any more.
    #[must_use]
    pub fn is_among(&self, keys: &[Key]) -> bool {
        keys.contains(&self.key)
    }
}

/// Keeps the leases of one process for one kind of entities.
pub(crate) struct Keeper {
    store: Store,
    clock: Clock,
    kind: &'static str,
    shards: u32,
    lease_time: Duration,
    /// This process.
    instance: String,
    /// The version of our row; zero: there is none.
    row: u64,
    /// The last version that it ever had. It only grows, also when others have deleted the row: whoever saw an old version of it knows that we
    /// have beaten since.
    beat: u64,
    /// The end of trust in our leases.
    trusted_until: Option<Instant>,
    /// The epochs of our shards.
    owned: BTreeMap<u32, u64>,
    /// The last epoch that each shard got by us: one that is still of this epoch is ours, also if we thought that we had lost it.
    taken: BTreeMap<u32, u64>,
    /// Those of them that are to be given away when nothing happens in them any more.
    leaving: BTreeSet<u32>,
    /// Other processes: the version of their rows, and since when we have seen that version.
    others: BTreeMap<String, (u64, Instant)>,
    /// What our row says of us.
    says: Instance,
}

impl Keeper {
    /// `instance` must be unique among all processes, and never used again.
    pub(crate) fn new(
        store: Store,
        clock: Clock,
        kind: &'static str,
        shards: u32,
        lease_time: Duration,
        instance: String,
    ) -> Self {
        let (owned, leaving, others) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        let (row, beat, trusted_until) = (0, 0, None);
        let says = Instance { started_ms: clock.now().as_ms(), ..Instance::default() };
        Self {
            store,
            clock,
            kind,
            shards,
            lease_time,
            instance,
            row,
            beat,
            trusted_until,
            owned,
            taken: BTreeMap::new(),
            leaving,
            others,
            says,
        }
    }

    /// How the stages fare here; told to others with the next beat.
    pub(crate) fn set_status(&mut self, stages: BTreeMap<String, StageStatus>) {
        let failures_max = (FAILURES_TOLD_MAX / stages.len().max(1)).max(1);
        self.says.stages =
            stages.into_iter().map(|(stage, status)| to_row(stage, status, failures_max)).collect();
    }

    /// How long to wait between two calls of [`tick`](Self::tick).
    pub(crate) fn beat_every(&self) -> Duration {
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

    /// Shows that this process is alive, notices who is not, and takes or offers shards to come to a fair share.
    pub(crate) async fn tick(&mut self) -> Result<()> {
        self.beat().await?;
        let live = self.look_around().await?;
        let mut leases = self.leases().await?;
        // What the store says counts, whatever we remember.
        self.owned.retain(|shard, epoch| leases.get(shard).is_some_and(|(version, _)| version == epoch));
        for (shard, (epoch, owner)) in &leases {
            if *owner == self.instance && self.taken.get(shard) == Some(epoch) {
                self.owned.insert(*shard, *epoch);
            }
        }
        self.drop_strays(&mut leases).await?;
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

    /// Gives away shards in which nothing happens any more, if they still are to be given away.
    pub(crate) async fn give_away(&mut self, shards: &[u32]) -> Result<()> {
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
            // In conflict only if it is not ours any more.
            let _ = outcome?;
        }
        Ok(())
    }

    /// Gives away all shards and leaves the others at once.
    pub(crate) async fn resign(&mut self) -> Result<()> {
        let owned = Vec::from_iter(std::mem::take(&mut self.owned));
        let owned = if planted!(NoHandOver) { Vec::new() } else { owned };
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

    /// Writes our row. If somebody has deleted it, we were taken to be dead, and whatever we had is free.
    async fn beat(&mut self) -> Result<()> {
        let started = Instant::now();
        self.says.beat_ms = self.clock.now().as_ms();
        let key = self.instance_key(&self.instance);
        let mut batch = Batch::new();
        batch.check(key.clone(), self.row).put(key.clone(), self.beat + 1, encode(&self.says));
        if self.store.commit(batch).await?.is_applied() {
            self.beat += 1;
            self.row = self.beat;
            self.trusted_until = Some(started + self.lease_time - self.lease_time / MARGIN_PARTS);
            return Ok(());
        }
        let there = self.store.get_one(&key).await?.map_or(0, |row| row.version);
        if there != self.row {
            tracing::warn!(kind = self.kind, instance = self.instance, "this process was taken to be dead");
            self.trusted_until = None;
            self.owned.clear();
            self.row = there;
            self.beat = self.beat.max(there);
        }
        Ok(())
    }

    /// The live processes, this one included. Deletes the rows of dead ones.
    async fn look_around(&mut self) -> Result<BTreeSet<String>> {
        // A look may take long: what is new was there when it ended, what is old was still there when it began.
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
            self.bury(&instance).await?;
        }
        let mut live: BTreeSet<String> = self.others.keys().cloned().collect();
        live.insert(self.instance.clone());
        Ok(live)
    }

    /// Deletes the row of a process that has been silent, unless it beats at this very moment.
    async fn bury(&mut self, instance: &str) -> Result<()> {
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

    /// How many shards are ours by right: the first processes, by name, have those that are left over.
    fn share(&self, live: &BTreeSet<String>) -> usize {
        let (shards, count) = (self.shards as usize, live.len().max(1));
        let rank = live.iter().take_while(|instance| **instance != self.instance).count();
        shards / count + usize::from(rank < shards % count)
    }

    /// Gives away shards that have our name and that we have not taken: they are from an earlier life under the same name, or we do not know that
    /// we have taken them. Whoever takes them gets a new epoch.
    async fn drop_strays(&self, leases: &mut BTreeMap<u32, (u64, String)>) -> Result<()> {
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
        // Processes begin to look at different places, so that they seldom want the same shard.
        let begin = (rank * self.shards as usize / live.len().max(1)) as u32;
        let is_free = |shard: &u32| leases.get(shard).is_none_or(|(_, owner)| !live.contains(owner));
        let wanted = share.saturating_sub(self.owned.len());
        let free: Vec<u32> = (begin..self.shards).chain(0..begin).filter(is_free).take(wanted).collect();
        for shards in free.chunks(TAKEN_AT_ONCE_MAX) {
            let keeper = &*self;
            let takes = shards.iter().map(|shard| {
                let (epoch, owner) = leases.get(shard).map_or((0, ""), |(epoch, owner)| (*epoch, &**owner));
                let mut batch = Batch::new();
                keeper.put_lease(&mut batch, *shard, epoch, &keeper.instance);
                if !owner.is_empty() {
                    batch.check_absent(keeper.instance_key(owner));
                }
                // Only while we are alive ourselves in the eyes of the others.
                batch.check(keeper.instance_key(&keeper.instance), keeper.row);
                async move { Ok::<_, store::Error>((*shard, epoch + 1, keeper.store.commit(batch).await?)) }
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
        let next = if planted!(SameEpoch) { epoch.max(1) } else { epoch + 1 };
        batch.check(key.clone(), epoch).put(key, next, encode(&lease));
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
