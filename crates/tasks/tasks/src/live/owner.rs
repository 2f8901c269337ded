//! The one process that decides.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ctl::Mark;
use planner::board::{Decision, Outcome, TaskName};
use store::Hints;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};
use watcher::Fence;
use wire::torg::tasks::v1::TaskAlert;

use super::foreign::{self, Deadlines};
use super::hear::News;
use super::{attend, turns_true};
use crate::attendant::{Ended, RunKey};
use crate::core::{Core, Live};
use crate::entity::{self, TaskEntity};
use crate::error::{Error, Result};
use crate::limits::{ERROR_PAUSE, LOOK_EVERY};
use crate::tables::SHARD;
use crate::time::until;

/// Why a round came to an end before its time.
#[derive(Debug)]
pub(super) enum Halt {
    /// Another process decides now, or will soon.
    Lost,
    /// The store is away, or something cannot be read.
    Error(Error),
}

impl<E: Into<Error>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// What the board does not know of a task.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    pub(super) place: String,
    pub(super) alerts: Vec<TaskAlert>,
}

/// Decides on tasks as long as the fence holds.
pub(super) struct Owner {
    pub(super) core: Arc<Core>,
    pub(super) fence: Fence,
    /// Of tasks that have a run or alerts.
    pub(super) kept: BTreeMap<TaskName, Kept>,
    /// Decisions of which nobody knows whether they were committed.
    pub(super) doubtful: Vec<Decision>,
    /// Ends that the board was told and that are not committed.
    pub(super) told: BTreeSet<RunKey>,
    /// Runs that are at other places.
    pub(super) foreign: Deadlines,
    /// Changes of values that the board knows, and that are still marked.
    pub(super) marks: Vec<Mark>,
    pub(super) hints: Hints,
    /// What has to be read.
    pub(super) news: News,
    next_look: Instant,
}

impl Owner {
    /// Reads everything. What is committed by others from now on is heard of.
    pub(super) async fn begin(core: Arc<Core>, fence: Fence) -> Result<Self> {
        let hints = core.store.hints();
        let (live, tasks) = core.load().await?;
        let definitions = live.definitions.clone();
        *core.live() = Some(live);
        let mut owner = Self {
            core,
            fence,
            kept: BTreeMap::new(),
            doubtful: Vec::new(),
            told: BTreeSet::new(),
            foreign: Deadlines::new(),
            marks: Vec::new(),
            hints,
            news: News::all(),
            next_look: Instant::now() + LOOK_EVERY,
        };
        let running: BTreeMap<&TaskName, u64> =
            tasks.iter().filter_map(|task| Some((&task.name, task.state.running()?.0))).collect();
        for (key, _) in owner.core.attendant.ended() {
            if running.get(&key.0) != Some(&key.1) {
                owner.core.attendant.forget(&key);
            }
        }
        for task in &tasks {
            let definition = definitions.task(&task.name).cloned();
            owner.take_up(task, definition.as_deref()).await?;
        }
        tracing::info!(
            tasks = definitions.plans().len(),
            deployment = definitions.number,
            "this process decides on tasks"
        );
        Ok(owner)
    }

    /// What a task that was read from the store needs: somebody who looks after its run.
    async fn take_up(&mut self, task: &TaskEntity, definition: Option<&taskfile::Task>) -> Result<()> {
        let kept = Kept { place: task.place.clone(), alerts: task.alerts.clone() };
        self.kept.insert(task.name.clone(), kept);
        let Some((run, since)) = task.state.running() else { return Ok(()) };
        if task.place == self.core.place {
            return attend(&self.core, task, definition).await;
        }
        let key = (task.name.clone(), run);
        let deadline = foreign::deadline(&self.core, &key, since).await?;
        self.foreign.insert(key, deadline);
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
                Err(Halt::Lost) => {
                    tracing::info!("another process decides on tasks now");
                    // The keeper of the leases finds out by itself; until then there is nothing to do.
                    tokio::select! {
                        biased;
                        _ = serving.changed() => serving.mark_changed(),
                        () = turns_true(stop) => {}
                        () = sleep(ERROR_PAUSE) => {}
                    }
                    return;
                }
                Err(Halt::Error(error)) => {
                    tracing::warn!(%error, "cannot decide on tasks, will try again");
                    sleep(ERROR_PAUSE).await;
                }
            }
        }
    }

    /// One round; whether there was anything to decide.
    async fn round(&mut self) -> Result<bool, Halt> {
        self.resolve_doubts().await?;
        self.hear().await?;
        self.tell_ends();
        let decisions = self.with(|live, core| live.board.decide(core.now())).unwrap_or_default();
        let any = !decisions.is_empty();
        self.carry_out(decisions).await?;
        self.forget_marks().await?;
        Ok(any || !self.news.is_nothing())
    }

    async fn wait(
        &mut self,
        serving: &mut watch::Receiver<BTreeMap<u32, Fence>>,
        stop: &mut watch::Receiver<bool>,
    ) {
        let now = self.core.clock.now();
        let moment = self.with(|live, _| live.board.next_moment()).flatten();
        let deadline = self.foreign.values().min().copied();
        let times = [moment, deadline].into_iter().flatten().map(|at| Instant::now() + until(now, at));
        let wake = times.fold(self.next_look, Instant::min);
        tokio::select! {
            biased;
            () = turns_true(stop) => {}
            _ = serving.changed() => serving.mark_changed(),
            () = self.core.attendant.next_end() => {}
            hint = self.hints.next() => match hint {
                Some(hint) => self.news.note(&hint),
                // The store is closed: whoever closes it stops this, too.
                None => sleep(LOOK_EVERY).await,
            },
            () = sleep_until(wake) => {}
        }
        if Instant::now() >= self.next_look {
            self.next_look = Instant::now() + LOOK_EVERY;
            self.news = News::all();
        }
        self.drain_hints();
    }

    /// The board, which is there as long as this process decides.
    pub(super) fn with<R>(&self, f: impl FnOnce(&mut Live, &Core) -> R) -> Option<R> {
        self.core.live().as_mut().map(|live| f(live, &self.core))
    }

    /// Tells the board of runs that have ended.
    fn tell_ends(&mut self) {
        let now = self.core.now();
        let mut ends = self.core.attendant.ended();
        ends.retain(|(key, _)| !self.told.contains(key));
        let overdue = self.foreign.iter().filter(|(_, deadline)| **deadline <= now);
        ends.extend(overdue.map(|(key, _)| (key.clone(), Ended { outcome: Outcome::Lost, at: now })));
        self.foreign.retain(|_, deadline| *deadline > now);
        for (key, ended) in ends {
            self.tell_end(key, ended);
        }
    }

    pub(super) fn tell_end(&mut self, key: RunKey, ended: Ended) {
        let (task, run) = &key;
        let told = self.with(|live, _| live.board.run_ended(task, *run, ended.outcome, ended.at));
        if told == Some(true) {
            self.told.insert(key);
        } else {
            self.core.attendant.forget(&key);
        }
    }

    /// Finds out what became of decisions whose commit was refused, or of which nobody knows.
    pub(super) async fn resolve_doubts(&mut self) -> Result<(), Halt> {
        while let Some(decision) = self.doubtful.last().cloned() {
            let task = entity::load(&self.core.store, &decision.task).await?;
            self.told.retain(|(name, _)| *name != decision.task);
            let definition = self.with(|live, _| {
                live.board.refused(&decision);
                if let Some(task) = &task {
                    live.board.state_changed(&task.name, task.state.clone());
                }
                live.definitions.task(&decision.task).cloned()
            });
            if let Some(task) = &task {
                self.take_up(task, definition.flatten().as_deref()).await?;
            }
            self.doubtful.pop();
        }
        Ok(())
    }
}
