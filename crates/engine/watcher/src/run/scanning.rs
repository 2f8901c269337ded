//! How the loop learns what is queued: by scans, by hints, and by a slow sweep of everything.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use store::{Hint, Key};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

use super::Runner;
use crate::entity::Entity;
use crate::limits::{SCANS_IN_A_ROUND_MAX, SURVEYS_IN_A_ROUND_MAX};
use crate::queue::{Lane, PARKED};
use crate::scan::Window;
use crate::schedule::{Line, QueueId, Scanned};
use crate::tables::{CONTROLS, QUEUES};
use crate::{Error, Result};
use clock::Time;

/// All queues are scanned once in this time, should hints get lost, in this many steps.
const SWEEP_TIME: Duration = Duration::from_secs(5);
const SWEEP_STEPS: usize = 10;

/// Scans of a part of the shards that go on beside the loop.
pub(super) struct Sweeps {
    pub(super) tasks: JoinSet<Result<Firsts>>,
    /// When the next step begins.
    pub(super) at: Instant,
    next_shard: u32,
}

impl Sweeps {
    pub(super) fn new() -> Self {
        Self { tasks: JoinSet::new(), at: Instant::now() + SWEEP_TIME / SWEEP_STEPS as u32, next_shard: 0 }
    }
}

/// When the first row of each queue is due, if it has any.
pub(super) type Firsts = Vec<(QueueId, Option<Time>)>;

impl<E: Entity> Runner<E> {
    /// Scans the queues that may have something; says whether a scan failed.
    pub(super) async fn scan_queues(&mut self) -> bool {
        let mut failed = false;
        let shards = self.scheduler.queues.next_surveys(SURVEYS_IN_A_ROUND_MAX);
        let surveys = join_all(shards.iter().map(|shard| self.survey(*shard))).await;
        for (shard, survey) in shards.into_iter().zip(surveys) {
            match survey {
                Ok(firsts) => {
                    let now = self.watcher.now();
                    for (id, first) in firsts {
                        self.scheduler.queues.surveyed(id, first, now);
                    }
                }
                Err(error) => {
                    log_failed_scan(shard, &error);
                    failed = true;
                }
            }
        }
        let ids = self.scheduler.queues.next_scans(self.watcher.now(), SCANS_IN_A_ROUND_MAX);
        let scans = join_all(ids.iter().map(|id| self.scan_queue(*id))).await;
        for (id, scanned) in ids.into_iter().zip(scans) {
            match scanned {
                Ok(scanned) => self.scheduler.queues.scanned(id, scanned),
                Err(error) => {
                    log_failed_scan(id.shard, &error);
                    failed = true;
                }
            }
        }
        failed
    }

    async fn scan_queue(&self, id: QueueId) -> Result<Scanned> {
        let QueueId { shard, stage, line } = id;
        let queues = &self.scheduler.queues;
        let under_way = self.calls.busy(stage);
        let in_shard = under_way.range((shard, Arc::from(""))..).take_while(|((busy, _), _)| *busy == shard);
        let window = Window {
            shard,
            stage: &self.names[stage],
            line,
            low: queues.low(id),
            late_before: queues.late_before(stage, shard),
            known: in_shard.filter(|(_, visiting)| visiting.stage == stage).count() + self.retries.len(),
        };
        let is_known = |visit, entity: &Arc<str>| {
            let visiting = under_way.get(&(shard, Arc::clone(entity)));
            visiting.is_some_and(|visiting| visiting.stage == stage && visiting.visit == visit)
                || self.retries.is_delayed(&(stage, shard, Arc::clone(entity)))
        };
        self.watcher.scan_queue(window, is_known).await
    }

    /// When the first row of each unknown queue of a shard is due.
    fn survey(&self, shard: u32) -> impl Future<Output = Result<Firsts>> + use<E> {
        self.firsts(shard, self.scheduler.queues.unknown_in(shard))
    }

    /// When the first row of each of these queues is due, found out all at once.
    fn firsts(&self, shard: u32, ids: Vec<QueueId>) -> impl Future<Output = Result<Firsts>> + use<E> {
        let with_late = |id: QueueId| (id, self.scheduler.queues.late_before(id.stage, shard));
        let ids: Vec<(QueueId, Time)> = ids.into_iter().map(with_late).collect();
        let (watcher, names) = (self.watcher.clone(), Arc::clone(&self.names));
        async move {
            let through = ids.iter().map(|(id, _)| id.line.lane()).max().unwrap_or(Lane::Fresh);
            let all = watcher.survey(shard, through).await?;
            let mut firsts = Firsts::with_capacity(ids.len());
            for (id, late_before) in ids {
                let stage = &names[id.stage];
                let first = all.get(&(id.line.lane(), stage.clone())).copied();
                let first = match (id.line, first) {
                    (Line::Timer, Some(first)) if first < late_before => {
                        watcher.first_timer(shard, stage, late_before).await?
                    }
                    (Line::Late, first) => first.filter(|first| *first < late_before),
                    (_, first) => first,
                };
                firsts.push((id, first));
            }
            Ok(firsts)
        }
    }

    pub(super) fn rescan(&mut self, shard: u32, stage: usize) {
        for line in Line::ALL {
            self.scheduler.queues.rescan(QueueId { shard, stage, line });
        }
    }

    pub(super) fn on_hint(&mut self, hint: Option<Hint>) {
        match hint {
            Some(Hint::Put(key)) if std::ptr::eq(key.table(), QUEUES.def()) => self.note_row(&key),
            Some(Hint::Changed { table, shard }) if table == QUEUES.def().name => self.rescan_fresh(shard),
            Some(Hint::Changed { table, .. }) if table == CONTROLS.def().name => self.controls.changed = true,
            Some(Hint::Put(_) | Hint::Changed { .. }) => {}
            Some(Hint::Anything) => self.rescan_all(),
            // Every call will fail, at the usual pace.
            None => self.closed = true,
        }
    }

    /// This process wrote a queue row.
    fn note_row(&mut self, key: &Key) {
        let Ok((shard, kind, lane, stage, visit, entity)) = QUEUES.parts(key) else { return };
        let Ok(stage) = self.names.binary_search(&stage) else { return };
        if kind != E::KIND || lane == PARKED {
            return;
        }
        let (visit, entity) = (Time::from_ms(visit), Arc::from(entity));
        if self.retries.is_delayed_after_write(&(stage, shard, Arc::clone(&entity))) {
            return;
        }
        if let Some(visiting) = self.calls.busy_mut(stage).get_mut(&(shard, Arc::clone(&entity)))
            && (visiting.stage, visiting.visit) == (stage, visit)
        {
            visiting.rewritten = true;
            return;
        }
        let queues = &mut self.scheduler.queues;
        let line = match Lane::from_number(lane) {
            Lane::Fresh => Line::Fresh,
            Lane::Timer if visit < queues.late_before(stage, shard) => Line::Late,
            Lane::Timer => Line::Timer,
            Lane::Background => Line::Background,
        };
        queues.added(QueueId { shard, stage, line }, visit, &entity, self.watcher.now());
    }

    /// Another process wrote to a shard: only the fresh line is written to by others.
    fn rescan_fresh(&mut self, shard: u32) {
        for stage in 0..self.names.len() {
            self.scheduler.queues.rescan(QueueId { shard, stage, line: Line::Fresh });
        }
    }

    /// Starts the next step of the sweep, as if nothing were known of its shards. Beside the loop,
    /// because it walks over the remains of all rows that were deleted of late.
    pub(super) fn sweep(&mut self) {
        if Instant::now() < self.sweeps.at {
            return;
        }
        self.sweeps.at = Instant::now() + SWEEP_TIME / SWEEP_STEPS as u32;
        if !self.sweeps.tasks.is_empty() || planted!(NoLook) {
            return;
        }
        let from = self.sweeps.next_shard;
        let shards: Vec<u32> = {
            let serving = self.shards.serving.borrow();
            let count = serving.len().div_ceil(SWEEP_STEPS).min(SURVEYS_IN_A_ROUND_MAX);
            serving.range(from..).chain(serving.range(..from)).map(|(shard, _)| *shard).take(count).collect()
        };
        self.sweeps.next_shard = shards.last().map_or(0, |last| last.saturating_add(1));
        for shard in shards {
            self.sweeps.tasks.spawn(self.firsts(shard, self.scheduler.queues.queues_of(shard)));
        }
    }

    pub(super) fn apply_sweep(&mut self, swept: Result<Result<Firsts>, JoinError>) {
        let firsts = match swept {
            Ok(Ok(firsts)) => firsts,
            Ok(Err(error)) => return tracing::warn!(%error, "cannot scan the queues of a shard"),
            Err(error) => return tracing::error!(%error, "a scan of the queues of a shard panicked"),
        };
        for (id, first) in firsts {
            self.scheduler.queues.swept(id, first);
        }
    }

    /// Forgets what is known of all queues.
    fn rescan_all(&mut self) {
        let shards: Vec<u32> = self.shards.serving.borrow().keys().copied().collect();
        for shard in shards.into_iter().filter(|_| !planted!(NoLook)) {
            for (stage, line) in (0..self.names.len()).flat_map(|stage| Line::ALL.map(|line| (stage, line))) {
                self.scheduler.queues.sweep(QueueId { shard, stage, line });
            }
        }
    }
}

fn log_failed_scan(shard: u32, error: &Error) {
    tracing::warn!(shard, %error, "cannot scan the queues of a shard");
}
