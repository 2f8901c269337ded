//! What has to hold, checked by the world with what it knows itself.

use jiff::{SignedDuration, Timestamp};
use triggers::{Leaf, Parameter};

use super::naive;
use super::world::World;
use crate::board::{Act, Alert, Cause, Decision, Outcome, Phase, Plan, Seen, TaskName, TaskState, Why};

impl World {
    /// Every start is due to what the board was told, and saw just that.
    pub(super) fn check_decisions(&mut self, decisions: &[Decision]) {
        for decision in decisions {
            let task = &decision.task;
            self.counts.rechecks += u64::from(decision.why.contains(&Why::NoLongerHolds));
            let Act::Start(start) = &decision.act else { continue };
            let Some(plan) = self.plans.get(task) else {
                self.violated(&format!("{task} starts though it is gone"));
                continue;
            };
            let of_trigger = |(of, _): &(&Parameter, _)| plan.trigger.parameters().contains(of);
            let told = self.told.iter().filter(of_trigger).map(|(of, value)| (of.clone(), *value)).collect();
            let holds = naive::fires(&plan.trigger, &told, &decision.after.remembered, self.now);
            let paused = decision.after.paused.is_some() || (plan.paused && !decision.after.resumed);
            if start.seen != told {
                self.violated(&format!("{task} saw {:?}, not {told:?}", start.seen));
            }
            if start.cause == Cause::Trigger && !holds {
                self.violated(&format!("{task} fires without a change"));
            }
            if !matches!(start.cause, Cause::Manual(_)) && paused {
                self.violated(&format!("{task} starts though it is paused"));
            }
        }
        self.check_order(decisions);
    }

    /// What a commit may change of a task.
    pub(super) fn check_commit(&mut self, before: Option<&TaskState>, decision: &Decision) {
        let (task, after) = (&decision.task, &decision.after);
        let mut remembered = before.map(|before| before.remembered.clone()).unwrap_or_default();
        let was_running = before.and_then(TaskState::running);
        match &decision.act {
            Act::Start(start) => {
                self.counts.starts += 1;
                self.counts.chunks += u64::from(matches!(start.cause, Cause::Chunk(_)));
                if was_running.is_some() {
                    self.violated(&format!("{task} is started while it runs"));
                }
                if self.runs.contains_key(&(task.clone(), start.run)) {
                    self.violated(&format!("{task} uses the number {} twice", start.run));
                }
            }
            Act::End(end) => {
                let real = self.runs.get(&(task.clone(), end.run)).cloned();
                let Some((outcome, seen)) = real.and_then(|real| Some((real.ended?.0, real.seen))) else {
                    return self.violated(&format!("run {} of {task} has not ended", end.run));
                };
                if outcome != end.outcome || was_running.map(|(run, _)| run) != Some(end.run) {
                    self.violated(&format!("run {} of {task} has another end", end.run));
                }
                match (&outcome, &end.cause) {
                    (Outcome::Succeeded { .. }, Cause::Chunk(_)) => {
                        // Only a backfill that was asked to may move what is remembered.
                        let records = before.and_then(|before| before.backfill.as_ref());
                        if records.is_some_and(|backfill| backfill.record) {
                            remembered.clone_from(&after.remembered);
                        }
                    }
                    (Outcome::Succeeded { .. }, Cause::Manual(manual)) if !manual.record => {}
                    (Outcome::Succeeded { .. }, _) => remembered = seen,
                    _ => {}
                }
                match outcome {
                    Outcome::Succeeded { .. } => self.counts.successes += 1,
                    Outcome::Failed { .. } => self.counts.failures += 1,
                    Outcome::Lost => self.counts.losses += 1,
                }
            }
            Act::Nothing => {
                if was_running != after.running() {
                    self.violated(&format!("{task} runs or does not without a start or an end"));
                }
            }
        }
        if after.remembered != remembered {
            self.violated(&format!("{task} remembers {:?}, not {remembered:?}", after.remembered));
        }
        self.check_alerts(before, decision);
    }

    /// Silence and regressions are told once when they begin and once when they end.
    fn check_alerts(&mut self, before: Option<&TaskState>, decision: &Decision) {
        let was_silent = before.is_some_and(|before| before.silent_since.is_some());
        for alert in &decision.alerts {
            let odd = match alert {
                Alert::Silent { .. } => was_silent,
                Alert::SilenceEnded => !was_silent,
                Alert::Regressed { parameter } => {
                    before.is_some_and(|before| before.regressed.contains_key(parameter))
                }
                Alert::Mended { parameter } => {
                    before.is_none_or(|before| !before.regressed.contains_key(parameter))
                }
                _ => false,
            };
            self.counts.silences += u64::from(matches!(alert, Alert::Silent { .. }));
            self.counts.regressions += u64::from(matches!(alert, Alert::Regressed { .. }));
            self.counts.gave_up += u64::from(matches!(alert, Alert::GaveUp { .. }));
            if odd {
                self.violated(&format!("{} is told twice: {alert}", decision.task));
            }
        }
    }

    /// Limits hold for what is committed, unless a definition was changed under a run.
    pub(super) fn check_limits(&mut self) {
        let running: Vec<&TaskName> =
            self.states.iter().filter(|(_, state)| state.running().is_some()).map(|(name, _)| name).collect();
        let in_pool = |pool: &str| {
            let stayed = running.iter().filter(|name| !self.moved.contains(**name));
            stayed.filter(|name| self.pool_of(name) == Some(pool)).count()
        };
        let mut texts = Vec::new();
        if running.len() > self.settings.running as usize {
            texts.push(format!("{} run at the same time", running.len()));
        }
        for (pool, limit) in &self.settings.pools {
            if limit.is_some_and(|limit| in_pool(pool) > limit as usize) {
                texts.push(format!("{} run in the pool {pool}", in_pool(pool)));
            }
        }
        self.violated_all(&texts);
    }

    fn pool_of(&self, task: &str) -> Option<&str> {
        self.plans.get(task).and_then(|plan| plan.pool.as_deref())
    }

    /// The state of a task as it will be, and whether it takes a place: as long as a start or an end is not committed it does.
    fn expected(&self, task: &TaskName) -> Option<(&TaskState, Option<Timestamp>)> {
        let committed = self.states.get(task);
        // One that was made on what is no longer committed is going to be refused.
        let version = committed.map_or(0, |committed| committed.version) + 1;
        let coming = |decision: &&Decision| decision.task == *task && decision.after.version == version;
        let coming = self.in_flight.iter().find(coming);
        let state = coming.map(|decision| &decision.after).or(committed)?;
        let place = state.running().or_else(|| committed.and_then(TaskState::running));
        Some((state, place.map(|(_, since)| since)))
    }

    /// How many more important tasks may be about to become ready for which a task waits: among all, and in its pool.
    fn more_important(&self, plan: &Plan) -> (usize, usize) {
        let holders = self.plans.values().filter(|other| {
            // A task whose first commit was refused is known to the board alone.
            let new = TaskState::new(self.now);
            let state = self.expected(&other.name).map_or(&new, |(state, _)| state);
            let paused = state.paused.is_some() || (other.paused && !state.resumed);
            other.priority > plan.priority
                && other.hold_back > SignedDuration::ZERO
                && matches!(state.phase, Phase::Idle | Phase::Resting { .. })
                && !paused
                && self.may_become_ready(other, state)
        });
        let holders: Vec<&Plan> = holders.collect();
        (holders.len(), holders.iter().filter(|other| other.pool == plan.pool).count())
    }

    fn may_become_ready(&self, plan: &Plan, state: &TaskState) -> bool {
        let producers: Vec<(&Plan, Timestamp)> = self
            .plans
            .values()
            .filter(|other| other.name != plan.name)
            .filter_map(|other| Some((other, self.expected(&other.name)?.1?)))
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
                    || naive::leaf_holds(leaf, &self.told, &state.remembered, self.now)
            })
    }

    /// Tasks in the queue, in its order.
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

    /// Places that are free: among all, and in a pool.
    fn free(&self, plan: &Plan) -> (usize, usize) {
        let coming = self.in_flight.iter().map(|decision| &decision.task);
        let names: Vec<&TaskName> = self.states.keys().chain(coming).collect();
        let mut running: Vec<&TaskName> = names
            .into_iter()
            .filter(|name| self.expected(name).is_some_and(|(_, place)| place.is_some()))
            .collect();
        running.sort();
        running.dedup();
        let all = (self.settings.running as usize).saturating_sub(running.len());
        let limit = plan.pool.as_ref().and_then(|pool| self.settings.pools.get(pool).copied().flatten());
        let own = running.iter().filter(|name| self.pool_of(name) == plan.pool.as_deref()).count();
        (all, limit.map_or(usize::MAX, |limit| (limit as usize).saturating_sub(own)))
    }

    /// Nobody waits while there is a place, unless it is kept for somebody for whom it may be kept.
    pub(super) fn check_queue(&mut self) {
        let mut texts = Vec::new();
        let mut held = 0;
        for (plan, since) in self.queued() {
            // Nobody overtakes a task whose place in the queue is being written.
            if self.in_flight.iter().any(|decision| decision.task == plan.name) {
                break;
            }
            let (free, own_free) = self.free(plan);
            let (kept, own_kept) = self.more_important(plan);
            if free > kept && own_free > own_kept {
                let why = self.board.explain(&plan.name, self.now).map(|why| why.standing);
                texts.push(format!("{} waits since {since}, and nothing is in its way: {why:?}", plan.name));
            } else if free > 0 && own_free > 0 {
                held += 1;
            }
        }
        self.counts.held += held;
        self.violated_all(&texts);
    }

    /// Nobody has started before somebody who stands before it and could have started in its place.
    fn check_order(&mut self, decisions: &[Decision]) {
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

    /// At the end: no trigger holds, and what was moved back is noted.
    pub(super) fn check_rest(&mut self) {
        let mut texts = Vec::new();
        for (name, plan) in &self.plans {
            let Some(state) = self.states.get(name) else {
                texts.push(format!("{name} is not known"));
                continue;
            };
            // Neither now nor at any chunk of the day to come, for which the board has set no timer.
            let quarter = |number: i64| self.now + SignedDuration::from_mins(15) * number as i32;
            let holds = (0..96)
                .map(quarter)
                .any(|at| naive::fires(&plan.trigger, &self.values, &state.remembered, at));
            // A task rests only as long as nothing has changed.
            let of_trigger = |(of, _): &(&Parameter, _)| plan.trigger.parameters().contains(of);
            let current = self.values.iter().filter(of_trigger).map(|(of, value)| (of.clone(), *value));
            let current: Seen = current.collect();
            let rests = matches!(&state.phase, Phase::Resting { seen, .. } if *seen == current);
            // A task that its definition pauses, and that became known after all others were resumed.
            let paused = plan.paused && !state.resumed;
            if holds && !rests && !paused {
                texts.push(format!("{name} has missed a change: {:?}, {:?}", state.phase, state.remembered));
            }
            if !matches!(state.phase, Phase::Idle | Phase::Resting { .. }) {
                texts.push(format!("{name} is not done: {:?}", state.phase));
            }
            let deltas = plan.trigger.leaves().map(|(_, leaf)| leaf).filter(|leaf| leaf.check.is_delta());
            for leaf in deltas {
                let last = state.remembered.get(&leaf.of);
                let below = last.zip(self.values.get(&leaf.of)).is_some_and(|(last, now)| now < last);
                if below != state.regressed.contains_key(&leaf.of) {
                    texts.push(format!("{name}: {} is below what is remembered: {below}", leaf.of));
                }
            }
        }
        if !self.values.values().all(World::is_plain) {
            texts.push("the model counts whole seconds".to_owned());
        }
        self.violated_all(&texts);
    }
}
