//! Why a task runs, or why not.

use jiff::{SignedDuration, Timestamp};
use triggers::{Calendar, Earliest, Verdict, check, earliest};

use super::actions::Signed;
use super::entry::Entry;
use super::hold::Hold;
use super::mend::Regression;
use super::queue::Obstacle;
use super::state::{Backfill, Cause, Phase, Rest};
use super::{Board, Seen, TaskId, TaskName};
use crate::error::{Error, Result};
use crate::limits::NAMES_SHOWN;

/// Everything that is to be said of a task now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The task.
    pub task: TaskName,
    /// When it was asked.
    pub now: Timestamp,
    /// In whose zone moments are shown.
    pub calendar: Calendar,
    /// What its trigger says, leaf by leaf; `None` if the task is gone.
    pub verdict: Option<Verdict>,
    /// The earliest that its trigger can hold.
    pub earliest: Option<Earliest>,
    /// Where it stands.
    pub standing: Standing,
    /// Who has paused it. The definition of the task is nobody: `by` is empty then.
    pub paused: Option<Signed>,
    /// Failures in a row.
    pub attempts: u32,
    /// Whether so many have failed that the task is shown as failing.
    pub failing: bool,
    /// What the last run came to, if it failed.
    pub error: Option<String>,
    /// When the last run began.
    pub last_run: Option<Timestamp>,
    /// When the last one ended that succeeded.
    pub last_success: Option<Timestamp>,
    /// When the last one ended that failed.
    pub last_failure: Option<Timestamp>,
    /// What was moved back, and how to mend it.
    pub regressions: Vec<Regression>,
    /// How long it has been silent, if that is watched.
    pub silence: Option<Silence>,
    /// Chunks that are to be run.
    pub backfill: Option<Backfill>,
    /// Others are held back for it.
    pub holds: Option<Hold>,
}

/// Where a task stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its definition is gone.
    Gone,
    /// It waits for its trigger to hold.
    Idle,
    /// It waits for its turn.
    Queued {
        /// Since when.
        since: Timestamp,
        /// Why it is to run.
        cause: Cause,
        /// Its place in the queue of all, from 1 on.
        place: usize,
        /// How many wait.
        of: usize,
        /// Why it has not started; never empty.
        blocked: Vec<Blocked>,
    },
    /// A run is under way.
    Running {
        /// Its number.
        run: u64,
        /// When the check was that started it.
        since: Timestamp,
        /// What that check saw.
        seen: Seen,
        /// Why it runs.
        cause: Cause,
    },
    /// It is tried again after a pause.
    Waiting {
        /// Until when.
        until: Timestamp,
    },
    /// It does not fire before one of its parameters has another value.
    Resting {
        /// Since when.
        since: Timestamp,
        /// Why.
        why: Rest,
    },
}

/// What keeps a queued task from being started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// Its place in the queue is being written.
    Writing,
    /// As many run as may run.
    Full {
        /// So many.
        limit: u32,
        /// Who.
        running: Runners,
    },
    /// As many run as may run in its pool.
    PoolFull {
        /// Which pool.
        pool: String,
        /// So many.
        limit: u32,
        /// Who.
        running: Runners,
    },
    /// The places that are left are kept for a more important task.
    Held(Hold),
    /// It is the turn of another task.
    Behind(TaskName),
    /// Nothing: it starts with the next decision.
    Nothing,
}

/// Who runs; of many the first few.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runners {
    /// Names, sorted by when they came onto the board.
    pub names: Vec<TaskName>,
    /// How many there are besides.
    pub others: usize,
}

/// How long a task has been silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// The last success, or when the task became known.
    pub since: Timestamp,
    /// How long it has been.
    pub lasts: SignedDuration,
    /// How long is allowed.
    pub allowed: SignedDuration,
    /// Whether it is too long.
    pub too_long: bool,
}

impl Board {
    /// Why a task runs or why not, with the values that the board knows.
    pub fn explain(&self, task: &str, now: Timestamp) -> Result<Explanation> {
        let id = *self.names.get(task).ok_or_else(|| Error::NoTask(task.to_owned()))?;
        let entry = &self.entries[id as usize];
        let (state, view) = (&entry.state, entry.view(&self.catalogue));
        let plan = entry.plan.as_ref();
        let since = state.last_success.unwrap_or(state.known_since);
        Ok(Explanation {
            task: entry.name.clone(),
            now,
            calendar: plan.map(|plan| plan.calendar.clone()).unwrap_or_default(),
            verdict: plan.map(|plan| check(&plan.trigger, &view, now, &plan.calendar)),
            earliest: plan.map(|plan| earliest(&plan.trigger, &view, now, &plan.calendar)),
            standing: self.standing(id),
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

    /// The queue of all tasks in its order: the task, and since when it waits.
    #[must_use]
    pub fn queue(&self) -> Vec<(TaskName, Timestamp)> {
        let mut keys: Vec<_> = self.queue.pools.iter().flat_map(|pool| &pool.ready).collect();
        keys.sort_unstable();
        keys.into_iter().map(|key| (key.name.clone(), key.since)).collect()
    }

    fn standing(&self, task: TaskId) -> Standing {
        let entry = &self.entries[task as usize];
        match &entry.state.phase {
            Phase::Running { run, since, seen, cause } => {
                Standing::Running { run: *run, since: *since, seen: seen.clone(), cause: cause.clone() }
            }
            _ if entry.plan.is_none() => Standing::Gone,
            Phase::Idle => Standing::Idle,
            Phase::Queued { since, cause, .. } => {
                let pools = &self.queue.pools;
                let before = self.key_of(task).map_or(0, |key| {
                    pools.iter().map(|pool| pool.ready.range(..&key).count()).sum::<usize>()
                });
                Standing::Queued {
                    since: *since,
                    cause: cause.clone(),
                    place: before + 1,
                    of: pools.iter().map(|pool| pool.ready.len()).sum(),
                    blocked: self.blocked(task),
                }
            }
            Phase::Waiting { until } => Standing::Waiting { until: *until },
            Phase::Resting { since, why, .. } => Standing::Resting { since: *since, why: why.clone() },
        }
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

fn paused(entry: &Entry) -> Option<Signed> {
    let by_definition = || Signed {
        by: String::new(),
        reason: "its definition says so".to_owned(),
        at: entry.state.known_since,
    };
    entry.is_paused().then(|| entry.state.paused.clone().unwrap_or_else(by_definition))
}
