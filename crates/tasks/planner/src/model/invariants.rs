//! Invariants, checked against the world's own knowledge.

use jiff::SignedDuration;
use triggers::Parameter;

use super::naive;
use super::world::World;
use crate::{Act, Alert, Cause, Decision, Outcome, Phase, Seen, Step, TaskName, TaskState};

impl World {
    /// Every start follows from the reported values, and saw exactly those.
    pub(super) fn check_decisions(&mut self, decisions: &[Decision]) {
        for decision in decisions {
            let task = &decision.task;
            self.counts.rechecks += u64::from(decision.why.contains(&Step::NoLongerHolds));
            let Act::Start(start) = &decision.act else { continue };
            let Some(plan) = self.plans.get(task) else {
                self.violated(&format!("{task} starts though it is gone"));
                continue;
            };
            let of_trigger = |(of, _): &(&Parameter, _)| plan.trigger.parameters().contains(of);
            let known =
                self.known.iter().filter(of_trigger).map(|(of, value)| (of.clone(), *value)).collect();
            let holds = naive::fires(&plan.trigger, &known, &decision.after.remembered, self.now);
            let paused = decision.after.paused.is_some() || (plan.paused && !decision.after.resumed);
            if start.seen != known {
                self.violated(&format!("{task} saw {:?}, not {known:?}", start.seen));
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

    /// What a commit may change.
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
                        // Only a recording backfill may change the memory.
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

    /// Silence and regressions are reported once when they begin and once when they end.
    fn check_alerts(&mut self, before: Option<&TaskState>, decision: &Decision) {
        let was_silent = before.is_some_and(|before| before.silent_since.is_some());
        for alert in &decision.alerts {
            let odd = match alert {
                Alert::Silent { .. } => was_silent,
                Alert::SilenceEnded => !was_silent,
                Alert::Regressed { parameter } => {
                    before.is_some_and(|before| before.regressed.contains_key(parameter))
                }
                Alert::RegressionEnded { parameter } => {
                    before.is_none_or(|before| !before.regressed.contains_key(parameter))
                }
                _ => false,
            };
            self.counts.silences += u64::from(matches!(alert, Alert::Silent { .. }));
            self.counts.regressions += u64::from(matches!(alert, Alert::Regressed { .. }));
            self.counts.gave_up += u64::from(matches!(alert, Alert::GaveUp { .. }));
            if odd {
                self.violated(&format!("{} is alerted twice: {alert}", decision.task));
            }
        }
    }

    /// Limits hold for committed states, unless a definition changed during a run.
    pub(super) fn check_limits(&mut self) {
        let running: Vec<&TaskName> =
            self.states.iter().filter(|(_, state)| state.running().is_some()).map(|(name, _)| name).collect();
        let in_pool = |pool: &str| {
            let stayed = running.iter().filter(|name| !self.moved.contains(**name));
            stayed.filter(|name| self.pool_of(name) == Some(pool)).count()
        };
        let mut texts = Vec::new();
        if running.len() > self.limits.running as usize {
            texts.push(format!("{} run at the same time", running.len()));
        }
        for (pool, limit) in &self.limits.pools {
            if limit.is_some_and(|limit| in_pool(pool) > limit as usize) {
                texts.push(format!("{} run in the pool {pool}", in_pool(pool)));
            }
        }
        self.violated_all(&texts);
    }

    /// At the end no trigger holds, and regressions are noted.
    pub(super) fn check_rest(&mut self) {
        let mut texts = Vec::new();
        for (name, plan) in &self.plans {
            let Some(state) = self.states.get(name) else {
                texts.push(format!("{name} is not known"));
                continue;
            };
            // Neither now nor in any chunk of the next day, for which the planner has no timer.
            let quarter = |number: i64| self.now + SignedDuration::from_mins(15) * number as i32;
            let holds = (0..96)
                .map(quarter)
                .any(|at| naive::fires(&plan.trigger, &self.values, &state.remembered, at));
            // A task rests only as long as its values are the same.
            let of_trigger = |(of, _): &(&Parameter, _)| plan.trigger.parameters().contains(of);
            let current = self.values.iter().filter(of_trigger).map(|(of, value)| (of.clone(), *value));
            let current: Seen = current.collect();
            let rests = matches!(&state.phase, Phase::Resting { seen, .. } if *seen == current);
            // Paused by its definition, and added after all others were resumed.
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
        self.violated_all(&texts);
    }
}
