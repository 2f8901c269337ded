//! What is handed out, and when to ask again.

use std::mem;

use jiff::Timestamp;
use triggers::{Parameter, Value};

use super::decision::{Act, Decision};
use super::entry::{Entry, Pending};
use super::state::{Phase, TaskState};
use super::{Board, Seen, TaskId, TaskName};
use crate::limits::DECISIONS_MAX;

impl Board {
    /// Looks at every task that an event has touched and at those that are due, then starts what can be started. Every decision has
    /// to be answered by [`Board::commit`] or [`Board::refused`]. Those that start a run stand last, in the order of the queue.
    pub fn decide(&mut self, now: Timestamp) -> Vec<Decision> {
        self.now = now;
        while let Some(task) = self.timers.take_due(now) {
            self.entries[task as usize].timer = None;
            self.mark(task);
        }
        self.look_at_dirty(now);
        // Nobody starts as long as somebody more important may not have been looked at.
        if self.dirty.is_empty() {
            self.start_ready(now);
        }
        self.hand_out()
    }

    /// When [`Board::decide`] has to be called next if nothing happens before; a moment that has passed means: at once.
    #[must_use]
    pub fn next_moment(&self) -> Option<Timestamp> {
        if self.dirty.is_empty() { self.timers.first() } else { Some(self.now) }
    }

    /// Every run that takes a place: the task, its number, what its check saw. After a restart somebody has to look after them.
    pub fn running(&self) -> impl Iterator<Item = (&TaskName, u64, &Seen)> {
        self.entries.iter().filter_map(|entry| match &entry.state.phase {
            Phase::Running { run, seen, .. } => Some((&entry.name, *run, seen)),
            _ => None,
        })
    }

    /// The state of a task, as it will be when the decision that is under way is committed.
    #[must_use]
    pub fn state(&self, task: &str) -> Option<&TaskState> {
        self.names.get(task).map(|task| &self.entries[*task as usize].state)
    }

    /// What a check of the task would see now.
    #[must_use]
    pub fn seen(&self, task: &str) -> Option<Seen> {
        self.names.get(task).map(|task| self.entries[*task as usize].seen(&self.catalogue))
    }

    /// The current value of a parameter, as far as the board was told.
    #[must_use]
    pub fn value(&self, of: &Parameter) -> Option<Value> {
        self.catalogue.value_of(of)
    }

    /// Looks at tasks until none is left, or as much is decided as is handed out at once.
    pub(super) fn look_at_dirty(&mut self, now: Timestamp) {
        while self.touched.len() < DECISIONS_MAX {
            let Some(task) = self.dirty.pop() else { return };
            self.entries[task as usize].dirty = false;
            self.look(task, now);
        }
    }

    /// Opens the decision of a task, or goes on with it.
    pub(super) fn touch(&mut self, task: TaskId) -> &mut Pending {
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
