//! How a watcher works.

use std::time::Duration;

use crate::limits::{LEASE_TIME_MIN, SHARDS_MAX};
use crate::{Error, Result};

/// How a watcher works. Every value has a default that is right for a start.
#[derive(Clone, Debug)]
pub struct Config {
    /// Shards of this kind of entities. Chosen once: a store keeps the number that it was first used with and refuses another.
    pub shards: u32,
    /// When several stages are to visit an entity because of one change, each visit is put off by a random part of this, so that they do
    /// not meet. Zero: not at all.
    pub spread: Duration,
    /// How long a process that is silent keeps its shards.
    pub lease_time: Duration,
    /// How many changes stages may make to one entity.
    pub budget: Budget,
    /// What stages may do unless their own limits say something else.
    pub stages: StageLimits,
}

/// How many changes stages may make to one entity in a while. Beyond that they are taken to fight over it, and their visits are put off for
/// longer and longer.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// So many changes,
    pub changes: u32,
    /// in so much time.
    pub window: Duration,
    /// The first delay; it doubles with every further change.
    pub delay: Duration,
    /// The longest delay.
    pub delay_max: Duration,
}

/// What one stage may do, and what happens when it fails.
#[derive(Clone, Copy, Debug)]
pub struct StageLimits {
    /// Calls at the same time.
    pub calls_max: usize,
    /// Entities in one call.
    pub batch_max: usize,
    /// How long one call may take.
    pub timeout: Duration,
    /// Attempts at a visit before it is parked.
    pub attempts_max: u32,
    /// The pause after the first failed attempt; it doubles with every further one, and a random half of it is left out.
    pub pause: Duration,
    /// The longest pause.
    pub pause_max: Duration,
}

impl StageLimits {
    /// The pause after so many failed attempts, before chance shortens it.
    pub(crate) fn pause_after(&self, attempts: u32) -> Duration {
        self.pause.saturating_mul(1 << attempts.saturating_sub(1).min(20)).min(self.pause_max)
    }
}

impl Default for StageLimits {
    fn default() -> Self {
        let (timeout, pause, pause_max) =
            (Duration::from_secs(10), Duration::from_secs(1), Duration::from_secs(600));
        Self { calls_max: 8, batch_max: 16, timeout, attempts_max: 20, pause, pause_max }
    }
}

impl Default for Config {
    fn default() -> Self {
        let (window, delay, delay_max) =
            (Duration::from_secs(60), Duration::from_secs(5), Duration::from_secs(3600));
        let budget = Budget { changes: 30, window, delay, delay_max };
        let lease_time = Duration::from_secs(15);
        let stages = StageLimits::default();
        Self { shards: 64, spread: Duration::ZERO, lease_time, budget, stages }
    }
}

impl Config {
    pub(crate) fn validate(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::Setup { what });
        if self.shards == 0 || self.shards > SHARDS_MAX {
            return wrong(format!("shards must be from 1 to {SHARDS_MAX}, not {}", self.shards));
        }
        if self.lease_time < LEASE_TIME_MIN {
            return wrong(format!(
                "the lease time must be at least {LEASE_TIME_MIN:?}, not {:?}",
                self.lease_time
            ));
        }
        if self.budget.changes == 0 || self.budget.window.is_zero() {
            return wrong("the budget of changes must allow at least one change in some time".to_owned());
        }
        let StageLimits { calls_max, batch_max, timeout, attempts_max, .. } = self.stages;
        if timeout.is_zero() || [calls_max, batch_max].contains(&0) || attempts_max == 0 {
            let what = "a stage needs some time for a call, one attempt, and one call of one entity at a time at least";
            return wrong(what.to_owned());
        }
        Ok(())
    }
}
