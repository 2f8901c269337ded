//! Adding, changing and removing tasks.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::bugs::Bug;
use crate::entry::{Entry, inputs_of};
use crate::parameters::Parameters;
use crate::plan::Plan;
use crate::queue::{Key, NO_POOL, Queue};
use crate::state::TaskState;
use crate::timers::Timers;
use crate::{Planner, Seen, TaskId, TaskName};
use taskfile::Limits;

/// What a planner is built from.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub limits: Limits,
    /// All tasks. Of two with one name the later one counts.
    pub plans: Vec<Plan>,
    /// What is committed. A task without a state is new. A state without a task belongs to a
    /// removed one: its run, if any, still occupies a slot.
    pub states: BTreeMap<TaskName, TaskState>,
    pub values: Seen,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Put(Box<Plan>),
    Gone(TaskName),
}

impl Planner {
    /// The first [`Planner::decide`] evaluates every task.
    #[must_use]
    pub fn new(input: Snapshot, now: Timestamp) -> Self {
        Self::planted(input, now, None)
    }

    /// A planner with a bug; in production always without.
    pub(crate) fn planted(input: Snapshot, now: Timestamp, bug: Option<Bug>) -> Self {
        let mut planner = Self {
            entries: Vec::with_capacity(input.plans.len()),
            names: BTreeMap::new(),
            parameters: Parameters::default(),
            queue: Queue::new(&input.limits),
            timers: Timers::default(),
            dirty: Vec::new(),
            touched: Vec::new(),
            started: Vec::new(),
            now,
            bug,
        };
        for (parameter, value) in &input.values {
            let id = planner.parameters.id(parameter);
            planner.parameters.get_mut(id).value = Some(*value);
        }
        for (name, state) in input.states {
            let task = planner.add(&name, state);
            planner.index(task);
        }
        for plan in input.plans {
            planner.put(plan, now);
        }
        planner
    }

    /// Applies new definitions and limits. Only the named tasks are evaluated again.
    pub fn plans_changed(&mut self, limits: Option<&Limits>, changes: Vec<Change>, now: Timestamp) {
        if let Some(limits) = limits {
            self.queue.set(limits);
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

    fn define(&mut self, task: TaskId, plan: Option<Arc<Plan>>) {
        self.unindex(task);
        let inputs = plan.as_ref().map(|plan| inputs_of(plan, &mut self.parameters)).unwrap_or_default();
        let outputs = plan.iter().flat_map(|plan| plan.outputs()).map(|of| self.parameters.id(of)).collect();
        let pool = self.queue.pool(plan.as_ref().and_then(|plan| plan.pool.as_deref()));
        let entry = &mut self.entries[task as usize];
        entry.inputs = inputs;
        entry.outputs = outputs;
        entry.pool = pool;
        entry.plan = plan;
        self.index(task);
    }

    fn index(&mut self, task: TaskId) {
        let entry = &self.entries[task as usize];
        let holds = entry.plan.as_ref().is_some_and(|plan| plan.hold_back > SignedDuration::ZERO);
        for input in &entry.inputs {
            let known = self.parameters.get_mut(input.id);
            known.readers.push(task);
            if holds {
                known.holders.push(task);
            }
        }
        self.enqueue(task);
        self.sync_slot(task);
        self.mark_dirty(task);
    }

    fn unindex(&mut self, task: TaskId) {
        self.unqueue(task);
        self.drop_hold(task);
        self.vacate(task);
        for input in &self.entries[task as usize].inputs {
            let known = self.parameters.get_mut(input.id);
            known.readers.retain(|reader| *reader != task);
            known.holders.retain(|holder| *holder != task);
        }
    }

    /// The task's key in the queue, if it is queued.
    pub(crate) fn key(&self, task: TaskId) -> Option<Key> {
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

    pub(crate) fn enqueue(&mut self, task: TaskId) {
        if let Some(key) = self.key(task) {
            self.queue.insert(self.entries[task as usize].pool, key);
        }
    }

    /// Takes the task out of the queue, before its state or its definition changes.
    pub(crate) fn unqueue(&mut self, task: TaskId) {
        if let Some(key) = self.key(task) {
            self.queue.remove(self.entries[task as usize].pool, &key);
        }
    }

    /// Occupies or frees a slot, as the state says. Tasks that wait for the run's outputs are
    /// evaluated again.
    pub(crate) fn sync_slot(&mut self, task: TaskId) {
        let entry = &self.entries[task as usize];
        let mut wanted = entry.occupied_since();
        if self.has(Bug::PlaceFreeEarly) {
            wanted = entry.state.running().map(|(_, since)| since);
        }
        if wanted == entry.slot {
            return;
        }
        self.vacate(task);
        let entry = &mut self.entries[task as usize];
        entry.slot = wanted;
        if wanted.is_none() {
            return;
        }
        self.queue.occupy(entry.pool, task);
        for at in 0..self.entries[task as usize].outputs.len() {
            let output = self.entries[task as usize].outputs[at];
            self.parameters.get_mut(output).producers.push(task);
            self.mark_holders_dirty(output);
        }
    }

    fn vacate(&mut self, task: TaskId) {
        let entry = &mut self.entries[task as usize];
        if entry.slot.take().is_none() {
            return;
        }
        self.queue.vacate(entry.pool, task);
        for at in 0..self.entries[task as usize].outputs.len() {
            let output = self.entries[task as usize].outputs[at];
            self.parameters.get_mut(output).producers.retain(|producer| *producer != task);
            self.mark_holders_dirty(output);
        }
    }

    fn mark_holders_dirty(&mut self, parameter: u32) {
        for at in 0..self.parameters.get(parameter).holders.len() {
            let holder = self.parameters.get(parameter).holders[at];
            self.mark_dirty(holder);
        }
    }
}
