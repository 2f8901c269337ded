//! The dispatcher: delivers saved changes to the `on_saved` of the stages that made them.

mod dispatch;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use store::{Hint, Hints, Read, Row};
use tokio::sync::watch;
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};

use self::dispatch::{Delivered, Delivery};
use super::backoff::{Backoff, error_backoff};
use super::{DamagedRows, Excluded, LEASE_LOST_PAUSE, Serving, Unbounded, log_failure, next_in_turn};
use crate::entity::Entity;
use crate::lease::Fence;
use crate::limits::RELAY_ROWS_MAX;
use crate::stage::Stage;
use crate::tables::SAVED;
use crate::watcher::Watcher;
use crate::{Error, Result};

/// How often pending changes are scanned if no hint comes.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Shards in which changes are delivered to one stage concurrently.
const SHARDS_OF_A_STAGE_MAX: usize = 16;
/// Concurrent scans and deliveries of all stages.
const TASKS_MAX: usize = 256;
/// A delivery takes no further change once it has this many bytes.
const DELIVERY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// A shard and the number of a stage.
type ShardStage = (u32, usize);

pub(super) struct Dispatcher<E: Entity> {
    watcher: Watcher<E>,
    serving: watch::Receiver<Serving>,
    damage: DamagedRows,
    /// The stages with `on_saved`, in the order of their names. The number of a stage is its index.
    stages: Vec<Arc<dyn Stage<E>>>,
    names: Arc<[String]>,
    /// By shard, the stages that may have pending changes.
    wanted: BTreeMap<u32, BTreeSet<usize>>,
    /// The shard that had the last turn.
    last: u32,
    backoff: Backoff<ShardStage>,
    /// Targets where a call about several changes failed: they get one change a call.
    one_by_one: BTreeSet<ShardStage>,
    /// The targets of the tasks.
    under_way: BTreeMap<task::Id, Vec<ShardStage>>,
    busy: BTreeSet<ShardStage>,
    /// Busy targets by stage.
    busy_shards: Vec<usize>,
    tasks: JoinSet<Ended>,
}

enum Ended {
    Scanned { shard: u32, fence: Fence, found: Result<PendingRows> },
    Delivered { target: ShardStage, delivered: Result<Delivered> },
}

/// The oldest pending changes by stage, with the sum of their bytes.
type PendingRows = BTreeMap<usize, (usize, Vec<Row>)>;

impl<E: Entity> Dispatcher<E> {
    pub(super) fn new(watcher: Watcher<E>, serving: watch::Receiver<Serving>, damage: DamagedRows) -> Self {
        let rules = watcher.rules();
        let stages = rules.stages.values().map(|rule| &rule.stage).filter(|stage| stage.wants_saved());
        let stages: Vec<_> = stages.map(Arc::clone).collect();
        Self {
            watcher,
            serving,
            damage,
            wanted: BTreeMap::new(),
            last: 0,
            backoff: Backoff::new(),
            one_by_one: BTreeSet::new(),
            under_way: BTreeMap::new(),
            busy: BTreeSet::new(),
            busy_shards: vec![0; stages.len()],
            names: stages.iter().map(|stage| stage.id().to_owned()).collect(),
            stages,
            tasks: JoinSet::new(),
        }
    }

    pub(super) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        if self.stages.is_empty() {
            return;
        }
        let mut hints = self.watcher.store().hints();
        let (mut closed, mut poll_at) = (false, Instant::now());
        while !*stop.borrow() {
            if self.serving.has_changed().unwrap_or(false) {
                self.apply_serving();
            }
            if Instant::now() >= poll_at {
                poll_at = Instant::now() + POLL_INTERVAL * if planted!(RelayNeverLooks) { 10_000 } else { 1 };
                self.want_all();
            }
            self.start_scans();
            let wake_at = self.backoff.next_end(Instant::now()).map_or(poll_at, |end| end.min(poll_at));
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => {}
                Some(ended) = self.tasks.join_next_with_id() => self.finish(ended),
                Ok(()) = self.serving.changed() => self.apply_serving(),
                hint = hints.next(), if !closed => {
                    closed = hint.is_none();
                    self.on_hints(hint, &mut hints);
                }
                () = sleep_until(wake_at) => {}
            }
            self.on_hints(hints.next().now_or_never().flatten(), &mut hints);
        }
        self.tasks.shutdown().await;
    }

    fn apply_serving(&mut self) {
        let serving = self.serving.borrow_and_update().clone();
        self.backoff.retain(|(shard, _)| serving.contains_key(shard));
        self.one_by_one.retain(|(shard, _)| serving.contains_key(shard));
        self.wanted.clear();
        self.want_all();
    }

    fn want_all(&mut self) {
        let shards: Vec<u32> = self.serving.borrow().keys().copied().collect();
        for shard in shards {
            self.want_shard(shard);
        }
    }

    fn want_shard(&mut self, shard: u32) {
        self.wanted.entry(shard).or_default().extend(0..self.stages.len());
    }

    fn on_hints(&mut self, hint: Option<Hint>, hints: &mut Hints) {
        let mut next = hint;
        while let Some(hint) = next {
            match hint {
                Hint::Put(key) if key.table().name == SAVED.def().name => {
                    if let Ok((shard, kind, stage, ..)) = SAVED.parts(&key)
                        && let (true, Some(stage)) = (kind == E::KIND, self.number_of(&stage))
                    {
                        self.wanted.entry(shard).or_default().insert(stage);
                    }
                }
                Hint::Changed { table, shard } if table == SAVED.def().name => self.want_shard(shard),
                Hint::Put(_) | Hint::Changed { .. } => {}
                Hint::Anything => self.want_all(),
            }
            next = hints.next().now_or_never().flatten();
        }
    }

    fn number_of(&self, stage: &str) -> Option<usize> {
        self.names.binary_search_by(|name| name.as_str().cmp(stage)).ok()
    }

    /// Scans the shards that may have something for a stage that is free.
    fn start_scans(&mut self) {
        let down: Vec<bool> =
            self.stages.iter().map(|stage| self.watcher.status().is_down(stage.id())).collect();
        while self.tasks.len() < TASKS_MAX
            && let Some((shard, fence, stages)) = self.next_scan(&down)
        {
            self.last = shard;
            self.start_scan(shard, fence, stages);
        }
    }

    /// The next shard to scan, and for which stages.
    fn next_scan(&self, down: &[bool]) -> Option<(u32, Fence, Vec<usize>)> {
        let (serving, now) = (self.serving.borrow(), Instant::now());
        let can = |target: ShardStage| {
            !down[target.1]
                && self.busy_shards[target.1] < SHARDS_OF_A_STAGE_MAX
                && !self.busy.contains(&target)
                && !self.backoff.is_backing_off(&target, now)
        };
        let stages_of = |shard| self.wanted[&shard].iter().copied().filter(move |stage| can((shard, *stage)));
        let can_some = |shard| serving.contains_key(&shard) && stages_of(shard).next().is_some();
        let behind = self.wanted.range((Excluded(self.last), Unbounded)).map(|(shard, _)| *shard);
        let before = self.wanted.range(..=self.last).map(|(shard, _)| *shard);
        let shard = next_in_turn(behind, before, can_some)?;
        Some((shard, serving.get(&shard)?.clone(), stages_of(shard).collect()))
    }

    fn start_scan(&mut self, shard: u32, fence: Fence, stages: Vec<usize>) {
        if let Some(wanted) = self.wanted.get_mut(&shard) {
            wanted.retain(|stage| !stages.contains(stage));
            if wanted.is_empty() {
                self.wanted.remove(&shard);
            }
        }
        let targets = stages.iter().map(|stage| (shard, *stage)).collect();
        let look =
            PendingScan { watcher: self.watcher.clone(), shard, names: Arc::clone(&self.names), stages };
        self.begin(targets, async move { Ended::Scanned { shard, fence, found: look.run().await } });
    }

    fn begin(&mut self, targets: Vec<ShardStage>, task: impl Future<Output = Ended> + Send + 'static) {
        for target in &targets {
            self.busy.insert(*target);
            self.busy_shards[target.1] += 1;
        }
        let id = self.tasks.spawn(task).id();
        self.under_way.insert(id, targets);
    }

    fn finish(&mut self, ended: Result<(task::Id, Ended), JoinError>) {
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let targets = self.under_way.remove(&id).unwrap_or_default();
        for target in &targets {
            self.busy.remove(target);
            self.busy_shards[target.1] -= 1;
        }
        match ended {
            Ok((_, Ended::Scanned { shard, fence, found: Ok(found) })) => self.dispatch(shard, &fence, found),
            Ok((_, Ended::Scanned { found: Err(error), .. })) => {
                for target in targets {
                    self.failed(target, &error);
                }
            }
            Ok((_, Ended::Delivered { target, delivered })) => self.record(target, delivered),
            Err(error) => {
                tracing::error!(kind = E::KIND, %error, "a delivery panicked in the code of the watcher");
                for target in targets {
                    self.backoff.failed(target, error_backoff);
                    self.wanted.entry(target.0).or_default().insert(target.1);
                }
            }
        }
    }

    fn dispatch(&mut self, shard: u32, fence: &Fence, found: PendingRows) {
        if self.serving.borrow().get(&shard) != Some(fence) {
            return;
        }
        for (stage, (_, rows)) in found {
            let target = (shard, stage);
            let delivery = Delivery {
                watcher: self.watcher.clone(),
                damage: self.damage.clone(),
                shard,
                fence: fence.clone(),
                stage: Arc::clone(&self.stages[stage]),
                one_by_one: self.one_by_one.contains(&target),
            };
            self.begin(vec![target], async move {
                Ended::Delivered { target, delivered: delivery.run(rows).await }
            });
        }
    }

    fn record(&mut self, target: ShardStage, delivered: Result<Delivered>) {
        match delivered {
            Ok(Delivered::All) => {
                self.backoff.clear(&target);
                self.one_by_one.remove(&target);
            }
            Ok(Delivered::Failed { any_delivered, one_by_one }) => {
                if any_delivered {
                    self.backoff.clear(&target);
                }
                if one_by_one {
                    self.one_by_one.insert(target);
                }
                let limits = self.watcher.limits_of(self.stages[target.1].id());
                self.backoff.failed(target, |failures| limits.pause_after(failures));
            }
            Ok(Delivered::LeaseLost) => _ = self.backoff.failed(target, |_| LEASE_LOST_PAUSE),
            Err(error) => return self.failed(target, &error),
        }
        self.wanted.entry(target.0).or_default().insert(target.1);
    }

    fn failed(&mut self, target: ShardStage, error: &Error) {
        let failures = self.backoff.failed(target, error_backoff);
        log_failure(E::KIND, target.0, error, failures, "deliver saved changes");
        self.wanted.entry(target.0).or_default().insert(target.1);
    }
}

/// A scan for the oldest pending changes of some stages in a shard.
struct PendingScan<E: Entity> {
    watcher: Watcher<E>,
    shard: u32,
    /// All stages with `on_saved`.
    names: Arc<[String]>,
    /// The numbers of the stages to scan for.
    stages: Vec<usize>,
}

impl<E: Entity> PendingScan<E> {
    /// One read if there is nothing: adjacent stages are read together.
    async fn run(self) -> Result<PendingRows> {
        let numbers: Vec<usize> = (0..self.names.len()).collect();
        let mut found = PendingRows::new();
        for run in numbers.split(|number| !self.stages.contains(number)) {
            let mut run = run;
            while let (Some(first), Some(last)) = (run.first(), run.last()) {
                run = match self.read(*first, *last, &mut found).await? {
                    Some(reached) => &run[run.partition_point(|number| self.names[*number] <= reached)..],
                    None => &[],
                };
            }
        }
        Ok(found)
    }

    /// Reads the oldest rows of the first of these stages that has some, and of those behind it if
    /// there is room. Returns the last stage that was read, if there may be more behind it.
    async fn read(&self, first: usize, last: usize, found: &mut PendingRows) -> Result<Option<String>> {
        let bound = |number: usize| SAVED.bound((self.shard, E::KIND, &*self.names[number]));
        let scan = SAVED.scan().from(bound(first)).through(bound(last)).limit(RELAY_ROWS_MAX);
        let page = self.watcher.store().scan(&scan).await?;
        let mut reached = None;
        for row in page.rows {
            let Ok((_, _, stage, ..)) = SAVED.parts(&row.key) else { continue };
            // Rows of an unknown stage wait for a process that knows it.
            if let Ok(number) = self.names.binary_search(&stage) {
                let (bytes, rows) = found.entry(number).or_default();
                if *bytes < DELIVERY_BYTES_MAX {
                    *bytes += row.value.len();
                    rows.push(row);
                }
            }
            reached = Some(stage);
        }
        Ok(reached.filter(|_| page.next.is_some()))
    }
}
