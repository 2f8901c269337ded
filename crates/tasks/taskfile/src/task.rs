//! What a task is.

use crate::location::Position;
use crate::run::Run;
use jiff::SignedDuration;
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use triggers::{Calendar, Parameter, Trigger};

/// The name of a task: unique in all files. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskName(Arc<str>);

impl TaskName {
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for TaskName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub file: Arc<str>,
    pub at: Position,
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.file, self.at)
    }
}

/// What a parameter is set to when a run succeeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetTo {
    /// The value of a parameter of the trigger, as the check saw it that started the run.
    Seen(Parameter),
    /// The moment of that check: later data is not in the result.
    Now,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The delay before the second attempt; it doubles with every attempt.
    pub first: SignedDuration,
    /// The longest delay; at least `first`.
    pub most: SignedDuration,
    /// Attempts in total, at least one.
    pub attempts: u32,
}

/// A task with everything that the files say of it, and defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub name: TaskName,
    /// May be empty.
    pub about: String,
    /// May be empty.
    pub owner: String,
    /// For searching.
    pub labels: BTreeMap<String, String>,
    /// No aggregate in it is empty or has a single member.
    pub trigger: Trigger,
    pub calendar: Calendar,
    pub run: Run,
    pub sets: BTreeMap<Parameter, SetTo>,
    /// What the run writes itself; disjoint from `sets`.
    pub produces: BTreeSet<Parameter>,
    /// Larger numbers go first.
    pub priority: i32,
    /// The pool whose limit it counts against, a key of [`Limits::pools`].
    pub pool: Option<String>,
    pub retry: Retry,
    /// An alert follows after this long without a success.
    pub max_silence: Option<SignedDuration>,
    /// How long less important tasks may be held back for it; zero for never.
    pub hold_back: SignedDuration,
    /// Whether it waits until an operator resumes it.
    pub paused: bool,
    pub origin: Origin,
}

impl Task {
    /// What a successful run writes, through Torg or itself.
    pub fn outputs(&self) -> impl Iterator<Item = &Parameter> {
        self.sets.keys().chain(&self.produces)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    pub running: u32,
    /// `None`: only the limit of all tasks counts.
    pub pools: BTreeMap<String, Option<u32>>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { running: crate::limits::RUNNING_DEFAULT, pools: BTreeMap::new() }
    }
}
