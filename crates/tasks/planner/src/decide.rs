//! Making decisions, and when to call again.

use std::mem;

use jiff::Timestamp;
use triggers::{Parameter, Value};

use crate::decision::{Act, Decision};
use crate::entry::{Entry, Pending};
use crate::limits::DECISIONS_MAX;
use crate::state::{Phase, TaskState};
use crate::{Planner, Seen, TaskId, TaskName};

impl Planner {
    /// Evaluates every task that an event touched or that is due, then starts what can start. The
    /// caller must answer every decision by [`Planner::commit`] or [`Planner::refused`]. Decisions
    /// that start a run come last, in queue order.
    pub fn decide(&mut self, now: Timestamp) -> Vec<Decision> {
        self.now = now;
        while let Some(task) = self.timers.take_due(now) {
            self.entries[task as usize].timer = None;
            self.mark_dirty(task);
        }
        self.evaluate_dirty(now);
        // Nothing starts while a more important task may not have been evaluated.
        if self.dirty.is_empty() {
            self.start_ready(now);
        }
        self.hand_out()
    }

    /// When to call [`Planner::decide`] next if nothing happens before; a past moment means at
    /// once.
    #[must_use]
    pub fn next_moment(&self) -> Option<Timestamp> {
        if self.dirty.is_empty() { self.timers.first() } else { Some(self.now) }
    }

    /// Every run that occupies a slot: the task, the run's number, what its check saw. After a
    /// restart the caller has to track them.
    pub fn running(&self) -> impl Iterator<Item = (&TaskName, u64, &Seen)> {
        self.entries.iter().filter_map(|entry| match &entry.state.phase {
            Phase::Running { run, seen, .. } => Some((&entry.name, *run, seen)),
            _ => None,
        })
    }

    /// The state of a task after its pending decision.
    #[must_use]
    pub fn state(&self, task: &str) -> Option<&TaskState> {
        self.names.get(task).map(|task| &self.entries[*task as usize].state)
    }

    #[must_use]
    pub fn seen(&self, task: &str) -> Option<Seen> {
        self.names.get(task).map(|task| self.entries[*task as usize].seen(&self.parameters))
    }

    /// The current value of a parameter, as far as events told.
    #[must_use]
    pub fn value(&self, of: &Parameter) -> Option<Value> {
        self.parameters.value_of(of)
    }

    /// Evaluates tasks until none is left, or one call has decided enough.
    pub(crate) fn evaluate_dirty(&mut self, now: Timestamp) {
        while self.touched.len() < DECISIONS_MAX {
            let Some(task) = self.dirty.pop() else { return };
            self.entries[task as usize].dirty = false;
            self.evaluate(task, now);
        }
    }

    /// Opens the decision of a task, or continues it.
    pub(crate) fn touch(&mut self, task: TaskId) -> &mut Pending {
        let entry = &mut self.entries[task as usize];
        let state = &entry.state;
        let touched = &mut self.touched;
        entry.pending.get_or_insert_with(|| {
            touched.push(task);
            Box::new(Pending::new(state.clone()))
        })
    }

    fn hand_out(&mut self) -> Vec<Decision> {
        let mut decisions = Vec::with_capacity(self.touched.len());
        let starts = |entries: &[Entry], task: TaskId| {
            let pending = &entries[task as usize].pending;
            pending.as_ref().is_some_and(|pending| matches!(pending.act, Act::Start(_)))
        };
        let mut touched = mem::take(&mut self.touched);
        touched.retain(|task| !starts(&self.entries, *task));
        touched.append(&mut self.started);
        for task in touched {
            let entry = &mut self.entries[task as usize];
            let Some(pending) = &mut entry.pending else { continue };
            if entry.state == pending.base && !pending.forced {
                entry.pending = None;
                continue;
            }
            entry.state.version += 1;
            pending.sealed = true;
            decisions.push(Decision {
                task: entry.name.clone(),
                after: entry.state.clone(),
                act: mem::replace(&mut pending.act, Act::Nothing),
                alerts: mem::take(&mut pending.alerts),
                why: mem::take(&mut pending.why),
            });
        }
        decisions
    }
}
