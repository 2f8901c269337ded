//! The state of one stage: its limits, its calls under way, and its health.

use std::mem;
use std::time::Duration;

use tokio::time::Instant;

use crate::config::StageLimits;
use crate::limits::{BACKGROUND_BATCH_PART, BACKGROUND_CALLS_PART, FRESH_CALLS_PART, SLOW_CALL};
use crate::schedule::health::Health;
use crate::schedule::shares::Shares;
use crate::schedule::{Blocked, Line};
use crate::token_bucket::TokenBucket;
use clock::Time;

pub(crate) struct StageState {
    pub(crate) limits: StageLimits,
    pub(crate) paused: bool,
    pub(crate) health: Health,
    /// What blocked the stage when it was asked last.
    pub(crate) blocked: Option<Blocked>,
    /// The same by line, for lines in which something was due.
    blocked_lines: [Option<Blocked>; Line::ALL.len()],
    /// Timers before this are late, in every shard.
    pub(crate) late_before: Time,
    /// By line.
    calls: [usize; Line::ALL.len()],
    /// The average time of the last calls; `None` before the first one has ended.
    pace: Option<Duration>,
    /// A slow stage gave way to others and tries again then. A monotonic time: the watcher's clock
    /// may stand still.
    pub(crate) retry_at: Option<Instant>,
    shares: Shares,
    rate: Option<TokenBucket>,
    catch_up: Option<TokenBucket>,
    part: f64,
}

/// How much a stage may do now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) visits: usize,
    pub(crate) probe: bool,
}

impl StageState {
    pub(crate) fn new(limits: StageLimits) -> Self {
        let mut state = Self {
            limits,
            paused: false,
            health: Health::default(),
            blocked: None,
            blocked_lines: [const { None }; Line::ALL.len()],
            late_before: Time::default(),
            calls: [0; Line::ALL.len()],
            pace: None,
            retry_at: None,
            shares: Shares::default(),
            rate: None,
            catch_up: None,
            part: 1.0,
        };
        state.set_speeds();
        state
    }

    pub(crate) fn set_limits(&mut self, limits: StageLimits) {
        self.limits = limits;
        self.set_speeds();
    }

    /// Sets the part of all shards that this process serves: it has that part of the limits.
    pub(crate) fn set_part(&mut self, part: f64) {
        self.part = part;
        self.set_speeds();
    }

    fn set_speeds(&mut self) {
        let set =
            |bucket: &mut Option<TokenBucket>, per_second: Option<f64>| match (per_second, bucket.as_mut()) {
                (None, _) => *bucket = None,
                // Without a shard nothing is taken.
                (Some(_), _) if self.part <= 0.0 => {}
                (Some(per_second), None) => *bucket = Some(TokenBucket::new(per_second * self.part)),
                (Some(per_second), Some(bucket)) => bucket.set_speed(per_second * self.part),
            };
        set(&mut self.rate, self.limits.rate);
        set(&mut self.catch_up, self.limits.catch_up);
    }

    /// What blocked a line when the stage was asked last; `None` if nothing did, or nothing was
    /// due.
    pub(crate) fn blocked_in(&self, line: Line) -> Option<Blocked> {
        self.blocked_lines[line as usize].clone()
    }

    pub(crate) fn clear_blocked(&mut self) {
        self.blocked_lines = [const { None }; Line::ALL.len()];
    }

    pub(crate) fn set_blocked(&mut self, line: Line, why: Blocked) {
        self.blocked_lines[line as usize] = Some(why);
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.iter().sum()
    }

    /// This process's part of the concurrent calls: at least one.
    pub(crate) fn calls_max(&self) -> usize {
        ((self.limits.calls_max as f64 * self.part).ceil() as usize).max(1)
    }

    /// How much may be done in any line.
    pub(crate) fn room(&mut self, now: Time) -> Result<Room, Blocked> {
        if self.paused && !planted!(PauseIgnored) {
            return Err(Blocked::Paused);
        }
        let mut room = Room { visits: self.limits.batch_max, probe: false };
        if let Some(down) = self.health.down() {
            if now < down.probe || self.calls() > 0 {
                return Err(Blocked::Down(down.probe));
            }
            room = Room { visits: 1, probe: true };
        }
        if self.calls() >= self.calls_max() {
            return Err(Blocked::Calls);
        }
        room.visits = room.visits.min(free(self.rate.as_mut(), now)?);
        Ok(room)
    }

    /// How much may be done in a line. A part of the calls is reserved for fresh work, if there is
    /// more than one.
    pub(crate) fn room_in(&mut self, line: Line, now: Time) -> Result<usize, Blocked> {
        let calls_max = self.calls_max();
        let for_others = (calls_max - calls_max.div_ceil(FRESH_CALLS_PART)).max(1);
        let others = self.calls() - self.calls[Line::Fresh as usize];
        if line != Line::Fresh && others >= for_others {
            return Err(Blocked::Calls);
        }
        // The background must not fill the machine.
        if line == Line::Background && self.calls[line as usize] >= calls_max.div_ceil(BACKGROUND_CALLS_PART)
        {
            return Err(Blocked::Calls);
        }
        match line {
            Line::Fresh | Line::Timer => Ok(usize::MAX),
            Line::Late => free(self.catch_up.as_mut(), now),
            Line::Background => Ok(self.limits.batch_max.div_ceil(BACKGROUND_BATCH_PART)),
        }
    }

    pub(crate) fn order(&self) -> [Line; Line::ALL.len()] {
        self.shares.order()
    }

    pub(crate) fn took(&mut self, line: Line, visits: usize, waits: impl Fn(Line) -> bool) {
        self.calls[line as usize] += 1;
        if let Some(bucket) = &mut self.rate {
            bucket.take(visits);
        }
        if let (Line::Late, Some(bucket)) = (line, &mut self.catch_up) {
            bucket.take(visits);
        }
        let limits = &self.limits;
        let share = |line| match line {
            Line::Fresh => 1.0,
            Line::Timer => limits.timer_share,
            Line::Late | Line::Background => limits.background_share,
        };
        let mut shares = mem::take(&mut self.shares);
        shares.took(line, visits, waits, share);
        self.shares = shares;
    }

    pub(crate) fn ended(&mut self, line: Line, took: Duration) {
        let calls = &mut self.calls[line as usize];
        *calls = calls.saturating_sub(1);
        self.pace = Some(self.pace.map_or(took, |pace| (pace * 3 + took) / 4));
    }

    /// Whether its calls take long, or are of unknown length: then it gives way to quicker stages.
    pub(crate) fn is_slow(&self) -> bool {
        self.pace.is_none_or(|pace| pace > SLOW_CALL)
    }

    /// Whether slow stages give way to it: it is quick, and not blocked for long.
    pub(crate) fn is_quick(&self) -> bool {
        let is_free = !self.paused && self.health.down().is_none();
        is_free
            && self.pace.is_some_and(|pace| pace <= SLOW_CALL)
            && !matches!(self.blocked, Some(Blocked::Rate(_)))
    }
}

fn free(bucket: Option<&mut TokenBucket>, now: Time) -> Result<usize, Blocked> {
    let Some(bucket) = bucket else { return Ok(usize::MAX) };
    match bucket.room(now) {
        (0, next) => Err(Blocked::Rate(next)),
        (room, _) => Ok(room),
    }
}
