//! Simulation: replays a log of values against a configuration on a virtual clock, with the same
//! [`Planner`](crate::Planner) as in production.
//!
//! Runs take the given time and fail as the seed says. On success they set what `sets` says; what
//! they `produce` themselves has to be in the log. Changes before the beginning give the initial
//! values.

mod compare;
mod misses;
mod replay;
mod show;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use triggers::{Parameter, Scale, Value};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::Result;
use crate::{Alert, Cause, Limits, Plan, Seen, TaskName, TaskState};

pub use compare::{Comparison, Moved, compare};

#[derive(Clone, Debug, Default)]
pub struct Scenario {
    pub limits: Limits,
    pub plans: Vec<Plan>,
    /// States at the beginning. A task without one is new.
    pub states: BTreeMap<TaskName, TaskState>,
    pub values: Seen,
    /// Changes of values, in any order. Those before the beginning give the initial values.
    pub log: Vec<Recorded>,
    pub durations: Durations,
    /// `None`: no run fails.
    pub failures: Option<Failures>,
    pub from: Timestamp,
    /// Events at this moment still count.
    pub to: Timestamp,
}

impl Scenario {
    /// A scenario without tasks, values and failures, in which runs take no time.
    #[must_use]
    pub fn new(from: Timestamp, to: Timestamp) -> Self {
        Self { from, to, ..Self::default() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub at: Timestamp,
    pub parameter: Parameter,
    /// `None`: it was deleted.
    pub value: Option<Value>,
}

#[derive(Clone, Debug, Default)]
pub struct Durations {
    pub default: SignedDuration,
    pub by_task: BTreeMap<TaskName, SignedDuration>,
}

impl Durations {
    fn of(&self, task: &str) -> SignedDuration {
        self.by_task.get(task).copied().unwrap_or(self.default).max(SignedDuration::ZERO)
    }
}

/// Which runs fail. It depends only on the seed, the task and the number of the run, so that two
/// configurations can be compared.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    /// Another seed gives other failures.
    pub seed: u64,
    /// Failures in a thousand runs, of tasks that are not listed.
    pub per_mille: u16,
    /// The same, of listed tasks.
    pub by_task: BTreeMap<TaskName, u16>,
}

impl Failures {
    fn fails(&self, task: &str, run: u64) -> bool {
        let per_mille = self.by_task.get(task).copied().unwrap_or(self.per_mille);
        let number = xxh3_64_with_seed(task.as_bytes(), self.seed ^ run.rotate_left(32));
        number % 1000 < u64::from(per_mille)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simulation {
    pub from: Timestamp,
    /// Earlier than that of the scenario if it was cut off.
    pub to: Timestamp,
    /// In the order in which they started.
    pub firings: Vec<Firing>,
    /// What no successful run has seen at the end.
    pub misses: Vec<Miss>,
    pub more_misses: usize,
    /// The longest time in the queue, of tasks that had to wait.
    pub starvation: BTreeMap<TaskName, SignedDuration>,
    /// The longest time without a success, of every task.
    pub silence: BTreeMap<TaskName, SignedDuration>,
    /// Tasks that kept running with the same values; they were paused.
    pub loops: Vec<Loop>,
    /// What `sets` would write.
    pub writes: Vec<Write>,
    pub alerts: Vec<(Timestamp, TaskName, Alert)>,
    /// There were more firings than are simulated.
    pub cut_off: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firing {
    pub at: Timestamp,
    pub task: TaskName,
    pub run: u64,
    pub attempt: u32,
    pub cause: Cause,
    pub waited: SignedDuration,
    pub seen: Seen,
    /// When it ended, and whether it succeeded; `None`: it is still running.
    pub ended: Option<(Timestamp, bool)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// The last value: it has grown enough, and the task has not run for it.
    Change {
        task: TaskName,
        parameter: Parameter,
        value: Value,
        /// The beginning if it did not change.
        since: Timestamp,
    },
    /// A chunk that the parameter was in, for tasks that run for every new chunk.
    Chunk { task: TaskName, parameter: Parameter, scale: Scale, start: Timestamp },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    pub task: TaskName,
    pub at: Timestamp,
    pub firings: u32,
    pub seen: Seen,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    pub at: Timestamp,
    pub task: TaskName,
    pub parameter: Parameter,
    pub value: Value,
    /// It would move the parameter back, and is not written.
    pub moves_back: bool,
}

pub fn simulate(scenario: &Scenario) -> Result<Simulation> {
    replay::run(scenario)
}
