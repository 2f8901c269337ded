//! What the board knows of a task's definition.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::{SignedDuration, Timestamp};
use triggers::{Calendar, Parameter, Trigger, Value};

use super::{Seen, TaskName};
use crate::limits::{FAILING_AFTER, RETRY_FIRST, RETRY_MOST, RUNNING_DEFAULT};

/// What the board knows of a task's definition; what is run does not concern it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Its name, unique on the board.
    pub name: TaskName,
    /// When it fires.
    pub trigger: Trigger,
    /// By which chunks are counted.
    pub calendar: Calendar,
    /// Tasks with a larger number go first.
    pub priority: i32,
    /// The pool whose limit it counts against. One that the settings do not know has no limit.
    pub pool: Option<String>,
    /// What is set when a run succeeds.
    pub sets: BTreeMap<Parameter, SetTo>,
    /// What a run moves by itself.
    pub produces: BTreeSet<Parameter>,
    /// How long less important tasks may be held back for it; zero for never.
    pub hold_back: SignedDuration,
    /// What happens when a run fails.
    pub retry: Retry,
    /// Somebody is told when no run has succeeded for so long.
    pub max_silence: Option<SignedDuration>,
    /// Whether it waits until somebody resumes it.
    pub paused: bool,
}

impl Plan {
    /// A task with nothing but a name and a trigger; all else is as if nobody had said anything.
    #[must_use]
    pub fn new(name: &str, trigger: Trigger) -> Self {
        Self {
            name: name.into(),
            trigger,
            calendar: Calendar::default(),
            priority: 0,
            pool: None,
            sets: BTreeMap::new(),
            produces: BTreeSet::new(),
            hold_back: SignedDuration::ZERO,
            retry: Retry::default(),
            max_silence: None,
            paused: false,
        }
    }

    /// What a successful run moves: set by Torg, or by the run itself.
    pub fn outputs(&self) -> impl Iterator<Item = &Parameter> {
        self.sets.keys().chain(self.produces.iter().filter(|produced| !self.sets.contains_key(*produced)))
    }

    /// What a success sets, of a run whose check was at a moment and saw these values. A parameter that is to get the value of
    /// another one which was not there is left out.
    #[must_use]
    pub fn writes(&self, seen: &Seen, checked: Timestamp) -> Seen {
        let value = |to: &SetTo| match to {
            SetTo::Seen(of) => seen.get(of).copied(),
            SetTo::Now => Some(Value::Time(checked)),
            SetTo::Number(number) => Some(Value::Number(*number)),
        };
        self.sets.iter().filter_map(|(of, to)| Some((of.clone(), value(to)?))).collect()
    }
}

/// What a parameter is set to when a run succeeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetTo {
    /// The value of a parameter of the trigger, as the check saw it that started the run.
    Seen(Parameter),
    /// The moment of that check: what came later is not in the result.
    Now,
    /// A number.
    Number(i64),
}

impl fmt::Display for SetTo {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seen(parameter) => parameter.fmt(out),
            Self::Now => out.write_str("now"),
            Self::Number(number) => number.fmt(out),
        }
    }
}

/// What happens when a run fails: it is tried again after a pause, as long as its trigger holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The pause before the second attempt; every later one is twice as long.
    pub first: SignedDuration,
    /// The longest pause.
    pub most: SignedDuration,
    /// Failures in a row after which it is shown as failing.
    pub failing_after: u32,
    /// How often it is tried in all with the same values; `None`: for ever.
    pub limit: Option<u32>,
}

impl Default for Retry {
    fn default() -> Self {
        Self { first: RETRY_FIRST, most: RETRY_MOST, failing_after: FAILING_AFTER, limit: None }
    }
}

impl Retry {
    /// The pause after so many failures in a row.
    #[must_use]
    pub fn pause(&self, failures: u32) -> SignedDuration {
        let doubled = 1_i32.checked_shl(failures.saturating_sub(1)).filter(|factor| *factor > 0);
        let pause = doubled.and_then(|factor| self.first.checked_mul(factor)).unwrap_or(self.most);
        pause.min(self.most).max(SignedDuration::ZERO)
    }

    /// Whether it is tried no more after so many failures in a row.
    #[must_use]
    pub fn is_over(&self, failures: u32) -> bool {
        self.limit.is_some_and(|limit| failures >= limit)
    }
}

/// How much runs at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Of all tasks. With zero nothing is started.
    pub running: u32,
    /// Of the tasks of a pool; `None`: only the limit of all tasks counts.
    pub pools: BTreeMap<String, Option<u32>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { running: RUNNING_DEFAULT, pools: BTreeMap::new() }
    }
}
