//! The scheduler: for each stage it answers "what now?" with a call, or with what blocks it.
//!
//! It does no input or output. The loop reports what the queues hold ([`ReadyQueues`]), how calls
//! ended and what was ordered, and asks for calls.

mod health;
mod ready_queues;
mod shares;
mod stage_state;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use ready_queues::{Fit, Item, QueueId, ReadyQueues, Scanned};
pub(crate) use stage_state::StageState;

use crate::queue::Lane;
use clock::Time;

/// What waits for a stage, the most urgent first: its lanes, with late timers apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// Entities that changed.
    Fresh,
    /// Visits that the stage requested, and retries.
    Timer,
    /// Timers that came due while they could not be served.
    Late,
    /// The background re-crawl.
    Background,
}

impl Line {
    /// The most urgent first.
    pub const ALL: [Self; 4] = [Self::Fresh, Self::Timer, Self::Late, Self::Background];

    pub(crate) fn lane(self) -> Lane {
        match self {
            Self::Fresh => Lane::Fresh,
            Self::Timer | Self::Late => Lane::Timer,
            Self::Background => Lane::Background,
        }
    }
}

/// Why a stage is not called although entities may wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// Nothing is due.
    Nothing,
    /// Other stages are visiting everything that is at hand.
    Busy,
    /// The limit of concurrent calls is reached.
    Calls,
    /// The rate is used up until this time.
    Rate(Time),
    /// An operator paused the stage.
    Paused,
    /// The stage does not answer; it is probed at this time.
    Down(Time),
}

#[derive(Clone, Debug)]
pub(crate) struct NextCall {
    pub(crate) line: Line,
    pub(crate) items: Vec<Item>,
    /// The stage is down, and this call checks whether it still is.
    pub(crate) probe: bool,
}

/// All stages with what waits for them. Stages are numbered; zero is the system stage.
pub(crate) struct Scheduler {
    pub(crate) queues: ReadyQueues,
    pub(crate) stages: Vec<StageState>,
    /// The part of all shards that this process serves.
    part: f64,
}

impl Scheduler {
    pub(crate) fn new(stages: Vec<StageState>) -> Self {
        Self { queues: ReadyQueues::new(stages.len()), stages, part: 1.0 }
    }

    /// Sets the shards of this process, out of `all`.
    pub(crate) fn serve(&mut self, shards: &BTreeSet<u32>, all: u32, now: Time) {
        self.part = shards.len() as f64 / f64::from(all.max(1));
        let gains = shards.iter().any(|shard| self.queues.late_before(0, *shard) == Time::FIRST);
        self.queues.serve(shards, now);
        for state in &mut self.stages {
            state.set_part(self.part);
            if gains {
                state.late_before = now;
            }
        }
    }

    pub(crate) fn next_call(
        &mut self,
        stage: usize,
        now: Time,
        fit: impl FnMut(u32, &Arc<str>) -> Fit,
    ) -> Result<NextCall, Blocked> {
        let next = self.find_call(stage, now, fit);
        self.stages[stage].blocked = next.as_ref().err().cloned();
        next
    }

    fn find_call(
        &mut self,
        stage: usize,
        now: Time,
        mut fit: impl FnMut(u32, &Arc<str>) -> Fit,
    ) -> Result<NextCall, Blocked> {
        // One stage visits an entity at a time: a slow stage gives way to quick ones.
        let Self { queues, stages, .. } = self;
        let quick: Vec<bool> = if stage > 0 && stages[stage].is_slow() {
            let others = stages.iter().enumerate();
            others.map(|(other, state)| other > 0 && other != stage && state.is_quick()).collect()
        } else {
            Vec::new()
        };
        let state = &mut stages[stage];
        state.clear_blocked();
        if !Line::ALL.into_iter().any(|line| queues.has_due(stage, line)) {
            return Err(Blocked::Nothing);
        }
        let room = match state.room(now) {
            Ok(room) => room,
            Err(why) => {
                for line in Line::ALL.into_iter().filter(|line| queues.has_due(stage, *line)) {
                    state.set_blocked(line, why.clone());
                }
                return Err(why);
            }
        };
        let wanted = queues.at_hand(&quick);
        let mut fit = |shard: u32, entity: &Arc<str>| {
            let gives_way = !wanted.is_empty() && wanted.contains(&(shard, Arc::clone(entity)));
            if gives_way { Fit::Busy } else { fit(shard, entity) }
        };
        let mut blocked = Blocked::Nothing;
        for line in state.order() {
            if !queues.has_due(stage, line) {
                continue;
            }
            let max = match state.room_in(line, now) {
                Ok(room_in) => room.visits.min(room_in),
                Err(why) => {
                    state.set_blocked(line, why.clone());
                    blocked = why;
                    continue;
                }
            };
            let items = queues.take(stage, line, max, &mut fit);
            if items.is_empty() {
                state.set_blocked(line, Blocked::Busy);
                blocked = Blocked::Busy;
                continue;
            }
            state.took(line, items.len(), |line| queues.has_due(stage, line));
            return Ok(NextCall { line, items, probe: room.probe });
        }
        Err(blocked)
    }

    pub(crate) fn call_ended(&mut self, stage: usize, line: Line, took: Duration) {
        self.stages[stage].ended(line, took);
    }

    pub(crate) fn answered(&mut self, stage: usize, now: Time) {
        if self.stages[stage].health.answered() {
            self.late_until(stage, now);
        }
    }

    pub(crate) fn set_paused(&mut self, stage: usize, paused: bool, now: Time) {
        let before = std::mem::replace(&mut self.stages[stage].paused, paused);
        if before && !paused {
            self.late_until(stage, now);
        }
    }

    fn late_until(&mut self, stage: usize, now: Time) {
        self.queues.late_until(stage, now);
        self.stages[stage].late_before = now;
    }
}

#[cfg(test)]
mod tests;
