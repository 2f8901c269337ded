//! The schedule: for each stage one question, "what now?", with a named answer: a call, or what stands in its way.
//!
//! It does no input or output. The loop tells it what the queues hold ([`Agenda`]), how calls ended and what was ordered, and asks for calls.

mod agenda;
mod desk;
mod health;
mod shares;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use agenda::{Agenda, Fit, Item, Peeked, QueueId};
pub(crate) use desk::Desk;

use crate::queue::Lane;
use crate::time::Time;

/// What waits for a stage, the most urgent first: its lanes, with the timers that nobody could serve in time apart from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// Entities that have changed.
    Fresh,
    /// Visits that the stage has asked for, and attempts after a failure.
    Timer,
    /// Timers that came due while nobody could serve them.
    Late,
    /// The background re-crawl.
    Background,
}

impl Line {
    /// All lines, the most urgent first.
    pub const ALL: [Self; 4] = [Self::Fresh, Self::Timer, Self::Late, Self::Background];

    /// The lane in which its rows stand.
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
    /// Everything that is at hand is being visited by other stages.
    Busy,
    /// As many calls are under way as may be.
    Calls,
    /// As many visits were made as may be; more may be at this time.
    Rate(Time),
    /// Somebody has paused the stage.
    Paused,
    /// The stage does not answer; it is probed at this time.
    Down(Time),
}

/// A call to make.
#[derive(Clone, Debug)]
pub(crate) struct NextCall {
    pub(crate) line: Line,
    pub(crate) items: Vec<Item>,
    /// The stage is down, and this is to see whether it still is.
    pub(crate) probe: bool,
}

/// All stages with what waits for them. Stages are numbered; zero is the system stage.
pub(crate) struct Schedule {
    pub(crate) agenda: Agenda,
    pub(crate) desks: Vec<Desk>,
    /// The part of all shards that this process serves.
    part: f64,
}

impl Schedule {
    pub(crate) fn new(desks: Vec<Desk>) -> Self {
        Self { agenda: Agenda::new(desks.len()), desks, part: 1.0 }
    }

    /// The shards of this process, out of so many, are these from now on.
    pub(crate) fn serve(&mut self, shards: &BTreeSet<u32>, all: u32, now: Time) {
        self.part = shards.len() as f64 / f64::from(all.max(1));
        let gains = shards.iter().any(|shard| self.agenda.late_before(0, *shard) == Time::FIRST);
        self.agenda.serve(shards, now);
        for desk in &mut self.desks {
            desk.set_part(self.part);
            if gains {
                desk.late_before = now;
            }
        }
    }

    /// What a stage is to do now.
    pub(crate) fn next_call(
        &mut self,
        stage: usize,
        now: Time,
        fit: impl FnMut(u32, &Arc<str>) -> Fit,
    ) -> Result<NextCall, Blocked> {
        let next = self.find_call(stage, now, fit);
        self.desks[stage].blocked = next.as_ref().err().cloned();
        next
    }

    fn find_call(
        &mut self,
        stage: usize,
        now: Time,
        mut fit: impl FnMut(u32, &Arc<str>) -> Fit,
    ) -> Result<NextCall, Blocked> {
        // An entity is visited by one stage at a time: one whose visits take long gives way to those that are soon done.
        let Self { agenda, desks, .. } = self;
        let quick: Vec<bool> = if stage > 0 && desks[stage].is_slow() {
            let others = desks.iter().enumerate();
            others.map(|(other, desk)| other > 0 && other != stage && desk.is_quick()).collect()
        } else {
            Vec::new()
        };
        let desk = &mut desks[stage];
        desk.clear_blocked();
        if !Line::ALL.into_iter().any(|line| agenda.has_due(stage, line)) {
            return Err(Blocked::Nothing);
        }
        let room = match desk.room(now) {
            Ok(room) => room,
            Err(why) => {
                for line in Line::ALL.into_iter().filter(|line| agenda.has_due(stage, *line)) {
                    desk.set_blocked(line, why.clone());
                }
                return Err(why);
            }
        };
        let wanted = agenda.at_hand(&quick);
        let mut fit = |shard: u32, entity: &Arc<str>| {
            let gives_way = !wanted.is_empty() && wanted.contains(&(shard, Arc::clone(entity)));
            if gives_way { Fit::Busy } else { fit(shard, entity) }
        };
        let mut blocked = Blocked::Nothing;
        for line in desk.order() {
            if !agenda.has_due(stage, line) {
                continue;
            }
            let max = match desk.room_in(line, now) {
                Ok(room_in) => room.visits.min(room_in),
                Err(why) => {
                    desk.set_blocked(line, why.clone());
                    blocked = why;
                    continue;
                }
            };
            let items = agenda.take(stage, line, max, &mut fit);
            if items.is_empty() {
                desk.set_blocked(line, Blocked::Busy);
                blocked = Blocked::Busy;
                continue;
            }
            desk.took(line, items.len(), |line| agenda.has_due(stage, line));
            return Ok(NextCall { line, items, probe: room.probe });
        }
        Err(blocked)
    }

    /// A call has ended that took so long.
    pub(crate) fn call_ended(&mut self, stage: usize, line: Line, took: Duration) {
        self.desks[stage].ended(line, took);
    }

    /// A stage gave an answer.
    pub(crate) fn answered(&mut self, stage: usize, now: Time) {
        if self.desks[stage].health.answered() {
            self.late_until(stage, now);
        }
    }

    /// Somebody paused a stage, or has it go on.
    pub(crate) fn set_paused(&mut self, stage: usize, paused: bool, now: Time) {
        let before = std::mem::replace(&mut self.desks[stage].paused, paused);
        if before && !paused {
            self.late_until(stage, now);
        }
    }

    fn late_until(&mut self, stage: usize, now: Time) {
        self.agenda.late_until(stage, now);
        self.desks[stage].late_before = now;
    }
}

#[cfg(test)]
mod tests;
