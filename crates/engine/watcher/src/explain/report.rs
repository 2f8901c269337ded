//! The report on one stage: what waits for it, and its status in every process.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures::stream::{self, StreamExt, TryStreamExt};
use store::Read;

use super::ProcessSeen;
use crate::Result;
use crate::change::SYSTEM;
use crate::config::StageLimits;
use crate::controls::Control;
use crate::entity::Entity;
use crate::limits::{COUNTED_IN_A_READ_MAX, DEPTH_COUNTED_MAX, SHARDS_COUNTED_AT_ONCE_MAX};
use crate::queue::{Lane, PARKED};
use crate::status::StageStatus;
use crate::tables::QUEUES;
use crate::watcher::Watcher;
use clock::Time;

#[derive(Clone, Debug, PartialEq)]
pub struct StageReport {
    pub control: Control,
    /// The limits in force.
    pub limits: StageLimits,
    /// Entities in each lane, due or not.
    pub depth: BTreeMap<Lane, Depth>,
    pub parked: Depth,
    /// The oldest visit of all lanes.
    pub oldest: Option<Time>,
    /// The oldest visit of each lane.
    pub firsts: BTreeMap<Lane, Time>,
    /// By name.
    pub processes: BTreeMap<String, StageStatus>,
}

/// The counted part of a [`StageReport`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueCounts {
    depth: BTreeMap<Lane, Depth>,
    parked: Depth,
    oldest: Option<Time>,
    firsts: BTreeMap<Lane, Time>,
}

/// The status of all stages in all processes, and their orders, for [`Watcher::report_of`].
#[derive(Clone, Debug)]
pub struct StagesSnapshot {
    processes: BTreeMap<String, ProcessSeen>,
    controls: BTreeMap<String, Control>,
}

impl StageReport {
    /// The counted part, for [`Watcher::report_with`].
    #[must_use]
    pub fn counted(&self) -> QueueCounts {
        let StageReport { depth, parked, oldest, firsts, .. } = self.clone();
        QueueCounts { depth, parked, oldest, firsts }
    }
}

/// A count of entities that may have stopped at a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    pub rows: u64,
    /// Whether there are more.
    pub more: bool,
}

impl<E: Entity> Watcher<E> {
    /// What waits for a stage in all shards, and its status in every process. Counts rows: not for
    /// every second. [`NotFound`](crate::Error::NotFound) for an unknown stage.
    pub async fn report(&self, stage: &str) -> Result<StageReport> {
        self.report_up_to(stage, DEPTH_COUNTED_MAX).await
    }

    /// [`report`](Self::report) that counts at most `counted_max` rows of each lane: for lists of
    /// stages.
    pub async fn report_up_to(&self, stage: &str, counted_max: u64) -> Result<StageReport> {
        let counted = self.count_up_to(stage, counted_max).await?;
        self.report_with(stage, counted).await
    }

    /// Counts what waits for a stage, at most `counted_max` rows of each lane.
    pub async fn count_up_to(&self, stage: &str, counted_max: u64) -> Result<QueueCounts> {
        let stage = self.require_stage(stage)?;
        let max = counted_max.min(DEPTH_COUNTED_MAX);
        let (count, mut counted) = (Counting { max, ..self.counting(stage) }, QueueCounts::default());
        for lane in Lane::ALL {
            let (depth, first) = count.lane(lane).await?;
            counted.oldest = [counted.oldest, first].into_iter().flatten().min();
            counted.firsts.extend(first.map(|first| (lane, first)));
            counted.depth.insert(lane, depth);
        }
        counted.parked = count.parked().await?;
        Ok(counted)
    }

    /// A report with earlier counts, for repeated reports.
    pub async fn report_with(&self, stage: &str, counted: QueueCounts) -> Result<StageReport> {
        self.require_stage(stage)?;
        self.report_of(stage, counted, &self.stages_snapshot().await?)
    }

    /// A report with an earlier snapshot, for reports of many stages.
    pub fn report_of(
        &self,
        stage: &str,
        counted: QueueCounts,
        snapshot: &StagesSnapshot,
    ) -> Result<StageReport> {
        let stage = self.require_stage(stage)?;
        let QueueCounts { depth, parked, oldest, firsts } = counted;
        let processes = snapshot.processes.iter();
        let processes =
            processes.filter_map(|(name, seen)| Some((name.clone(), seen.stages.get(stage)?.clone())));
        let control = snapshot.controls.get(stage).cloned().unwrap_or_default();
        let limits = control.limits.apply_to(self.limits_of(stage));
        Ok(StageReport { processes: processes.collect(), control, limits, depth, parked, oldest, firsts })
    }

    pub async fn stages_snapshot(&self) -> Result<StagesSnapshot> {
        Ok(StagesSnapshot { processes: self.processes().await?, controls: self.controls().await? })
    }

    /// The number of entities that are parked because they could not be read when stages were to be
    /// asked about them. Counts rows, as [`report`](Self::report) does. [`explain`](Self::explain)
    /// says what is wrong with each, [`release_unasked`](Self::release_unasked) has them tried
    /// again.
    pub async fn unasked(&self) -> Result<Depth> {
        self.counting(SYSTEM).parked().await
    }

    fn counting<'a>(&'a self, stage: &'a str) -> Counting<'a> {
        let (store, kind, shards) = (self.store(), E::KIND, self.config().shards);
        Counting { store, kind, stage, shards, max: DEPTH_COUNTED_MAX }
    }
}

/// Counts the rows of a stage's queues, several shards at a time.
struct Counting<'a> {
    store: &'a dyn Read,
    kind: &'a str,
    stage: &'a str,
    shards: u32,
    max: u64,
}

#[derive(Debug, Default)]
struct Tally {
    rows: AtomicU64,
    more: AtomicBool,
}

impl Counting<'_> {
    /// The rows of a lane, and the time of its first.
    async fn lane(&self, lane: Lane) -> Result<(Depth, Option<Time>)> {
        self.all(lane.number(), true).await
    }

    async fn parked(&self) -> Result<Depth> {
        Ok(self.all(PARKED, false).await?.0)
    }

    async fn all(&self, lane: u32, wants_first: bool) -> Result<(Depth, Option<Time>)> {
        let tally = Tally::default();
        let in_shards =
            stream::iter(0..self.shards).map(|shard| self.shard(shard, lane, wants_first, &tally));
        let firsts = in_shards.buffer_unordered(SHARDS_COUNTED_AT_ONCE_MAX);
        let first = firsts
            .try_fold(None, async |oldest: Option<Time>, first| {
                Ok([oldest, first].into_iter().flatten().min())
            })
            .await?;
        let (rows, more) = (tally.rows.into_inner().min(self.max), tally.more.into_inner());
        Ok((Depth { rows, more }, first))
    }

    /// Counts the rows of one shard until there are enough of all; returns the time of the first
    /// row if it is wanted.
    async fn shard(&self, shard: u32, lane: u32, wants_first: bool, tally: &Tally) -> Result<Option<Time>> {
        let all = QUEUES.prefix((shard, self.kind, lane, self.stage));
        let (mut scan, mut first) = (all, None);
        loop {
            let is_enough = tally.more.load(Ordering::Relaxed);
            if is_enough && (first.is_some() || !wants_first) {
                return Ok(first);
            }
            let left = self.max.saturating_sub(tally.rows.load(Ordering::Relaxed));
            // One more row than is counted tells whether there are more.
            let limit = if is_enough { 1 } else { COUNTED_IN_A_READ_MAX.min(left as usize + 1) };
            let page = self.store.scan(&scan.clone().limit(limit)).await?;
            if let (None, Some(row)) = (first, page.rows.first()) {
                let (.., visit, _) = QUEUES.parts(&row.key)?;
                first = Some(Time::from_ms(visit));
            }
            let rows = page.rows.len() as u64;
            if tally.rows.fetch_add(rows, Ordering::Relaxed) + rows > self.max {
                tally.more.store(true, Ordering::Relaxed);
            }
            let Some(next) = page.next else { return Ok(first) };
            scan = scan.after(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use async_trait::async_trait;
    use store::{Batch, Key, Memory, Page, Row, Scan, Schema, Store, StoreOptions};

    use super::*;

    /// A store that records what is read from it, slowly.
    struct Noting {
        store: Store,
        rows: AtomicU64,
        scans: AtomicU64,
        at_once: AtomicU64,
        at_once_max: AtomicU64,
    }

    #[async_trait]
    impl Read for Noting {
        async fn get(&self, keys: &[Key]) -> store::Result<Vec<Option<Row>>> {
            self.store.get(keys).await
        }

        async fn scan(&self, scan: &Scan) -> store::Result<Page> {
            let at_once = self.at_once.fetch_add(1, Ordering::Relaxed) + 1;
            self.at_once_max.fetch_max(at_once, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(1)).await;
            let page = self.store.scan(scan).await?;
            self.at_once.fetch_sub(1, Ordering::Relaxed);
            self.scans.fetch_add(1, Ordering::Relaxed);
            self.rows.fetch_add(page.rows.len() as u64, Ordering::Relaxed);
            Ok(page)
        }
    }

    const SHARDS: u32 = 50;

    /// A store with rows in each shard, in the fresh lane and among the parked ones.
    async fn noting(rows: i64) -> Noting {
        let schema = Schema::new(1, crate::tables()).unwrap();
        let store = Store::over(Arc::new(Memory::new(schema)), &StoreOptions::default());
        for (shard, lane) in (0..SHARDS).flat_map(|shard| [(shard, 0), (shard, PARKED)]) {
            let mut batch = Batch::new();
            for n in 0..rows {
                let visit = 1000 + n - i64::from(shard);
                batch.set(QUEUES.key((shard, "thing", lane, "stage", visit, &*format!("e{n}"))), &b""[..]);
            }
            assert!(store.commit(batch).await.unwrap().is_applied());
        }
        let zero = || AtomicU64::new(0);
        Noting { store, rows: zero(), scans: zero(), at_once: zero(), at_once_max: zero() }
    }

    fn counting(store: &Noting, max: u64) -> Counting<'_> {
        Counting { store, kind: "thing", stage: "stage", shards: SHARDS, max }
    }

    #[tokio::test(start_paused = true)]
    async fn rows_are_counted_to_the_limit_and_beyond_it_the_report_says_at_least() {
        let all = u64::from(SHARDS) * 7;
        for (max, counted) in [(all + 1, "350"), (all, "350"), (all - 1, "at least 349"), (1, "at least 1")] {
            let store = noting(7).await;
            let (depth, first) = counting(&store, max).lane(Lane::Fresh).await.unwrap();
            assert_eq!(depth.to_string(), counted);
            assert_eq!(first, Some(Time::from_ms(1000 - i64::from(SHARDS) + 1)), "of all shards");
            assert_eq!(counting(&store, max).parked().await.unwrap(), depth);
        }
        let store = noting(0).await;
        assert_eq!(counting(&store, 1).lane(Lane::Fresh).await.unwrap(), (Depth::default(), None));
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_is_read_than_has_to_be_and_several_shards_at_a_time() {
        let at_once = SHARDS_COUNTED_AT_ONCE_MAX as u64;
        let store = noting(30).await;
        counting(&store, 10).parked().await.unwrap();
        assert_eq!(store.at_once_max.load(Ordering::Relaxed), at_once);
        assert_eq!(store.scans.load(Ordering::Relaxed), at_once, "the shards behind are not read");
        assert_eq!(store.rows.load(Ordering::Relaxed), 11 * at_once);
        let store = noting(30).await;
        counting(&store, 10).lane(Lane::Fresh).await.unwrap();
        assert_eq!(store.scans.load(Ordering::Relaxed), u64::from(SHARDS), "all of them have a first row");
        assert_eq!(store.rows.load(Ordering::Relaxed), 11 * at_once + u64::from(SHARDS) - at_once);
    }
}
