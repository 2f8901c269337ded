//! Cooldowns: shards that were served a moment ago wait, so that what comes meanwhile goes
//! together.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

/// The shards that wait, each for the same time, and which of them have something to do afterwards.
#[derive(Debug)]
pub(super) struct Cooldowns {
    time: Duration,
    /// The first to end is in front.
    ends: VecDeque<(Instant, u32)>,
    wanted: BTreeMap<u32, bool>,
}

impl Cooldowns {
    pub(super) fn new(time: Duration) -> Self {
        Self { time, ends: VecDeque::new(), wanted: BTreeMap::new() }
    }

    /// Starts a cooldown, unless one is under way.
    pub(super) fn begin(&mut self, shard: u32, now: Instant) {
        if self.wanted.insert(shard, false).is_none() {
            self.ends.push_back((now + self.time, shard));
        }
    }

    /// Notes that a shard has something to do; `false` if it does not wait.
    pub(super) fn want(&mut self, shard: u32) -> bool {
        let waits = self.wanted.get_mut(&shard);
        waits.map(|wanted| *wanted = true).is_some()
    }

    /// The shards whose cooldown is over and which have something to do.
    pub(super) fn over(&mut self, now: Instant) -> Vec<u32> {
        let mut over = Vec::new();
        while let Some((end, shard)) = self.ends.front().copied()
            && end <= now
        {
            self.ends.pop_front();
            over.extend(self.wanted.remove(&shard).filter(|wanted| *wanted).map(|_| shard));
        }
        over
    }

    /// The first end of a cooldown of a shard with something to do.
    pub(super) fn next_end(&self) -> Option<Instant> {
        self.ends.iter().find(|(_, shard)| self.wanted.get(shard) == Some(&true)).map(|(end, _)| *end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn only_shards_that_have_something_to_do_come_back_from_their_rest() {
        let (mut cooldowns, start) = (Cooldowns::new(2 * SECOND), Instant::now());
        cooldowns.begin(1, start);
        cooldowns.begin(2, start + SECOND);
        cooldowns.begin(3, start + SECOND);
        assert!(!cooldowns.want(4));
        assert_eq!(cooldowns.next_end(), None);
        assert!(cooldowns.want(3));
        assert_eq!(cooldowns.next_end(), Some(start + 3 * SECOND));
        assert!(cooldowns.over(start + 2 * SECOND).is_empty());
        assert!(!cooldowns.want(1));
        assert_eq!(cooldowns.over(start + 3 * SECOND), [3]);
        assert_eq!(cooldowns.next_end(), None);
    }
}
