//! When which task has to be looked at although nothing happens.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::TaskId;

/// Moments, and the tasks to look at then. A task stands at one moment at most: its entry knows which.
#[derive(Debug, Default)]
pub(super) struct Timers(BTreeSet<(Timestamp, TaskId)>);

impl Timers {
    /// Moves a task from one moment to another.
    pub(super) fn shift(&mut self, task: TaskId, from: Option<Timestamp>, to: Option<Timestamp>) {
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

    /// The first moment.
    pub(super) fn first(&self) -> Option<Timestamp> {
        self.0.first().map(|(moment, _)| *moment)
    }

    /// Takes out a task that is due.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<TaskId> {
        self.0.first().filter(|(moment, _)| *moment <= now)?;
        self.0.pop_first().map(|(_, task)| task)
    }
}
