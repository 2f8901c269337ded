//! What a change of the files changes.

use crate::fingerprint::{calendar_meaning, run_meaning, trigger_meaning};
use crate::set::TaskSet;
use crate::task::{Task, TaskName};
use serde_json::{Map, Value, json};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    When,
    Calendar,
    Run,
    Sets,
    Produces,
    Priority,
    Pool,
    Retry,
    MaxSilence,
    HoldBack,
    Paused,
    About,
    Owner,
    Labels,
}

impl Aspect {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::When => "when",
            Self::Calendar => "timezone, week_start or day_offset",
            Self::Run => "run",
            Self::Sets => "sets",
            Self::Produces => "produces",
            Self::Priority => "priority",
            Self::Pool => "pool",
            Self::Retry => "retry",
            Self::MaxSilence => "max_silence",
            Self::HoldBack => "hold_back",
            Self::Paused => "paused",
            Self::About => "about",
            Self::Owner => "owner",
            Self::Labels => "labels",
        }
    }

    /// Whether it does not change the [fingerprint](crate::Fingerprint).
    #[must_use]
    pub const fn is_for_people(self) -> bool {
        matches!(self, Self::About | Self::Owner | Self::Labels)
    }
}

/// The difference of two sets of tasks, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub added: Vec<TaskName>,
    /// Tasks that differ, with the aspects that differ.
    pub changed: Vec<(TaskName, Vec<Aspect>)>,
    pub gone: Vec<TaskName>,
    pub limits: bool,
}

impl Difference {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// For programs: `added`, `changed` (aspect names by task), `gone`, `limits`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let names = |names: &[TaskName]| names.iter().map(|name| json!(name.as_str())).collect::<Vec<_>>();
        let changed = self.changed.iter().map(|(name, aspects)| {
            (name.to_string(), aspects.iter().map(|aspect| json!(aspect.name())).collect::<Vec<_>>().into())
        });
        json!({
            "added": names(&self.added),
            "changed": changed.collect::<Map<_, _>>(),
            "gone": names(&self.gone),
            "limits": self.limits,
        })
    }
}

/// One line per task: `+ new`, `~ changed: when, run`, `- gone`.
impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return writeln!(out, "nothing changes");
        }
        for name in &self.added {
            writeln!(out, "+ {name}")?;
        }
        for (name, aspects) in &self.changed {
            let aspects: Vec<&str> = aspects.iter().map(|aspect| aspect.name()).collect();
            writeln!(out, "~ {name}: {}", aspects.join(", "))?;
        }
        for name in &self.gone {
            writeln!(out, "- {name}")?;
        }
        if self.limits {
            writeln!(out, "~ limits")?;
        }
        Ok(())
    }
}

#[must_use]
pub fn difference(old: &TaskSet, new: &TaskSet) -> Difference {
    let mut found = Difference { limits: old.limits() != new.limits(), ..Difference::default() };
    for task in new.tasks() {
        match old.get(task.name.as_str()) {
            None => found.added.push(task.name.clone()),
            Some(before) => {
                let aspects = aspects(before, task);
                if !aspects.is_empty() {
                    found.changed.push((task.name.clone(), aspects));
                }
            }
        }
    }
    let gone = old.tasks().filter(|task| new.get(task.name.as_str()).is_none());
    found.gone.extend(gone.map(|task| task.name.clone()));
    found
}

type Differs = fn(&Task, &Task) -> bool;

const ASPECTS: [(Aspect, Differs); 14] = [
    (Aspect::When, |old, new| old.trigger != new.trigger && trigger_meaning(old) != trigger_meaning(new)),
    (Aspect::Calendar, |old, new| {
        old.calendar != new.calendar && calendar_meaning(old) != calendar_meaning(new)
    }),
    (Aspect::Run, |old, new| old.run != new.run && run_meaning(old) != run_meaning(new)),
    (Aspect::Sets, |old, new| old.sets != new.sets),
    (Aspect::Produces, |old, new| old.produces != new.produces),
    (Aspect::Priority, |old, new| old.priority != new.priority),
    (Aspect::Pool, |old, new| old.pool != new.pool),
    (Aspect::Retry, |old, new| old.retry != new.retry),
    (Aspect::MaxSilence, |old, new| old.max_silence != new.max_silence),
    (Aspect::HoldBack, |old, new| old.hold_back != new.hold_back),
    (Aspect::Paused, |old, new| old.paused != new.paused),
    (Aspect::About, |old, new| old.about != new.about),
    (Aspect::Owner, |old, new| old.owner != new.owner),
    (Aspect::Labels, |old, new| old.labels != new.labels),
];

fn aspects(old: &Task, new: &Task) -> Vec<Aspect> {
    ASPECTS.iter().filter(|(_, differs)| differs(old, new)).map(|(aspect, _)| *aspect).collect()
}
