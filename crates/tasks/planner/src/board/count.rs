//! How many tasks stand how.

use super::Board;
use super::TaskName;
use super::state::{Phase, TaskState};

/// How many tasks stand how. A task may count several times: failing, and waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Tasks that have a definition.
    pub defined: usize,
    /// Those that wait for their turn.
    pub queued: usize,
    /// Those that run; also if their definition is gone.
    pub running: usize,
    /// Those that are tried again after a pause.
    pub waiting: usize,
    /// Those that do not fire before one of their parameters changes.
    pub resting: usize,
    /// Those that a person or their definition has paused.
    pub paused: usize,
    /// Those of which too many attempts in a row have failed.
    pub failing: usize,
    /// Those of which no run has succeeded for too long.
    pub silent: usize,
    /// Those that wait for a value that was moved back.
    pub regressed: usize,
}

/// Tasks with which something is wrong, by name, and how they stand. One may be in several lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Troubled {
    /// Those of which too many attempts in a row have failed.
    pub failing: Vec<(TaskName, TaskState)>,
    /// Those that have not succeeded for longer than they may.
    pub silent: Vec<(TaskName, TaskState)>,
    /// Those whose parameters were moved back.
    pub regressed: Vec<(TaskName, TaskState)>,
}

impl Troubled {
    /// Takes a task in, as far as something is wrong with it and there are not so many of the kind already.
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

impl Board {
    /// How many tasks stand how. It looks at all of them.
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

    /// Tasks with which something is wrong, at most so many of a kind. It looks at all of them.
    #[must_use]
    pub fn troubled(&self, limit: usize) -> Troubled {
        let mut troubled = Troubled::default();
        for (name, id) in &self.names {
            let entry = self.entries.get(*id as usize);
            let Some((entry, plan)) = entry.and_then(|entry| Some((entry, entry.plan.as_ref()?))) else {
                continue;
            };
            let is_failing = entry.state.attempts >= plan.retry.failing_after.max(1);
            troubled.note(name, &entry.state, is_failing, limit);
        }
        troubled
    }
}
