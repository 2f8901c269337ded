//! The part of a task's definition that the planner needs.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use triggers::{Calendar, Parameter, Trigger, Value};

use crate::limits::{FAILING_AFTER, RETRY_FIRST, RETRY_MOST};
use crate::{Seen, SetTo, TaskName};

/// The part of a task's definition that the planner needs; what is run is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Unique.
    pub name: TaskName,
    pub trigger: Trigger,
    pub calendar: Calendar,
    /// Larger numbers go first.
    pub priority: i32,
    /// The pool whose limit it counts against. An unknown pool has no limit.
    pub pool: Option<String>,
    pub sets: BTreeMap<Parameter, SetTo>,
    pub produces: BTreeSet<Parameter>,
    /// How long less important tasks may be held back for it; zero for never.
    pub hold_back: SignedDuration,
    pub retry: Retry,
    /// An alert follows after this long without a success.
    pub max_silence: Option<SignedDuration>,
    pub paused: bool,
}

impl Plan {
    /// A task with a name and a trigger; everything else has its default.
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

    /// What a successful run writes, through Torg or itself.
    pub fn outputs(&self) -> impl Iterator<Item = &Parameter> {
        self.sets.keys().chain(self.produces.iter().filter(|produced| !self.sets.contains_key(*produced)))
    }

    /// The values that a success sets, for a run whose check was at a moment and saw these values.
    /// A parameter whose source had no value is left out.
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

/// What happens when a run fails: it is tried again after a delay, as long as its trigger holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The delay before the second attempt; it doubles with every attempt.
    pub first: SignedDuration,
    pub most: SignedDuration,
    /// Failures in a row after which the task counts as failing.
    pub failing_after: u32,
    /// Attempts with the same values; `None`: unlimited.
    pub limit: Option<u32>,
}

impl Default for Retry {
    fn default() -> Self {
        Self { first: RETRY_FIRST, most: RETRY_MOST, failing_after: FAILING_AFTER, limit: None }
    }
}

impl Retry {
    #[must_use]
    pub fn pause(&self, failures: u32) -> SignedDuration {
        let doubled = 1_i32.checked_shl(failures.saturating_sub(1)).filter(|factor| *factor > 0);
        let pause = doubled.and_then(|factor| self.first.checked_mul(factor)).unwrap_or(self.most);
        pause.min(self.most).max(SignedDuration::ZERO)
    }

    /// Whether there are no more attempts after this many failures in a row.
    #[must_use]
    pub fn is_over(&self, failures: u32) -> bool {
        self.limit.is_some_and(|limit| failures >= limit)
    }
}
