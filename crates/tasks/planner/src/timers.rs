//! When to evaluate which task if nothing happens.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::TaskId;

/// Moments and the tasks to evaluate then. A task has at most one: its entry knows which.
#[derive(Debug, Default)]
pub(crate) struct Timers(BTreeSet<(Timestamp, TaskId)>);

impl Timers {
    pub(crate) fn shift(&mut self, task: TaskId, from: Option<Timestamp>, to: Option<Timestamp>) {
        if from == to {
            return;
        }
        if let Some(from) = from {
            self.0.remove(&(from, task));
        }
        if let Some(to) = to {
            self.0.insert((to, task));
        }
    }

    pub(crate) fn first(&self) -> Option<Timestamp> {
        self.0.first().map(|(moment, _)| *moment)
    }

    pub(crate) fn take_due(&mut self, now: Timestamp) -> Option<TaskId> {
        self.0.first().filter(|(moment, _)| *moment <= now)?;
        self.0.pop_first().map(|(_, task)| task)
    }
}
