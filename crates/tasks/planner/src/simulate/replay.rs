//! The virtual clock.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::misses::Tracks;
use super::{Firing, Loop, Recorded, Scenario, Simulation, Write};
use crate::error::{Error, Result};
use crate::limits::{LOOP_FIRINGS, SIMULATED_CHANGES_MAX, SIMULATED_FIRINGS_MAX};
use crate::{Act, Decision, End, Outcome, Phase, Planner, Seen, Signed, Snapshot, Start, TaskName, actions};

pub(super) fn run(scenario: &Scenario) -> Result<Simulation> {
    if scenario.from >= scenario.to {
        return Err(Error::SimulationRange);
    }
    if scenario.log.len() > SIMULATED_CHANGES_MAX {
        return Err(Error::LongLog(scenario.log.len()));
    }
    let mut log: Vec<&Recorded> = scenario.log.iter().filter(|change| change.at <= scenario.to).collect();
    log.sort_by_key(|change| change.at);
    let begins = log.partition_point(|change| change.at < scenario.from);
    let mut values = scenario.values.clone();
    for change in log.drain(..begins) {
        match change.value {
            Some(value) => drop(values.insert(change.parameter.clone(), value)),
            None => drop(values.remove(&change.parameter)),
        }
    }
    let mut replay = Replay::new(scenario, values);
    replay.play(&log);
    Ok(replay.finish())
}

struct Watched {
    queued: Option<Timestamp>,
    /// The last success, or the beginning.
    success: Timestamp,
    /// Successful runs in a row that saw the same.
    same: u32,
    last_seen: Option<Seen>,
}

struct Replay<'a> {
    scenario: &'a Scenario,
    planner: Planner,
    now: Timestamp,
    /// Current runs by their end; the second part keeps simultaneous ends in order.
    ends: BTreeMap<(Timestamp, usize), (TaskName, u64)>,
    /// The index of a current run's firing.
    running: BTreeMap<TaskName, usize>,
    watched: BTreeMap<TaskName, Watched>,
    tracks: Tracks,
    result: Simulation,
}

impl<'a> Replay<'a> {
    fn new(scenario: &'a Scenario, values: Seen) -> Self {
        let from = scenario.from;
        let tracks = Tracks::new(&scenario.plans, &scenario.states, &values, from);
        let watched = scenario.plans.iter().map(|plan| {
            (plan.name.clone(), Watched { queued: None, success: from, same: 0, last_seen: None })
        });
        let watched = watched.collect();
        let input = Snapshot {
            limits: scenario.limits.clone(),
            plans: scenario.plans.clone(),
            states: scenario.states.clone(),
            values,
        };
        let mut replay = Self {
            scenario,
            planner: Planner::new(input, from),
            now: from,
            ends: BTreeMap::new(),
            running: BTreeMap::new(),
            watched,
            tracks,
            result: Simulation { from, to: scenario.to, ..Simulation::default() },
        };
        // Runs that are current at the beginning take their full time from there.
        let running: Vec<(TaskName, u64)> =
            replay.planner.running().map(|(task, run, _)| (task.clone(), run)).collect();
        for (task, run) in running {
            replay.will_end(&task, run);
        }
        replay
    }

    fn play(&mut self, log: &[&Recorded]) {
        let mut log = log.iter().peekable();
        loop {
            while let Some(change) = log.next_if(|change| change.at <= self.now) {
                self.planner.value_changed(&change.parameter, change.value);
                self.tracks.changed(&change.parameter, change.value, self.now);
            }
            while let Some(end) = self.ends.first_entry().filter(|end| end.key().0 <= self.now) {
                let (task, run) = end.remove();
                self.end(&task, run);
            }
            self.settle();
            if self.result.firings.len() >= SIMULATED_FIRINGS_MAX {
                self.result.cut_off = true;
                self.result.to = self.now;
                return;
            }
            let change = log.peek().map(|change| change.at);
            let end = self.ends.first_key_value().map(|((at, _), _)| *at);
            let next = change.into_iter().chain(end).chain(self.planner.next_moment()).min();
            match next {
                Some(next) if next <= self.scenario.to => self.now = self.now.max(next),
                _ => return,
            }
        }
    }

    fn settle(&mut self) {
        loop {
            let decisions = self.planner.decide(self.now);
            if decisions.is_empty() {
                return;
            }
            for mut decision in decisions {
                self.commit(&mut decision);
            }
        }
    }

    fn commit(&mut self, decision: &mut Decision) {
        let task = decision.task.clone();
        let alerts = decision.alerts.drain(..).map(|alert| (self.now, task.clone(), alert));
        self.result.alerts.extend(alerts);
        let queued = match &decision.after.phase {
            Phase::Queued { since, .. } => Some(*since),
            _ => None,
        };
        let was_queued = self
            .watched
            .get_mut(&task)
            .and_then(|watched| std::mem::replace(&mut watched.queued, queued))
            .filter(|_| queued.is_none());
        let waited = was_queued.map_or(SignedDuration::ZERO, |since| self.now.duration_since(since));
        self.note_wait(&task, waited);
        match &mut decision.act {
            Act::Start(start) => self.started(&task, start, waited),
            Act::End(end) => self.ended(&task, end),
            Act::Nothing => {}
        }
        self.planner.commit(decision);
        self.cut_loop(&task, &decision.act);
    }

    fn note_wait(&mut self, task: &TaskName, waited: SignedDuration) {
        if waited > SignedDuration::ZERO {
            let longest = self.result.starvation.entry(task.clone()).or_default();
            *longest = waited.max(*longest);
        }
    }

    fn started(&mut self, task: &TaskName, start: &Start, waited: SignedDuration) {
        self.running.insert(task.clone(), self.result.firings.len());
        self.result.firings.push(Firing {
            at: self.now,
            task: task.clone(),
            run: start.run,
            attempt: start.attempt,
            cause: start.cause.clone(),
            waited,
            seen: start.seen.clone(),
            ended: None,
        });
        self.will_end(task, start.run);
    }

    fn will_end(&mut self, task: &TaskName, run: u64) {
        let end = self.now.checked_add(self.scenario.durations.of(task)).unwrap_or(Timestamp::MAX);
        let order = self.ends.last_key_value().map_or(0, |((_, order), _)| order + 1);
        let order = order.max(self.result.firings.len());
        self.ends.insert((end, order), (task.clone(), run));
    }

    fn end(&mut self, task: &TaskName, run: u64) {
        let fails = self.scenario.failures.as_ref().is_some_and(|failures| failures.fails(task, run));
        let outcome = if fails {
            Outcome::Failed { error: "the simulation lets it fail".to_owned() }
        } else {
            Outcome::success()
        };
        self.planner.run_ended(task, run, outcome, self.now);
    }

    fn ended(&mut self, task: &TaskName, end: &mut End) {
        let succeeded = matches!(end.outcome, Outcome::Succeeded { .. });
        if let Some(firing) = self.running.remove(task) {
            self.result.firings[firing].ended = Some((self.now, succeeded));
        }
        if !succeeded {
            return;
        }
        self.tracks.succeeded(task, &end.seen);
        if let Some(watched) = self.watched.get_mut(task) {
            let longest = self.result.silence.entry(task.clone()).or_default();
            *longest = self.now.duration_since(watched.success).max(*longest);
            watched.success = self.now;
            let same = watched.last_seen.as_ref() == Some(&end.seen);
            watched.same = if same { watched.same + 1 } else { 1 };
            watched.last_seen = Some(end.seen.clone());
        }
        let (planner, writes, now) = (&self.planner, &mut self.result.writes, self.now);
        end.writes.retain(|parameter, value| {
            let current = planner.value(parameter);
            let moves_back =
                current.is_some_and(|current| current.kind() == value.kind() && *value < current);
            let (task, parameter, value) = (task.clone(), parameter.clone(), *value);
            writes.push(Write { at: now, task, parameter, value, moves_back });
            !moves_back
        });
        for (parameter, value) in &end.writes {
            self.tracks.changed(parameter, Some(*value), self.now);
        }
    }

    fn cut_loop(&mut self, task: &TaskName, act: &Act) {
        let Some(watched) = self.watched.get_mut(task) else { return };
        if !matches!(act, Act::End(_)) || watched.same <= LOOP_FIRINGS {
            return;
        }
        let seen = watched.last_seen.clone().unwrap_or_default();
        let signed = Signed { by: "simulation".into(), reason: "it runs in a loop".into(), at: self.now };
        if let Some(Ok(paused)) = self.planner.state(task).map(|state| actions::pause(state, &signed)) {
            self.result.loops.push(Loop { task: task.clone(), at: self.now, firings: watched.same, seen });
            self.planner.state_changed(task, paused);
        }
    }

    fn finish(mut self) -> Simulation {
        let to = self.result.to;
        for (task, watched) in std::mem::take(&mut self.watched) {
            if let Some(since) = watched.queued {
                self.note_wait(&task, to.duration_since(since));
            }
            let longest = self.result.silence.entry(task).or_default();
            *longest = to.duration_since(watched.success).max(*longest);
        }
        let (misses, more) = self.tracks.misses(&self.planner, &self.scenario.plans, to);
        self.result.misses = misses;
        self.result.more_misses = more;
        self.result
    }
}
