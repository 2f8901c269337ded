//! Slots and the queue: which tasks have to wait, and which must not.

use jiff::{SignedDuration, Timestamp};
use triggers::{Leaf, Parameter};

use super::naive;
use super::world::World;
use crate::{Act, Decision, Phase, Plan, TaskName, TaskState, after};

impl World {
    pub(super) fn pool_of(&self, task: &str) -> Option<&str> {
        self.plans.get(task).and_then(|plan| plan.pool.as_deref())
    }

    /// The future state of a task, and since when it occupies a slot: until its start or end is
    /// committed it does.
    fn expected(&self, task: &TaskName) -> Option<(&TaskState, Option<Timestamp>)> {
        let committed = self.states.get(task);
        // A decision on an outdated state is going to be refused.
        let version = committed.map_or(0, |committed| committed.version) + 1;
        let coming = |decision: &&Decision| decision.task == *task && decision.after.version == version;
        let coming = self.in_flight.iter().find(coming);
        let state = coming.map(|decision| &decision.after).or(committed)?;
        let place = state.running().or_else(|| committed.and_then(TaskState::running));
        Some((state, place.map(|(_, since)| since)))
    }

    /// Queued tasks in order.
    fn queued(&self) -> Vec<(&Plan, Timestamp)> {
        let since = |plan: &Plan| match self.expected(&plan.name)?.0.phase {
            Phase::Queued { since, .. } => Some(since),
            _ => None,
        };
        let mut queued: Vec<(&Plan, Timestamp)> =
            self.plans.values().filter_map(|plan| Some((plan, since(plan)?))).collect();
        queued.sort_by_key(|(plan, since)| (-plan.priority, *since, plan.name.clone()));
        queued
    }

    /// No task waits while a slot is free, unless the slot may be reserved.
    pub(super) fn check_queue(&mut self) {
        let mut texts = Vec::new();
        let mut held = 0;
        for (plan, since) in self.queued() {
            // No task overtakes one whose queue entry is being committed.
            if self.in_flight.iter().any(|decision| decision.task == plan.name) {
                break;
            }
            let (free, own_free) = self.free(plan);
            let (kept, own_kept) = self.more_important(plan);
            if free > kept && own_free > own_kept {
                let why = self.planner.explain(&plan.name, self.now).map(|why| why.queue);
                texts.push(format!("{} waits since {since}, and nothing is in its way: {why:?}", plan.name));
            } else if free > 0 && own_free > 0 {
                held += 1;
            }
        }
        self.counts.held += held;
        self.violated_all(&texts);
    }

    /// No task starts before one that is ahead of it and could start instead.
    pub(super) fn check_order(&mut self, decisions: &[Decision]) {
        let mut texts = Vec::new();
        for decision in decisions {
            if !matches!(decision.act, Act::Start(_)) {
                continue;
            }
            let Some(plan) = self.plans.get(&decision.task) else { continue };
            let since = match self.states.get(&decision.task).map(|state| &state.phase) {
                Some(Phase::Queued { since, .. }) => *since,
                _ => self.now,
            };
            for (other, other_since) in self.queued() {
                let before =
                    (-other.priority, other_since, &other.name) < (-plan.priority, since, &plan.name);
                let waits = !decisions.iter().any(|decision| decision.task == other.name);
                if before && waits && other.pool == plan.pool {
                    texts.push(format!("{} starts before {}", plan.name, other.name));
                }
            }
        }
        self.violated_all(&texts);
    }

    /// Free slots: global, and in the pool.
    fn free(&self, plan: &Plan) -> (usize, usize) {
        let coming = self.in_flight.iter().map(|decision| &decision.task);
        let names: Vec<&TaskName> = self.states.keys().chain(coming).collect();
        let mut running: Vec<&TaskName> = names
            .into_iter()
            .filter(|name| self.expected(name).is_some_and(|(_, place)| place.is_some()))
            .collect();
        running.sort();
        running.dedup();
        let all = (self.limits.running as usize).saturating_sub(running.len());
        let limit = plan.pool.as_ref().and_then(|pool| self.limits.pools.get(pool).copied().flatten());
        let own = running.iter().filter(|name| self.pool_of(name) == plan.pool.as_deref()).count();
        (all, limit.map_or(usize::MAX, |limit| (limit as usize).saturating_sub(own)))
    }

    /// How many more important tasks may be about to become ready: in total, and in the pool.
    fn more_important(&self, plan: &Plan) -> (usize, usize) {
        let holders = self.plans.values().filter(|other| {
            // Only the planner knows a task whose first commit was refused.
            let new = TaskState::new(self.now);
            let state = self.expected(&other.name).map_or(&new, |(state, _)| state);
            let paused = state.paused.is_some() || (other.paused && !state.resumed);
            other.priority > plan.priority
                && other.hold_back > SignedDuration::ZERO
                && matches!(state.phase, Phase::Idle | Phase::Resting { .. })
                && !paused
                && self.may_become_ready(other, state, Timestamp::MAX)
        });
        let holders: Vec<&Plan> = holders.collect();
        (holders.len(), holders.iter().filter(|other| other.pool == plan.pool).count())
    }

    /// Whether a run that began before a moment may make a task ready, and others may still be held
    /// back.
    fn may_become_ready(&self, plan: &Plan, state: &TaskState, before: Timestamp) -> bool {
        let producers: Vec<(&Plan, Timestamp)> = self
            .plans
            .values()
            .filter(|other| other.name != plan.name)
            .filter_map(|other| Some((other, self.expected(&other.name)?.1?)))
            .filter(|(_, since)| *since < before)
            .collect();
        let produced =
            |of: &Parameter| producers.iter().any(|(other, _)| other.outputs().any(|output| output == of));
        let within = producers.iter().any(|(other, since)| {
            let feeds = other.outputs().any(|output| plan.trigger.parameters().contains(output));
            feeds && self.now < *since + plan.hold_back
        });
        within
            && naive::joined(&plan.trigger, &|leaf: &Leaf| {
                produced(&leaf.of)
                    || leaf.reference().is_some_and(produced)
                    || naive::leaf_holds(leaf, &self.known, &state.remembered, self.now)
            })
    }

    /// No task takes a slot that is reserved for a more important, unchanged task.
    pub(super) fn check_kept(&mut self, decisions: &[Decision]) {
        let mut texts = Vec::new();
        let touched = |task: &TaskName| decisions.iter().any(|decision| decision.task == *task);
        for decision in decisions.iter().filter(|decision| matches!(decision.act, Act::Start(_))) {
            let Some(plan) = self.plans.get(&decision.task) else { continue };
            let important = self.plans.values().filter(|other| {
                let Some((state, _)) = self.expected(&other.name) else { return false };
                let paused = state.paused.is_some() || (other.paused && !state.resumed);
                other.priority > plan.priority
                    && other.hold_back > SignedDuration::ZERO
                    && state.phase == Phase::Idle
                    && !paused
                    && !touched(&other.name)
                    && self.may_hold_back(other)
                    && self.may_become_ready(other, state, self.now)
            });
            let important: Vec<&Plan> = important.collect();
            let (free, own_free) = self.free(plan);
            let own = important.iter().filter(|other| other.pool == plan.pool).count();
            if free < important.len() || own_free < own {
                texts.push(format!("{} takes a place that is kept for {}", plan.name, important[0].name));
            }
        }
        self.violated_all(&texts);
    }

    /// Whether the pause between two holds is over.
    fn may_hold_back(&self, plan: &Plan) -> bool {
        let began = self
            .planner
            .names
            .get(&plan.name)
            .and_then(|task| self.planner.entries[*task as usize].hold_began);
        began.is_none_or(|began| {
            let until = after(began, plan.hold_back);
            self.now < until || self.now >= after(until, plan.hold_back)
        })
    }
}
