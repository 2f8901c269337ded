//! Events. Nothing is decided here: an event marks the tasks to evaluate.

use jiff::Timestamp;
use triggers::{Parameter, Value};

use crate::bugs::Bug;
use crate::decision::{Act, Decision, Outcome};
use crate::parameters::ParameterId;
use crate::planner::TaskId;
use crate::state::TaskState;
use crate::{Planner, TaskName};

impl Planner {
    /// Sets or removes a value. Marks only the tasks whose trigger reads it. Idempotent.
    pub fn value_changed(&mut self, parameter: &Parameter, value: Option<Value>) {
        let id = self.parameters.id(parameter);
        self.set_value(id, value);
    }

    pub fn values_changed<'a>(&mut self, changes: impl IntoIterator<Item = (&'a Parameter, Option<Value>)>) {
        for (parameter, value) in changes {
            self.value_changed(parameter, value);
        }
    }

    fn set_value(&mut self, id: ParameterId, value: Option<Value>) {
        let known = self.parameters.get_mut(id);
        if known.value == value {
            return;
        }
        known.value = value;
        for at in 0..self.parameters.get(id).readers.len() {
            let reader = self.parameters.get(id).readers[at];
            self.mark_dirty(reader);
        }
    }

    /// Reports the end of a run. Only the current run counts, so a duplicate report is harmless.
    /// Returns whether it counted.
    pub fn run_ended(&mut self, task: &str, run: u64, outcome: Outcome, at: Timestamp) -> bool {
        let Some(task) = self.names.get(task).copied() else { return false };
        let any = self.has(Bug::AnyEnd);
        let entry = &mut self.entries[task as usize];
        // The decision that started it may be unconfirmed, or its end may await another attempt.
        let running = match entry.state.running() {
            Some((number, _)) if any => Some(number),
            Some((number, _)) => Some(number).filter(|number| *number == run),
            None => None,
        };
        let Some(run) = running else { return false };
        entry.ended = Some((run, outcome, at));
        self.mark_dirty(task);
        true
    }

    /// Reports a state that someone else committed: a pause, a requested run, a changed memory. A
    /// state that is not newer than the committed one is ignored.
    pub fn state_changed(&mut self, task: &TaskName, state: TaskState) {
        let Some(task) = self.names.get(task).copied() else { return };
        let entry = &self.entries[task as usize];
        let committed = entry.pending.as_ref().map_or(entry.state.version, |pending| pending.base.version);
        if state.version <= committed {
            return;
        }
        // A pending decision was made on an older state: its commit is going to fail.
        self.accept(task, state);
    }

    /// Confirms a decision. The values that an ending run set become current.
    pub fn commit(&mut self, decision: &Decision) {
        if let Act::End(end) = &decision.act {
            for (parameter, value) in &end.writes {
                self.value_changed(parameter, Some(*value));
            }
        }
        let Some(task) = self.pending_task(decision) else { return };
        let entry = &mut self.entries[task as usize];
        entry.pending = None;
        entry.fresh = false;
        self.sync_slot(task);
        if matches!(decision.act, Act::End(_)) && self.has(Bug::NotLookedAtAfterRun) {
            return;
        }
        self.mark_dirty(task);
    }

    pub fn commit_all<'a>(&mut self, decisions: impl IntoIterator<Item = &'a Decision>) {
        for decision in decisions {
            self.commit(decision);
        }
    }

    /// Reports that a decision was not committed, because of a conflict or a store error. The task
    /// is evaluated again on its committed state; after a conflict call [`Planner::state_changed`]
    /// with the conflicting state.
    pub fn refused(&mut self, decision: &Decision) {
        if self.has(Bug::RefusedKept) {
            return self.commit(decision);
        }
        let Some(task) = self.pending_task(decision) else { return };
        if let Some(pending) = self.entries[task as usize].pending.take() {
            let fresh = self.entries[task as usize].fresh;
            self.accept(task, pending.base);
            self.entries[task as usize].fresh = fresh;
        }
    }

    fn pending_task(&self, decision: &Decision) -> Option<TaskId> {
        let task = self.names.get(&decision.task).copied()?;
        let entry = &self.entries[task as usize];
        (entry.is_sealed() && entry.state.version == decision.after.version).then_some(task)
    }

    /// Takes a state as committed.
    fn accept(&mut self, task: TaskId, state: TaskState) {
        self.unqueue(task);
        let entry = &mut self.entries[task as usize];
        entry.pending = None;
        entry.state = state;
        entry.fresh = false;
        self.enqueue(task);
        self.sync_slot(task);
        self.mark_dirty(task);
    }

    pub(crate) fn mark_dirty(&mut self, task: TaskId) {
        let entry = &mut self.entries[task as usize];
        if !entry.dirty {
            entry.dirty = true;
            self.dirty.push(task);
        }
    }
}
