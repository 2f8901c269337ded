//! Why a task runs, or why not.

use jiff::{SignedDuration, Timestamp};
use triggers::{Calendar, Earliest, Verdict, check, earliest};

use crate::actions::Signed;
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::hold::Hold;
use crate::limits::NAMES_SHOWN;
use crate::queue::Obstacle;
use crate::regression::Regression;
use crate::state::{Backfill, Phase};
use crate::{Planner, TaskId, TaskName};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub task: TaskName,
    pub now: Timestamp,
    /// In whose zone moments are shown.
    pub calendar: Calendar,
    /// The trigger leaf by leaf; `None` if the definition was removed.
    pub verdict: Option<Verdict>,
    /// The earliest that its trigger can hold.
    pub earliest: Option<Earliest>,
    /// `None`: its definition was removed, and there is no current run.
    pub phase: Option<Phase>,
    pub queue: Option<QueuePosition>,
    /// `by` is empty if the definition pauses it.
    pub paused: Option<Signed>,
    pub attempts: u32,
    /// Whether enough have failed for the task to count as failing.
    pub failing: bool,
    pub error: Option<String>,
    pub last_run: Option<Timestamp>,
    pub last_success: Option<Timestamp>,
    pub last_failure: Option<Timestamp>,
    pub regressions: Vec<Regression>,
    pub silence: Option<Silence>,
    pub backfill: Option<Backfill>,
    /// Others are held back for it.
    pub holds: Option<Hold>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuePosition {
    /// Among all queued tasks, from 1 on.
    pub position: usize,
    pub of: usize,
    /// Why it has not started; never empty.
    pub blocked: Vec<Blocked>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// Its queue entry is being committed.
    Writing,
    Full {
        limit: u32,
        running: Runners,
    },
    PoolFull {
        pool: String,
        limit: u32,
        running: Runners,
    },
    /// The free slots are reserved for a more important task.
    Held(Hold),
    Behind(TaskName),
    /// It starts with the next decision.
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runners {
    /// In the order in which they were added.
    pub names: Vec<TaskName>,
    pub others: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// The last success, or when the task became known.
    pub since: Timestamp,
    pub lasts: SignedDuration,
    pub allowed: SignedDuration,
    pub too_long: bool,
}

impl Planner {
    pub fn explain(&self, task: &str, now: Timestamp) -> Result<Explanation> {
        let id = *self.names.get(task).ok_or_else(|| Error::NoTask(task.to_owned()))?;
        let entry = &self.entries[id as usize];
        let (state, view) = (&entry.state, entry.view(&self.parameters));
        let plan = entry.plan.as_ref();
        let since = state.last_success.unwrap_or(state.known_since);
        Ok(Explanation {
            task: entry.name.clone(),
            now,
            calendar: plan.map(|plan| plan.calendar.clone()).unwrap_or_default(),
            verdict: plan.map(|plan| check(&plan.trigger, &view, now, &plan.calendar)),
            earliest: plan.map(|plan| earliest(&plan.trigger, &view, now, &plan.calendar)),
            phase: phase(entry),
            queue: self.queue_position(id),
            paused: paused(entry),
            attempts: state.attempts,
            failing: plan.is_some_and(|plan| state.attempts >= plan.retry.failing_after.max(1)),
            error: state.error.clone(),
            last_run: state.last_run,
            last_success: state.last_success,
            last_failure: state.last_failure,
            regressions: self.regressions(id),
            silence: plan.and_then(|plan| plan.max_silence).map(|allowed| {
                let lasts = now.duration_since(since);
                Silence { since, lasts, allowed, too_long: lasts >= allowed }
            }),
            backfill: state.backfill.clone(),
            holds: entry.hold.clone(),
        })
    }

    /// All queued tasks in queue order, with the time since when they wait.
    #[must_use]
    pub fn queue(&self) -> Vec<(TaskName, Timestamp)> {
        let mut keys: Vec<_> = self.queue.pools.iter().flat_map(|pool| &pool.ready).collect();
        keys.sort_unstable();
        keys.into_iter().map(|key| (key.name.clone(), key.since)).collect()
    }

    fn queue_position(&self, task: TaskId) -> Option<QueuePosition> {
        let key = self.key(task)?;
        let pools = &self.queue.pools;
        Some(QueuePosition {
            position: pools.iter().map(|pool| pool.ready.range(..&key).count()).sum::<usize>() + 1,
            of: pools.iter().map(|pool| pool.ready.len()).sum(),
            blocked: self.blocked(task),
        })
    }

    fn blocked(&self, task: TaskId) -> Vec<Blocked> {
        let entry = &self.entries[task as usize];
        let pool = &self.queue.pools[entry.pool as usize];
        let priority = entry.plan.as_ref().map_or(0, |plan| plan.priority);
        let mut blocked = Vec::new();
        if entry.is_sealed() {
            blocked.push(Blocked::Writing);
        }
        if self.queue.running >= self.queue.limit as usize {
            let running = self.runners(self.queue.pools.iter().flat_map(|pool| &pool.running));
            blocked.push(Blocked::Full { limit: self.queue.limit, running });
        }
        if let (Some(limit), Some(name)) = (pool.limit, &pool.name)
            && pool.running.len() >= limit as usize
        {
            blocked.push(Blocked::PoolFull {
                pool: name.clone(),
                limit,
                running: self.runners(pool.running.iter()),
            });
        }
        if let Some(Obstacle::Kept(important)) = self.queue.obstacle(entry.pool, priority)
            && let Some(hold) = &self.entries[important as usize].hold
        {
            blocked.push(Blocked::Held(hold.clone()));
        }
        if blocked.is_empty() {
            let other = self.queue.next().filter(|key| key.task != task);
            blocked.push(other.map_or(Blocked::Nothing, |key| Blocked::Behind(key.name.clone())));
        }
        blocked
    }

    fn runners<'a>(&self, running: impl Iterator<Item = &'a TaskId>) -> Runners {
        let mut all: Vec<TaskId> = running.copied().collect();
        all.sort_unstable();
        let name = |task: &TaskId| self.entries[*task as usize].name.clone();
        Runners {
            names: all.iter().take(NAMES_SHOWN).map(name).collect(),
            others: all.len().saturating_sub(NAMES_SHOWN),
        }
    }
}

fn phase(entry: &Entry) -> Option<Phase> {
    let is_shown = entry.plan.is_some() || entry.state.running().is_some();
    is_shown.then(|| entry.state.phase.clone())
}

fn paused(entry: &Entry) -> Option<Signed> {
    let by_definition = || Signed {
        by: String::new(),
        reason: "its definition says so".to_owned(),
        at: entry.state.known_since,
    };
    entry.is_paused().then(|| entry.state.paused.clone().unwrap_or_else(by_definition))
}
