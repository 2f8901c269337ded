//! How a watcher works.

use std::time::Duration;

use crate::limits::SHARDS_MAX;
use crate::{Error, Result};

/// How a watcher works. Every value has a default that is right for a start.
#[derive(Clone, Debug)]
pub struct Config {
    /// Shards of this kind of entities. Chosen once: a store keeps the number that it was first used with and refuses another.
    pub shards: u32,
    /// When several stages are to visit an entity because of one change, each visit is put off by a random part of this, so that they do
    /// not meet. Zero: not at all.
    pub spread: Duration,
    /// How many changes stages may make to one entity.
    pub budget: Budget,
    /// The topic that hears of every change; `None`: nobody does.
    pub topic: Option<String>,
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

impl Default for Config {
    fn default() -> Self {
        let (window, delay, delay_max) =
            (Duration::from_secs(60), Duration::from_secs(5), Duration::from_secs(3600));
        let budget = Budget { changes: 30, window, delay, delay_max };
        Self { shards: 64, spread: Duration::ZERO, budget, topic: None }
    }
}

impl Config {
    pub(crate) fn validate(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::Setup { what });
        if self.shards == 0 || self.shards > SHARDS_MAX {
            return wrong(format!("shards must be from 1 to {SHARDS_MAX}, not {}", self.shards));
        }
        if self.budget.changes == 0 || self.budget.window.is_zero() {
            return wrong("the budget of changes must allow at least one change in some time".to_owned());
        }
        Ok(())
    }
}
