//! Holding back less important tasks while the input of a more important one is being produced.
//!
//! A task is about to become ready if a running task writes a parameter of its trigger, and the
//! trigger would hold if every condition on such parameters did. Meanwhile a slot is reserved for
//! it: tasks of lower priority do not start if that would leave no slot for it, globally or in its
//! pool. The reservation lasts at most the important task's `hold_back` from the start of the
//! producing run.
//!
//! Runs that produce one after the other without ever making the task ready could hold others back
//! forever. So the time counts over all of them: it begins when others are first held back, ends
//! after `hold_back`, and the same time has to pass before others can be held back again, unless
//! the task fires.

use std::cmp::Reverse;

use jiff::{SignedDuration, Timestamp};
use triggers::{Aggregate, Group, LeafVerdict, Parameter, Trigger, check};

use crate::bugs::Bug;
use crate::planner::TaskId;
use crate::state::Phase;
use crate::{Planner, TaskName, after};

/// Less important tasks are held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// For this task.
    pub task: TaskName,
    /// Because this task runs.
    pub running: TaskName,
    /// And writes this input of the important task.
    pub produces: Parameter,
    /// At the latest.
    pub until: Timestamp,
}

impl Planner {
    /// Every task for which others may be held back now.
    pub fn holds(&self) -> impl Iterator<Item = &Hold> {
        self.entries.iter().filter_map(|entry| entry.hold.as_ref())
    }

    /// Updates whether others are held back for the task, and when to check again.
    pub(crate) fn refresh_hold(&mut self, task: TaskId, now: Timestamp) {
        let (hold, evaluate) = self.about_to_be_ready(task, now);
        self.entries[task as usize].hold_recheck = evaluate;
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

    /// Stops holding others back for the task.
    pub(crate) fn drop_hold(&mut self, task: TaskId) {
        let entry = &mut self.entries[task as usize];
        let Some(plan) = &entry.plan else { return };
        if entry.hold.take().is_some() {
            self.queue.release(entry.pool, plan.priority, task);
        }
    }

    /// Whether others are to be held back, and when time alone may change that.
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
            // The last hold may be too recent.
            return (None, began.map(|began| over(began, plan.hold_back)));
        }
        let leaves = check(&plan.trigger, &entry.view(&self.parameters), now, &plan.calendar).leaves;
        let turns = leaves.iter().filter_map(|leaf| leaf.next).min();
        if !self.would_hold(task, &plan.trigger, &leaves) {
            return (None, turns);
        }
        let hold = Hold { task: entry.name.clone(), running, produces, until };
        (Some(hold), Some(turns.map_or(until, |turns| turns.min(until))))
    }

    fn latest_producer(&self, task: TaskId) -> Option<(Timestamp, TaskName, Parameter)> {
        let inputs = self.entries[task as usize].inputs.iter();
        let (since, Reverse(producer), input) = inputs
            .flat_map(|input| self.producers(input.id, task).map(move |producer| (input, producer)))
            .filter_map(|(input, producer)| {
                Some((self.entries[producer as usize].slot?, Reverse(producer), input))
            })
            .max_by_key(|(since, producer, _)| (*since, *producer))?;
        Some((since, self.entries[producer as usize].name.clone(), (*input.parameter).clone()))
    }

    fn producers(&self, parameter: u32, task: TaskId) -> impl Iterator<Item = TaskId> {
        self.parameters.get(parameter).producers.iter().copied().filter(move |producer| *producer != task)
    }

    /// Whether the trigger would hold if every condition on a parameter being produced did.
    fn would_hold(&self, task: TaskId, trigger: &Trigger, leaves: &[LeafVerdict]) -> bool {
        let inputs = &self.entries[task as usize].inputs;
        let produced = |of: &Parameter| {
            let input = inputs.iter().find(|input| *input.parameter == *of);
            input.is_some_and(|input| self.producers(input.id, task).next().is_some())
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
            how.inner().joins(&own)
        };
        let members: Vec<bool> = groups.iter().map(of_group).collect();
        how.joins(&members)
    }
}

/// When others can be held back again after a hold that began then.
fn over(began: Timestamp, hold_back: SignedDuration) -> Timestamp {
    after(after(began, hold_back), hold_back)
}
