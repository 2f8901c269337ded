//! What would happen: a log of values is replayed against a configuration, on a virtual clock, by the same [`Board`](crate::board::Board)
//! that decides when it is real.
//!
//! Runs take the time that is given and end as the seed says. On success they set what `sets` says; what they `produce` by themselves
//! has to be in the log. Values before the beginning of the time are those it begins with.

mod compare;
mod misses;
mod replay;
mod show;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use triggers::{Parameter, Scale, Value};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::board::{Alert, Cause, Plan, Seen, Settings, TaskName, TaskState};
use crate::error::Result;

pub use compare::{Comparison, Moved, compare};

/// What is simulated.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Limits.
    pub settings: Settings,
    /// All tasks.
    pub plans: Vec<Plan>,
    /// What is known of them at the beginning. A task that is not here is new.
    pub states: BTreeMap<TaskName, TaskState>,
    /// Values at the beginning.
    pub values: Seen,
    /// Changes of values, in any order. Those before the beginning set the values it begins with.
    pub log: Vec<Recorded>,
    /// How long runs take.
    pub durations: Durations,
    /// Which runs fail; `None`: none.
    pub failures: Option<Failures>,
    /// The beginning.
    pub from: Timestamp,
    /// The end. What happens at this moment still counts.
    pub to: Timestamp,
}

impl Scenario {
    /// A time without tasks, values and failures, in which runs take no time.
    #[must_use]
    pub fn new(from: Timestamp, to: Timestamp) -> Self {
        Self {
            settings: Settings::default(),
            plans: Vec::new(),
            states: BTreeMap::new(),
            values: Seen::new(),
            log: Vec::new(),
            durations: Durations::default(),
            failures: None,
            from,
            to,
        }
    }
}

/// A change of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// When.
    pub at: Timestamp,
    /// Of what.
    pub parameter: Parameter,
    /// To what; `None`: it was deleted.
    pub value: Option<Value>,
}

/// How long runs take.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    /// Those of tasks that are not listed.
    pub default: SignedDuration,
    /// Those of tasks that are.
    pub by_task: BTreeMap<TaskName, SignedDuration>,
}

impl Durations {
    fn of(&self, task: &str) -> SignedDuration {
        self.by_task.get(task).copied().unwrap_or(self.default).max(SignedDuration::ZERO)
    }
}

/// Which runs fail. It depends on the seed, the task and the number of the run alone, so that two configurations can be compared.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    /// Another seed, other failures.
    pub seed: u64,
    /// Of a thousand runs so many fail, of tasks that are not listed.
    pub per_mille: u16,
    /// Likewise, of tasks that are.
    pub by_task: BTreeMap<TaskName, u16>,
}

impl Failures {
    fn fails(&self, task: &str, run: u64) -> bool {
        let per_mille = self.by_task.get(task).copied().unwrap_or(self.per_mille);
        let number = xxh3_64_with_seed(task.as_bytes(), self.seed ^ run.rotate_left(32));
        number % 1000 < u64::from(per_mille)
    }
}

/// What has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// The beginning.
    pub from: Timestamp,
    /// The end; earlier than that of the scenario if it was cut off.
    pub to: Timestamp,
    /// Runs in the order in which they started.
    pub firings: Vec<Firing>,
    /// What no successful run has seen at the end.
    pub misses: Vec<Miss>,
    /// Misses beyond those that are listed.
    pub more_misses: usize,
    /// The longest time that a task stood in the queue, of tasks that had to wait.
    pub starvation: BTreeMap<TaskName, SignedDuration>,
    /// The longest time without a success, of every task.
    pub silence: BTreeMap<TaskName, SignedDuration>,
    /// Tasks that ran again and again with the same values; they were paused.
    pub loops: Vec<Loop>,
    /// What `sets` would write.
    pub writes: Vec<Write>,
    /// What somebody would have been told.
    pub alerts: Vec<(Timestamp, TaskName, Alert)>,
    /// There were more firings than are simulated.
    pub cut_off: bool,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firing {
    /// When it started.
    pub at: Timestamp,
    /// Of which task.
    pub task: TaskName,
    /// Its number.
    pub run: u64,
    /// Which attempt in a row it was.
    pub attempt: u32,
    /// Why it was made.
    pub cause: Cause,
    /// How long the task stood in the queue.
    pub waited: SignedDuration,
    /// What the check saw.
    pub seen: Seen,
    /// When it ended, and whether it succeeded; `None`: it is still under way.
    pub ended: Option<(Timestamp, bool)>,
}

/// Something that no successful run of a task has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// The value at the end: it has grown enough, and the task has not run for it.
    Change {
        /// The task.
        task: TaskName,
        /// Of what.
        parameter: Parameter,
        /// The value.
        value: Value,
        /// Since when; the beginning if it did not change.
        since: Timestamp,
    },
    /// A chunk that the parameter has been in, for tasks that run for every new chunk.
    Chunk {
        /// The task.
        task: TaskName,
        /// Of what.
        parameter: Parameter,
        /// Its size.
        scale: Scale,
        /// When it begins.
        start: Timestamp,
    },
}

/// A task that ran again and again with the same values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The task.
    pub task: TaskName,
    /// When it was paused for that.
    pub at: Timestamp,
    /// After so many successful runs in a row.
    pub firings: u32,
    /// Which have all seen this.
    pub seen: Seen,
}

/// A value that a success sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// When.
    pub at: Timestamp,
    /// Which task.
    pub task: TaskName,
    /// What.
    pub parameter: Parameter,
    /// To what.
    pub value: Value,
    /// It would move the parameter back, and is not written.
    pub moves_back: bool,
}

/// Replays a log.
pub fn simulate(scenario: &Scenario) -> Result<Simulation> {
    replay::run(scenario)
}
