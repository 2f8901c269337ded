//! Holding back for a more important task whose input is being produced.
//!
//! A task is about to become ready if a run is under way that moves a parameter of its trigger, and the trigger would hold if every
//! condition on such parameters did. As long as that is so a place is kept for it: tasks of a lower priority are not started if
//! that would leave no place for it, among all places or among those of its pool. That lasts at most the `hold_back` of the
//! important task from the start of the producing run on.
//!
//! Runs that produce one after the other, without ever making the task ready, could hold others back for ever. So the time counts
//! over all of them: it begins with the first moment at which others are held back, ends after `hold_back`, and as much time has to
//! pass before others can be held back again, unless the task fires.

use std::cmp::Reverse;

use jiff::{SignedDuration, Timestamp};
use triggers::{Aggregate, Group, LeafVerdict, Parameter, Trigger, check};

use super::bugs::Bug;
use super::state::Phase;
use super::{Board, TaskId, TaskName, after};

/// Less important tasks are held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// For this task.
    pub task: TaskName,
    /// Because this one runs.
    pub running: TaskName,
    /// And produces this, which the trigger of the important task looks at.
    pub produces: Parameter,
    /// Until then at the latest.
    pub until: Timestamp,
}

impl Board {
    /// Every task for which others may be held back now.
    pub fn holds(&self) -> impl Iterator<Item = &Hold> {
        self.entries.iter().filter_map(|entry| entry.hold.as_ref())
    }

    /// Looks whether others are to be held back for the task, and notes when to look again if nothing happens.
    pub(super) fn refresh_hold(&mut self, task: TaskId, now: Timestamp) {
        let (hold, look) = self.about_to_be_ready(task, now);
        self.entries[task as usize].hold_look = look;
        let Some(hold) = hold else { return self.drop_hold(task) };
        let entry = &mut self.entries[task as usize];
        let Some(plan) = &entry.plan else { return };
        if entry.hold_began.is_none_or(|began| now >= over(began, plan.hold_back)) {
            entry.hold_began = Some(now);
        }
        if entry.hold.replace(hold).is_none() {
            self.queue.hold(entry.pool, plan.priority, task);
        }
    }

    /// Nobody is held back for the task any more.
    pub(super) fn drop_hold(&mut self, task: TaskId) {
        let entry = &mut self.entries[task as usize];
        let Some(plan) = &entry.plan else { return };
        if entry.hold.take().is_some() {
            self.queue.release(entry.pool, plan.priority, task);
        }
    }

    /// Whether others are to be held back, and when that may change by the time alone.
    fn about_to_be_ready(&self, task: TaskId, now: Timestamp) -> (Option<Hold>, Option<Timestamp>) {
        let entry = &self.entries[task as usize];
        let Some(plan) = entry.plan.as_ref().filter(|plan| plan.hold_back > SignedDuration::ZERO) else {
            return (None, None);
        };
        let idle = matches!(entry.state.phase, Phase::Idle | Phase::Resting { .. });
        if !idle || entry.is_paused() || self.has(Bug::NoHold) {
            return (None, None);
        }
        let Some((since, running, produces)) = self.latest_producer(task) else { return (None, None) };
        let began = entry.hold_began.filter(|began| now < over(*began, plan.hold_back));
        let mut until = after(since, plan.hold_back).min(after(began.unwrap_or(now), plan.hold_back));
        if self.has(Bug::EndlessHold) {
            until = after(now, SignedDuration::from_hours(1000));
        }
        if until <= now {
            // It may be too soon after the last time.
            return (None, began.map(|began| over(began, plan.hold_back)));
        }
        let leaves = check(&plan.trigger, &entry.view(&self.catalogue), now, &plan.calendar).leaves;
        let turns = leaves.iter().filter_map(|leaf| leaf.next).min();
        if !self.would_hold(task, &plan.trigger, &leaves) {
            return (None, turns);
        }
        let hold = Hold { task: entry.name.clone(), running, produces, until };
        (Some(hold), Some(turns.map_or(until, |turns| turns.min(until))))
    }

    /// Of the runs that move a parameter of the trigger the one that began last, as it may last longest.
    fn latest_producer(&self, task: TaskId) -> Option<(Timestamp, TaskName, Parameter)> {
        let slots = self.entries[task as usize].slots.iter();
        let (since, Reverse(producer), slot) = slots
            .flat_map(|slot| self.producers(slot.id, task).map(move |producer| (slot, producer)))
            .filter_map(|(slot, producer)| {
                Some((self.entries[producer as usize].place?, Reverse(producer), slot))
            })
            .max_by_key(|(since, producer, _)| (*since, *producer))?;
        Some((since, self.entries[producer as usize].name.clone(), (*slot.parameter).clone()))
    }

    /// Tasks other than this one with a run under way that moves the parameter.
    fn producers(&self, parameter: u32, task: TaskId) -> impl Iterator<Item = TaskId> {
        self.catalogue.get(parameter).producers.iter().copied().filter(move |producer| *producer != task)
    }

    /// Whether the trigger would hold if every condition on a parameter that is being produced did.
    fn would_hold(&self, task: TaskId, trigger: &Trigger, leaves: &[LeafVerdict]) -> bool {
        let slots = &self.entries[task as usize].slots;
        let produced = |of: &Parameter| {
            let slot = slots.iter().find(|slot| *slot.parameter == *of);
            slot.is_some_and(|slot| self.producers(slot.id, task).next().is_some())
        };
        let may_hold = |verdict: &LeafVerdict| {
            verdict.holds || produced(&verdict.leaf.of) || verdict.leaf.reference().is_some_and(produced)
        };
        let mut leaves = leaves.iter().map(may_hold);
        let (how, groups) = match trigger {
            Trigger::Leaf(_) => return leaves.next().unwrap_or(false),
            Trigger::All(groups) => (Aggregate::All, groups),
            Trigger::Any(groups) => (Aggregate::Any, groups),
        };
        let of_group = |group: &Group| {
            let own: Vec<bool> = leaves.by_ref().take(group.leaves().len()).collect();
            joined(how.inner(), &own)
        };
        let members: Vec<bool> = groups.iter().map(of_group).collect();
        joined(how, &members)
    }
}

/// When others can be held back again after they were first held back at a moment.
fn over(began: Timestamp, hold_back: SignedDuration) -> Timestamp {
    after(after(began, hold_back), hold_back)
}

fn joined(how: Aggregate, members: &[bool]) -> bool {
    match how {
        Aggregate::All => !members.is_empty() && members.iter().all(|holds| *holds),
        Aggregate::Any => members.iter().any(|holds| *holds),
    }
}
