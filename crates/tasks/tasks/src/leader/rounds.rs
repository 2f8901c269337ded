//! The leader's rounds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ctl::Mark;
use planner::{Decision, Outcome, TaskName};
use store::Hints;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};
use watcher::Fence;
use wire::torg::tasks::v1::TaskAlert;

use super::events::Unread;
use super::remote_runs::{self, Deadlines};
use super::{stopped, track};
use crate::core::{Core, LeaderState};
use crate::entity::{self, TaskEntity};
use crate::error::{Error, Result};
use crate::limits::{ERROR_PAUSE, POLL_EVERY};
use crate::run_tracker::{Ended, RunKey};
use crate::tables::SHARD;
use crate::time::until;

/// Why a round stopped early.
#[derive(Debug)]
pub(super) enum Stop {
    /// Another process is the leader now, or will be soon.
    Lost,
    /// The store is unavailable, or something cannot be read.
    Error(Error),
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// What the planner does not know of a task.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskExtras {
    pub(super) place: String,
    pub(super) alerts: Vec<TaskAlert>,
}

pub(super) struct Leader {
    pub(super) core: Arc<Core>,
    pub(super) fence: Fence,
    /// Of tasks with a run or alerts.
    pub(super) extras: BTreeMap<TaskName, TaskExtras>,
    /// Decisions whose commit is unknown.
    pub(super) unconfirmed: Vec<Decision>,
    /// Ends that were reported to the planner and are not committed.
    pub(super) reported: BTreeSet<RunKey>,
    pub(super) remote_runs: Deadlines,
    /// Changed values that the planner knows and that are still marked.
    pub(super) marks: Vec<Mark>,
    pub(super) hints: Hints,
    /// The tables to read.
    pub(super) unread: Unread,
    next_poll: Instant,
}

impl Leader {
    /// Reads everything. Later commits of others arrive as hints.
    pub(super) async fn begin(core: Arc<Core>, fence: Fence) -> Result<Self> {
        let hints = core.store.hints();
        let (leader, tasks) = core.load().await?;
        let definitions = leader.definitions.clone();
        *core.leader() = Some(leader);
        let mut leader = Self {
            core,
            fence,
            extras: BTreeMap::new(),
            unconfirmed: Vec::new(),
            reported: BTreeSet::new(),
            remote_runs: Deadlines::new(),
            marks: Vec::new(),
            hints,
            unread: Unread::all(),
            next_poll: Instant::now() + POLL_EVERY,
        };
        let running: BTreeMap<&TaskName, u64> =
            tasks.iter().filter_map(|task| Some((&task.name, task.state.running()?.0))).collect();
        for (key, _) in leader.core.tracker.ended() {
            if running.get(&key.0) != Some(&key.1) {
                leader.core.tracker.forget(&key);
            }
        }
        for task in &tasks {
            let definition = definitions.task(&task.name).cloned();
            leader.resume(task, definition).await?;
        }
        tracing::info!(
            tasks = definitions.plans().len(),
            deployment = definitions.number,
            "this process is the leader of tasks"
        );
        Ok(leader)
    }

    /// Tracks the current run of a task, or sets its deadline.
    async fn resume(&mut self, task: &TaskEntity, definition: Option<Arc<taskfile::Task>>) -> Result<()> {
        let extras = TaskExtras { place: task.place.clone(), alerts: task.alerts.clone() };
        self.extras.insert(task.name.clone(), extras);
        let Some((run, since)) = task.state.running() else { return Ok(()) };
        if task.place == self.core.place {
            return track(&self.core, task, definition).await;
        }
        let key = (task.name.clone(), run);
        let deadline = remote_runs::deadline(&self.core, &key, since).await?;
        self.remote_runs.insert(key, deadline);
        Ok(())
    }

    pub(super) async fn run(
        mut self,
        serving: &mut watch::Receiver<BTreeMap<u32, Fence>>,
        stop: &mut watch::Receiver<bool>,
    ) {
        loop {
            let ours = serving.borrow_and_update().get(&SHARD) == Some(&self.fence);
            if !ours || *stop.borrow() {
                return;
            }
            match self.round().await {
                Ok(true) => {}
                Ok(false) => self.wait(serving, stop).await,
                Err(Stop::Lost) => {
                    tracing::info!("another process is the leader of tasks now");
                    // The watcher notices the lost lease by itself.
                    tokio::select! {
                        biased;
                        _ = serving.changed() => serving.mark_changed(),
                        () = stopped(stop) => {}
                        () = sleep(ERROR_PAUSE) => {}
                    }
                    return;
                }
                Err(Stop::Error(error)) => {
                    tracing::warn!(%error, "a round of the leader of tasks failed, will try again");
                    sleep(ERROR_PAUSE).await;
                }
            }
        }
    }

    /// One round; returns whether there was anything to do.
    async fn round(&mut self) -> Result<bool, Stop> {
        self.resolve_unconfirmed().await?;
        self.read_events().await?;
        self.report_local_ends();
        let decisions = self.with(|leader, core| leader.planner.decide(core.now())).unwrap_or_default();
        let any = !decisions.is_empty();
        self.execute(decisions).await?;
        self.forget_marks().await?;
        Ok(any || !self.unread.is_nothing())
    }

    async fn wait(
        &mut self,
        serving: &mut watch::Receiver<BTreeMap<u32, Fence>>,
        stop: &mut watch::Receiver<bool>,
    ) {
        let now = self.core.clock.now();
        let moment = self.with(|leader, _| leader.planner.next_moment()).flatten();
        let deadline = self.remote_runs.values().min().copied();
        let times = [moment, deadline].into_iter().flatten().map(|at| Instant::now() + until(now, at));
        let wake = times.fold(self.next_poll, Instant::min);
        tokio::select! {
            biased;
            () = stopped(stop) => {}
            _ = serving.changed() => serving.mark_changed(),
            () = self.core.tracker.next_end() => {}
            hint = self.hints.next() => match hint {
                Some(hint) => self.unread.note(&hint),
                // The store is closed: its owner stops this too.
                None => sleep(POLL_EVERY).await,
            },
            () = sleep_until(wake) => {}
        }
        if Instant::now() >= self.next_poll {
            self.next_poll = Instant::now() + POLL_EVERY;
            self.unread = Unread::all();
        }
        self.drain_hints();
    }

    /// The planner, which exists as long as this process is the leader.
    pub(super) fn with<R>(&self, f: impl FnOnce(&mut LeaderState, &Core) -> R) -> Option<R> {
        self.core.leader().as_mut().map(|leader| f(leader, &self.core))
    }

    /// Reports ended and overdue runs to the planner.
    fn report_local_ends(&mut self) {
        let now = self.core.now();
        let mut ends = self.core.tracker.ended();
        ends.retain(|(key, _)| !self.reported.contains(key));
        let overdue = self.remote_runs.iter().filter(|(_, deadline)| **deadline <= now);
        ends.extend(overdue.map(|(key, _)| (key.clone(), Ended { outcome: Outcome::Lost, at: now })));
        self.remote_runs.retain(|_, deadline| *deadline > now);
        for (key, ended) in ends {
            self.report_end(key, ended);
        }
    }

    pub(super) fn report_end(&mut self, key: RunKey, ended: Ended) {
        let (task, run) = &key;
        let reported = self.with(|leader, _| leader.planner.run_ended(task, *run, ended.outcome, ended.at));
        if reported == Some(true) {
            self.reported.insert(key);
        } else {
            self.core.tracker.forget(&key);
        }
    }

    /// Finds out what became of decisions that were refused or unconfirmed.
    pub(super) async fn resolve_unconfirmed(&mut self) -> Result<(), Stop> {
        while let Some(decision) = self.unconfirmed.last().cloned() {
            let task = entity::load(&self.core.store, &decision.task).await?;
            self.reported.retain(|(name, _)| *name != decision.task);
            let definition = self.with(|leader, _| {
                leader.planner.refused(&decision);
                if let Some(task) = &task {
                    leader.planner.state_changed(&task.name, task.state.clone());
                }
                leader.definitions.task(&decision.task).cloned()
            });
            if let Some(task) = &task {
                self.resume(task, definition.flatten()).await?;
            }
            self.unconfirmed.pop();
        }
        Ok(())
    }
}
