//! What a task is.

use crate::place::Position;
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
    /// A name as it stands.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// The text.
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

/// Where a task stands in the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub file: Arc<str>,
    /// Where in it its name stands.
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

/// What happens when a run fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The pause before the second attempt; every later one is twice as long.
    pub first: SignedDuration,
    /// The longest pause; not shorter than the first.
    pub most: SignedDuration,
    /// How often it is tried in all, at least once.
    pub attempts: u32,
}

/// A task with everything that the files say of it; what they do not say is filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its name.
    pub name: TaskName,
    /// What it is for; empty if nobody says.
    pub about: String,
    /// Who looks after it; empty if nobody says.
    pub owner: String,
    /// By which it is found.
    pub labels: BTreeMap<String, String>,
    /// When it fires. No aggregate in it is empty, or has one member only.
    pub trigger: Trigger,
    /// By which chunks are counted.
    pub calendar: Calendar,
    /// What is run.
    pub run: Run,
    /// What is set when a run succeeds.
    pub sets: BTreeMap<Parameter, SetTo>,
    /// What the run moves by itself; none of them is in `sets`.
    pub produces: BTreeSet<Parameter>,
    /// Tasks with a larger number go first.
    pub priority: i32,
    /// The pool whose limit it counts against, which [`Limits::pools`] has.
    pub pool: Option<String>,
    /// What happens when a run fails.
    pub retry: Retry,
    /// Somebody is told when it has not run successfully for so long.
    pub max_silence: Option<SignedDuration>,
    /// How long less important tasks may be held back for it; zero for never.
    pub hold_back: SignedDuration,
    /// Whether it waits until somebody resumes it.
    pub paused: bool,
    /// Where it stands.
    pub origin: Origin,
}

impl Task {
    /// What a successful run moves: set by Torg, or by the run itself.
    pub fn outputs(&self) -> impl Iterator<Item = &Parameter> {
        self.sets.keys().chain(&self.produces)
    }
}

/// How much runs at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of all tasks.
    pub running: u32,
    /// Of the tasks of a pool; `None`: only the limit of all tasks counts.
    pub pools: BTreeMap<String, Option<u32>>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { running: crate::limits::RUNNING_DEFAULT, pools: BTreeMap::new() }
    }
}
