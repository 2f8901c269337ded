//! How tasks come onto the board, change, and leave it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::bugs::Bug;
use super::entry::{Entry, slots_of};
use super::known::Catalogue;
use super::plan::{Plan, Settings};
use super::queue::{Key, NO_POOL, Queue};
use super::state::TaskState;
use super::timers::Timers;
use super::{Board, Seen, TaskId, TaskName};

/// What a board is built from.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Limits.
    pub settings: Settings,
    /// All tasks. Of two of one name the later one counts.
    pub plans: Vec<Plan>,
    /// What is committed of them. A task without a state is new. A state without a task is that of one that is gone: its run, if
    /// it has one, still takes a place.
    pub states: BTreeMap<TaskName, TaskState>,
    /// All current values.
    pub values: Seen,
}

/// A change of the definition of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is new, or another one.
    Put(Box<Plan>),
    /// It is gone.
    Gone(TaskName),
}

impl Board {
    /// A board. Every task is looked at by the first [`Board::decide`].
    #[must_use]
    pub fn new(input: Input, now: Timestamp) -> Self {
        Self::planted(input, now, None)
    }

    /// A board with a bug; outside of tests always without.
    pub(super) fn planted(input: Input, now: Timestamp, bug: Option<Bug>) -> Self {
        let mut board = Self {
            entries: Vec::with_capacity(input.plans.len()),
            names: BTreeMap::new(),
            catalogue: Catalogue::default(),
            queue: Queue::new(&input.settings),
            timers: Timers::default(),
            dirty: Vec::new(),
            touched: Vec::new(),
            started: Vec::new(),
            now,
            bug,
        };
        for (parameter, value) in &input.values {
            let id = board.catalogue.id(parameter);
            board.catalogue.get_mut(id).value = Some(*value);
        }
        for (name, state) in input.states {
            let task = board.add(&name, state);
            board.enlist(task);
        }
        for plan in input.plans {
            board.put(plan, now);
        }
        board
    }

    /// Other definitions, other limits. Only the tasks that are named are looked at again.
    pub fn plans_changed(&mut self, settings: Option<&Settings>, changes: Vec<Change>, now: Timestamp) {
        if let Some(settings) = settings {
            self.queue.set(settings);
        }
        for change in changes {
            match change {
                Change::Put(plan) => self.put(*plan, now),
                Change::Gone(name) => {
                    if let Some(task) = self.names.get(&name).copied() {
                        self.define(task, None);
                    }
                }
            }
        }
    }

    fn put(&mut self, plan: Plan, now: Timestamp) {
        let known = self.names.get(&plan.name).copied();
        let task = known.unwrap_or_else(|| self.add(&plan.name, TaskState::new(now)));
        if known.is_none() {
            self.entries[task as usize].fresh = true;
        }
        self.define(task, Some(Arc::new(plan)));
    }

    fn add(&mut self, name: &TaskName, state: TaskState) -> TaskId {
        let task = self.entries.len() as TaskId;
        self.entries.push(Entry::new(Arc::clone(name), state, NO_POOL));
        self.names.insert(Arc::clone(name), task);
        task
    }

    /// Gives a task another definition, or none.
    fn define(&mut self, task: TaskId, plan: Option<Arc<Plan>>) {
        self.unlist(task);
        let slots = plan.as_ref().map(|plan| slots_of(plan, &mut self.catalogue)).unwrap_or_default();
        let outputs = plan.iter().flat_map(|plan| plan.outputs()).map(|of| self.catalogue.id(of)).collect();
        let pool = self.queue.pool(plan.as_ref().and_then(|plan| plan.pool.as_deref()));
        let entry = &mut self.entries[task as usize];
        entry.slots = slots;
        entry.outputs = outputs;
        entry.pool = pool;
        entry.plan = plan;
        self.enlist(task);
    }

    fn enlist(&mut self, task: TaskId) {
        let entry = &self.entries[task as usize];
        let holds = entry.plan.as_ref().is_some_and(|plan| plan.hold_back > SignedDuration::ZERO);
        for slot in &entry.slots {
            let known = self.catalogue.get_mut(slot.id);
            known.readers.push(task);
            if holds {
                known.holders.push(task);
            }
        }
        self.enqueue(task);
        self.sync_place(task);
        self.mark(task);
    }

    fn unlist(&mut self, task: TaskId) {
        self.unqueue(task);
        self.drop_hold(task);
        self.leave_place(task);
        for slot in &self.entries[task as usize].slots {
            let known = self.catalogue.get_mut(slot.id);
            known.readers.retain(|reader| *reader != task);
            known.holders.retain(|holder| *holder != task);
        }
    }

    fn key(&self, task: TaskId) -> Option<Key> {
        let entry = &self.entries[task as usize];
        let since = entry.queued_since()?;
        let mut key = Key {
            priority: Reverse(entry.plan.as_ref()?.priority),
            since,
            name: Arc::clone(&entry.name),
            task,
        };
        if self.has(Bug::NewestFirst) {
            key.since = Timestamp::from_second(-since.as_second()).unwrap_or(since);
        }
        if self.has(Bug::NoPriority) {
            key.priority = Reverse(0);
        }
        Some(key)
    }

    /// Puts a task into the queue if its state says that it stands there.
    pub(super) fn enqueue(&mut self, task: TaskId) {
        if let Some(key) = self.key(task) {
            self.queue.insert(self.entries[task as usize].pool, key);
        }
    }

    /// Takes a task out of the queue, before its state or its definition changes.
    pub(super) fn unqueue(&mut self, task: TaskId) {
        if let Some(key) = self.key(task) {
            self.queue.remove(self.entries[task as usize].pool, &key);
        }
    }

    /// How important the task is in the queue's order.
    pub(super) fn key_of(&self, task: TaskId) -> Option<Key> {
        self.key(task)
    }

    /// Gives a run its place, or takes it away, as the state says. Tasks that wait for what it moves are looked at again.
    pub(super) fn sync_place(&mut self, task: TaskId) {
        let entry = &self.entries[task as usize];
        let mut wanted = entry.takes_place();
        if self.has(Bug::PlaceFreeEarly) {
            wanted = entry.state.running().map(|(_, since)| since);
        }
        if wanted == entry.place {
            return;
        }
        self.leave_place(task);
        let entry = &mut self.entries[task as usize];
        entry.place = wanted;
        if wanted.is_none() {
            return;
        }
        self.queue.take_place(entry.pool, task);
        for at in 0..self.entries[task as usize].outputs.len() {
            let output = self.entries[task as usize].outputs[at];
            self.catalogue.get_mut(output).producers.push(task);
            self.mark_holders(output);
        }
    }

    fn leave_place(&mut self, task: TaskId) {
        let entry = &mut self.entries[task as usize];
        if entry.place.take().is_none() {
            return;
        }
        self.queue.leave_place(entry.pool, task);
        for at in 0..self.entries[task as usize].outputs.len() {
            let output = self.entries[task as usize].outputs[at];
            self.catalogue.get_mut(output).producers.retain(|producer| *producer != task);
            self.mark_holders(output);
        }
    }

    fn mark_holders(&mut self, parameter: u32) {
        for at in 0..self.catalogue.get(parameter).holders.len() {
            let holder = self.catalogue.get(parameter).holders[at];
            self.mark(holder);
        }
    }
}
