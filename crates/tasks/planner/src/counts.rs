//! How many tasks are in which state.

use crate::Planner;
use crate::TaskName;
use crate::state::{Phase, TaskState};

/// How many tasks are in which state. A task may count several times: failing, and waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub defined: usize,
    /// Waiting for a slot.
    pub queued: usize,
    /// Also without a definition.
    pub running: usize,
    /// Waiting for a retry.
    pub waiting: usize,
    /// Not firing before one of their parameters changes.
    pub resting: usize,
    /// By an operator or by their definition.
    pub paused: usize,
    /// With too many failed attempts in a row.
    pub failing: usize,
    /// Without a success for too long.
    pub silent: usize,
    /// Waiting for a value that moved back.
    pub regressed: usize,
}

/// Tasks with problems, by name, with their states. A task may be in several lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unhealthy {
    pub failing: Vec<(TaskName, TaskState)>,
    pub silent: Vec<(TaskName, TaskState)>,
    pub regressed: Vec<(TaskName, TaskState)>,
}

impl Unhealthy {
    /// Adds a task to the lists that it belongs to, as long as they are shorter than `limit`.
    pub fn note(&mut self, name: &TaskName, state: &TaskState, is_failing: bool, limit: usize) {
        let kinds = [
            (&mut self.failing, is_failing),
            (&mut self.silent, state.silent_since.is_some()),
            (&mut self.regressed, !state.regressed.is_empty()),
        ];
        for (tasks, _) in kinds.into_iter().filter(|(tasks, is_so)| *is_so && tasks.len() < limit) {
            tasks.push((name.clone(), state.clone()));
        }
    }
}

impl Planner {
    /// Visits all tasks.
    #[must_use]
    pub fn count(&self) -> Count {
        let mut count = Count::default();
        for entry in &self.entries {
            let state = &entry.state;
            count.running += usize::from(matches!(state.phase, Phase::Running { .. }));
            let Some(plan) = &entry.plan else { continue };
            count.defined += 1;
            count.queued += usize::from(matches!(state.phase, Phase::Queued { .. }));
            count.waiting += usize::from(matches!(state.phase, Phase::Waiting { .. }));
            count.resting += usize::from(matches!(state.phase, Phase::Resting { .. }));
            count.paused += usize::from(entry.is_paused());
            count.failing += usize::from(state.attempts >= plan.retry.failing_after.max(1));
            count.silent += usize::from(state.silent_since.is_some());
            count.regressed += usize::from(!state.regressed.is_empty());
        }
        count
    }

    /// At most `limit` tasks of a kind. Visits all tasks.
    #[must_use]
    pub fn unhealthy(&self, limit: usize) -> Unhealthy {
        let mut unhealthy = Unhealthy::default();
        for (name, id) in &self.names {
            let entry = self.entries.get(*id as usize);
            let Some((entry, plan)) = entry.and_then(|entry| Some((entry, entry.plan.as_ref()?))) else {
                continue;
            };
            let is_failing = entry.state.attempts >= plan.retry.failing_after.max(1);
            unhealthy.note(name, &entry.state, is_failing, limit);
        }
        unhealthy
    }
}
