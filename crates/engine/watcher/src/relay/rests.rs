//! Rests: shards that were served a moment ago wait a little, so that what comes meanwhile goes together.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

/// The shards that rest, each for the same time, and which of them have something to do afterwards.
#[derive(Debug)]
pub(super) struct Rests {
    time: Duration,
    /// The first to end stands in front.
    ends: VecDeque<(Instant, u32)>,
    wanted: BTreeMap<u32, bool>,
}

impl Rests {
    pub(super) fn new(time: Duration) -> Self {
        Self { time, ends: VecDeque::new(), wanted: BTreeMap::new() }
    }

    /// Has a shard rest from now on. One that rests already is not told twice.
    pub(super) fn begin(&mut self, shard: u32, now: Instant) {
        if self.wanted.insert(shard, false).is_none() {
            self.ends.push_back((now + self.time, shard));
        }
    }

    /// Notes that a shard has something to do; `false` if it does not rest.
    pub(super) fn want(&mut self, shard: u32) -> bool {
        let rests = self.wanted.get_mut(&shard);
        rests.map(|wanted| *wanted = true).is_some()
    }

    /// The shards whose rest is over and which have something to do.
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

    /// When the first rest ends that somebody waits for.
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
        let (mut rests, start) = (Rests::new(2 * SECOND), Instant::now());
        rests.begin(1, start);
        rests.begin(2, start + SECOND);
        rests.begin(3, start + SECOND);
        assert!(!rests.want(4));
        assert_eq!(rests.next_end(), None);
        assert!(rests.want(3));
        assert_eq!(rests.next_end(), Some(start + 3 * SECOND));
        assert!(rests.over(start + 2 * SECOND).is_empty());
        assert!(!rests.want(1));
        assert_eq!(rests.over(start + 3 * SECOND), [3]);
        assert_eq!(rests.next_end(), None);
    }
}
