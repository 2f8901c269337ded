//! What a change of the files changes.

use crate::fingerprint::{calendar_meaning, run_meaning, trigger_meaning};
use crate::set::TaskSet;
use crate::task::{Task, TaskName};
use serde_json::{Map, Value, json};
use std::fmt;

/// A part of a task that may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// When it fires.
    When,
    /// By which calendar it counts chunks.
    Calendar,
    /// What it runs.
    Run,
    /// What a success sets.
    Sets,
    /// What its runs move by themselves.
    Produces,
    /// How important it is.
    Priority,
    /// Which pool it counts against.
    Pool,
    /// What happens when a run fails.
    Retry,
    /// After how long somebody is told.
    MaxSilence,
    /// How long others are held back for it.
    HoldBack,
    /// Whether it waits until somebody resumes it.
    Paused,
    /// What it is for.
    About,
    /// Who looks after it.
    Owner,
    /// By which it is found.
    Labels,
}

impl Aspect {
    /// As the files call it.
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

    /// Whether it is only for people: the [fingerprint](crate::Fingerprint) does not change with it.
    #[must_use]
    pub const fn is_for_people(self) -> bool {
        matches!(self, Self::About | Self::Owner | Self::Labels)
    }
}

/// What differs between two sets of tasks, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Tasks that only the new set has.
    pub added: Vec<TaskName>,
    /// Tasks that are not the same in both, with what differs.
    pub changed: Vec<(TaskName, Vec<Aspect>)>,
    /// Tasks that only the old set has.
    pub gone: Vec<TaskName>,
    /// Whether limits differ.
    pub limits: bool,
}

impl Difference {
    /// Whether both sets say the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// For programs: `added`, `changed` (the names of what differs, by task), `gone`, `limits`.
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

/// One line for each task: `+ new`, `~ changed: when, run`, `- gone`.
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

/// What differs between what holds and what is to hold.
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

fn aspects(old: &Task, new: &Task) -> Vec<Aspect> {
    let differs = |aspect: Aspect| match aspect {
        Aspect::When => old.trigger != new.trigger && trigger_meaning(old) != trigger_meaning(new),
        Aspect::Calendar => old.calendar != new.calendar && calendar_meaning(old) != calendar_meaning(new),
        Aspect::Run => old.run != new.run && run_meaning(old) != run_meaning(new),
        Aspect::Sets => old.sets != new.sets,
        Aspect::Produces => old.produces != new.produces,
        Aspect::Priority => old.priority != new.priority,
        Aspect::Pool => old.pool != new.pool,
        Aspect::Retry => old.retry != new.retry,
        Aspect::MaxSilence => old.max_silence != new.max_silence,
        Aspect::HoldBack => old.hold_back != new.hold_back,
        Aspect::Paused => old.paused != new.paused,
        Aspect::About => old.about != new.about,
        Aspect::Owner => old.owner != new.owner,
        Aspect::Labels => old.labels != new.labels,
    };
    let all = [
        Aspect::When,
        Aspect::Calendar,
        Aspect::Run,
        Aspect::Sets,
        Aspect::Produces,
        Aspect::Priority,
        Aspect::Pool,
        Aspect::Retry,
        Aspect::MaxSilence,
        Aspect::HoldBack,
        Aspect::Paused,
        Aspect::About,
        Aspect::Owner,
        Aspect::Labels,
    ];
    all.into_iter().filter(|aspect| differs(*aspect)).collect()
}
