//! What happens. Nothing is decided here: an event only says which tasks to look at.

use jiff::Timestamp;
use triggers::{Parameter, Value};

use super::bugs::Bug;
use super::decision::{Act, Decision, Outcome};
use super::known::ParameterId;
use super::state::TaskState;
use super::{Board, TaskId, TaskName};

impl Board {
    /// A parameter has another value, or none any more. Only the tasks whose trigger looks at it are looked at. A value that is
    /// told twice does nothing.
    pub fn value_changed(&mut self, parameter: &Parameter, value: Option<Value>) {
        let id = self.catalogue.id(parameter);
        self.set_value(id, value);
    }

    /// Many values have changed at once.
    pub fn values_changed<'a>(&mut self, changes: impl IntoIterator<Item = (&'a Parameter, Option<Value>)>) {
        for (parameter, value) in changes {
            self.value_changed(parameter, value);
        }
    }

    fn set_value(&mut self, id: ParameterId, value: Option<Value>) {
        let known = self.catalogue.get_mut(id);
        if known.value == value {
            return;
        }
        known.value = value;
        for at in 0..self.catalogue.get(id).readers.len() {
            let reader = self.catalogue.get(id).readers[at];
            self.mark(reader);
        }
    }

    /// A run has ended. What is told of a run that is not the one under way does nothing, so it may be told twice. `false`: it did
    /// nothing.
    pub fn run_ended(&mut self, task: &str, run: u64, outcome: Outcome, at: Timestamp) -> bool {
        let Some(task) = self.names.get(task).copied() else { return false };
        let any = self.has(Bug::AnyEnd);
        let entry = &mut self.entries[task as usize];
        // The decision that started it may be waiting for its confirmation, or that of its end for another attempt.
        let under_way = match entry.state.running() {
            Some((number, _)) if any => Some(number),
            Some((number, _)) => Some(number).filter(|number| *number == run),
            None => None,
        };
        let Some(run) = under_way else { return false };
        entry.ended = Some((run, outcome, at));
        self.mark(task);
        true
    }

    /// Somebody else has committed a state of a task: paused it, asked for a run, set what is remembered. A state that is not newer
    /// than what the board knows to be committed does nothing.
    pub fn state_changed(&mut self, task: &TaskName, state: TaskState) {
        let Some(task) = self.names.get(task).copied() else { return };
        let entry = &self.entries[task as usize];
        let committed = entry.pending.as_ref().map_or(entry.state.version, |pending| pending.base.version);
        if state.version <= committed {
            return;
        }
        // A decision that is under way was made on an older state: it is going to be refused.
        self.adopt(task, state);
    }

    /// A decision is committed. If a run ends with it, the values that it has set are taken for current.
    pub fn commit(&mut self, decision: &Decision) {
        if let Act::End(end) = &decision.act {
            for (parameter, value) in &end.writes {
                self.value_changed(parameter, Some(*value));
            }
        }
        let Some(task) = self.is_under_way(decision) else { return };
        let entry = &mut self.entries[task as usize];
        entry.pending = None;
        entry.fresh = false;
        self.sync_place(task);
        if matches!(decision.act, Act::End(_)) && self.has(Bug::NotLookedAtAfterRun) {
            return;
        }
        self.mark(task);
    }

    /// Many decisions are committed.
    pub fn commit_all<'a>(&mut self, decisions: impl IntoIterator<Item = &'a Decision>) {
        for decision in decisions {
            self.commit(decision);
        }
    }

    /// A decision was not committed, be it for a conflict or for a store that is away. The task is looked at again, on the state
    /// that is known to be committed: in a conflict [`Board::state_changed`] should be told the one that stood in the way.
    pub fn refused(&mut self, decision: &Decision) {
        if self.has(Bug::RefusedKept) {
            return self.commit(decision);
        }
        let Some(task) = self.is_under_way(decision) else { return };
        if let Some(pending) = self.entries[task as usize].pending.take() {
            let fresh = self.entries[task as usize].fresh;
            self.adopt(task, pending.base);
            self.entries[task as usize].fresh = fresh;
        }
    }

    fn is_under_way(&self, decision: &Decision) -> Option<TaskId> {
        let task = self.names.get(&decision.task).copied()?;
        let entry = &self.entries[task as usize];
        (entry.is_sealed() && entry.state.version == decision.after.version).then_some(task)
    }

    /// Takes a state for committed.
    fn adopt(&mut self, task: TaskId, state: TaskState) {
        self.unqueue(task);
        let entry = &mut self.entries[task as usize];
        entry.pending = None;
        entry.state = state;
        entry.fresh = false;
        self.enqueue(task);
        self.sync_place(task);
        self.mark(task);
    }

    /// A task is to be looked at.
    pub(super) fn mark(&mut self, task: TaskId) {
        let entry = &mut self.entries[task as usize];
        if !entry.dirty {
            entry.dirty = true;
            self.dirty.push(task);
        }
    }
}
