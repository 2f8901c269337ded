//! The configuration of a watcher.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::limits::{BATCH_MAX, CALLS_MAX, DURATION_MAX, LEASE_TIME_MIN, SHARDS_MAX};
use crate::{Error, Result};

/// Every value has a usable default.
#[derive(Clone, Debug)]
pub struct Config {
    /// Shards of this kind of entities. Fixed by the first use of a store, which refuses another
    /// number.
    pub shards: u32,
    /// When several stages are to visit an entity because of one change, each visit is delayed by a
    /// random part of this, so that they do not collide. Zero: no delay.
    pub spread: Duration,
    /// How long a silent process keeps its shards.
    pub lease_time: Duration,
    pub budget: Budget,
    /// The limits of stages that have none of their own.
    pub stages: StageLimits,
    /// The limits of single stages, by id.
    pub limits: BTreeMap<String, StageLimits>,
}

/// How many changes stages may make to one entity in a time. Beyond that they count as fighting
/// over it, and their visits are delayed more and more.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub changes: u32,
    pub window: Duration,
    /// The first delay; it doubles with every further change.
    pub delay: Duration,
    pub delay_max: Duration,
}

/// What one stage may do, and what happens when it fails. Calls and rates are for all processes
/// together: each gets a part in proportion to its shards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageLimits {
    /// Visits a second; `None`: no limit.
    pub rate: Option<f64>,
    /// Concurrent calls; every process may make at least one.
    pub calls_max: usize,
    /// Entities in one call.
    pub batch_max: usize,
    /// The longest time of one call.
    pub timeout: Duration,
    /// Attempts at a visit before it is parked.
    pub attempts_max: u32,
    /// The pause after the first failed attempt; it doubles with every further one. A random half
    /// of it is left out.
    pub pause: Duration,
    pub pause_max: Duration,
    /// Visits a second of timers that came due while they could not be served: the shard had no
    /// owner, or the stage was paused or down. `None`: no limit.
    pub catch_up: Option<f64>,
    /// The share of visits that timers get while there is always fresh work.
    pub timer_share: f64,
    /// The share of visits that the background and late timers get.
    pub background_share: f64,
}

impl StageLimits {
    /// Checks the limits; the error says what is wrong.
    pub fn validate(&self) -> Result<(), String> {
        let Self { calls_max, batch_max, timeout, attempts_max, .. } = *self;
        for (name, per_second) in [("rate", self.rate), ("catch_up", self.catch_up)] {
            if let Some(per_second) = per_second
                && !(per_second.is_finite() && per_second > 0.0)
            {
                return Err(format!(
                    "{name} must be more than 0 in a second, not {per_second}: pause a stage that is not to be visited"
                ));
            }
        }
        if calls_max > CALLS_MAX || batch_max > BATCH_MAX {
            return Err(format!("at most {CALLS_MAX} calls of {BATCH_MAX} entities can be at a time"));
        }
        if [timeout, self.pause, self.pause_max].iter().any(|time| *time > DURATION_MAX) {
            return Err(format!("no time-out or pause can be longer than {DURATION_MAX:?}"));
        }
        if timeout.is_zero() || [calls_max, batch_max].contains(&0) || attempts_max == 0 {
            let what =
                "it needs some time for a call, one attempt, and one call of one entity at a time at least";
            return Err(what.to_owned());
        }
        for (name, share) in [("timer_share", self.timer_share), ("background_share", self.background_share)]
        {
            if !(0.0..=0.5).contains(&share) {
                return Err(format!("{name} must be from 0 to 0.5, not {share}"));
            }
        }
        Ok(())
    }

    /// The pause after this many failed attempts, before it is randomized.
    pub(crate) fn pause_after(&self, attempts: u32) -> Duration {
        self.pause.saturating_mul(1 << attempts.saturating_sub(1).min(20)).min(self.pause_max)
    }
}

impl Default for StageLimits {
    fn default() -> Self {
        let (timeout, pause, pause_max) =
            (Duration::from_secs(10), Duration::from_secs(1), Duration::from_secs(600));
        let (rate, catch_up) = (None, Some(1000.0));
        let (timer_share, background_share) = (0.3, 0.1);
        Self {
            rate,
            calls_max: 16,
            batch_max: 16,
            timeout,
            attempts_max: 20,
            pause,
            pause_max,
            catch_up,
            timer_share,
            background_share,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        let (window, delay, delay_max) =
            (Duration::from_secs(60), Duration::from_secs(5), Duration::from_secs(3600));
        let budget = Budget { changes: 30, window, delay, delay_max };
        let lease_time = Duration::from_secs(15);
        let (stages, limits) = (StageLimits::default(), BTreeMap::new());
        Self { shards: 64, spread: Duration::ZERO, lease_time, budget, stages, limits }
    }
}

impl Config {
    pub(crate) fn validate(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::Setup { what });
        if self.shards == 0 || self.shards > SHARDS_MAX {
            return wrong(format!("shards must be from 1 to {SHARDS_MAX}, not {}", self.shards));
        }
        if !(LEASE_TIME_MIN..=DURATION_MAX).contains(&self.lease_time) {
            return wrong(format!(
                "the lease time must be from {LEASE_TIME_MIN:?} to {DURATION_MAX:?}, not {:?}",
                self.lease_time
            ));
        }
        let Budget { window, delay, delay_max, .. } = self.budget;
        if [self.spread, window, delay, delay_max].iter().any(|time| *time > DURATION_MAX) {
            return wrong(format!("no spread, window or delay can be longer than {DURATION_MAX:?}"));
        }
        if self.budget.changes == 0 || self.budget.window.is_zero() {
            return wrong("the budget of changes must allow at least one change in some time".to_owned());
        }
        if let Err(what) = self.stages.validate() {
            return wrong(format!("the limits of all stages: {what}"));
        }
        Ok(())
    }
}
