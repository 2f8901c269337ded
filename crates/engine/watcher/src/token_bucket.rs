//! A token bucket: limits the visits a second, with a short burst.

use std::time::Duration;

use clock::Time;

/// How much may gather while nothing is taken.
const BURST: Duration = Duration::from_millis(250);

/// Time is passed in; a clock that goes back stops it for that long, and no longer.
#[derive(Clone, Debug)]
pub(crate) struct TokenBucket {
    per_second: f64,
    level: f64,
    filled: Option<Time>,
}

impl TokenBucket {
    /// `per_second` is more than zero.
    pub(crate) fn new(per_second: f64) -> Self {
        Self { per_second, level: 0.0, filled: None }
    }

    pub(crate) fn set_speed(&mut self, per_second: f64) {
        self.per_second = per_second;
        self.level = self.level.min(self.most());
    }

    /// How many may be taken now, and when there is one more.
    pub(crate) fn room(&mut self, now: Time) -> (usize, Time) {
        self.fill(now);
        let missing = (self.level.floor() + 1.0 - self.level) / self.per_second;
        let wait = Duration::from_secs_f64(missing.clamp(0.001, 86_400.0));
        // Times are truncated to milliseconds.
        (self.level as usize, now + wait + Duration::from_millis(1))
    }

    /// Takes at most what [`room`](Self::room) allowed.
    pub(crate) fn take(&mut self, count: usize) {
        self.level -= count as f64;
    }

    fn most(&self) -> f64 {
        (self.per_second * BURST.as_secs_f64()).max(1.0)
    }

    fn fill(&mut self, now: Time) {
        let passed = self.filled.map_or(BURST, |filled| now.since(filled));
        self.level = (self.level + passed.as_secs_f64() * self.per_second).min(self.most());
        self.filled = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Time {
        Time::from_ms(ms)
    }

    /// Takes what there is room for as soon as possible, and counts.
    fn taken_in(bucket: &mut TokenBucket, seconds: i64) -> usize {
        let (mut now, mut count) = (at(0), 0);
        while now < at(seconds * 1000) {
            let (room, next) = bucket.room(now);
            bucket.take(room);
            count += room;
            assert!(next > now);
            now = next;
        }
        count
    }

    #[test]
    fn the_speed_is_kept_over_time() {
        for per_second in [0.1, 3.0, 1000.0] {
            let count = taken_in(&mut TokenBucket::new(per_second), 100) as f64;
            assert!((per_second * 99.0..per_second * 101.0 + 1.0).contains(&count), "{per_second}: {count}");
        }
    }

    #[test]
    fn what_was_not_taken_for_long_does_not_come_all_at_once() {
        let mut bucket = TokenBucket::new(100.0);
        assert_eq!(bucket.room(at(0)).0, 25);
        assert_eq!(bucket.room(at(3_600_000)).0, 25);
    }

    #[test]
    fn a_slow_bucket_still_holds_one() {
        let mut bucket = TokenBucket::new(0.01);
        assert_eq!(bucket.room(at(0)).0, 0, "and it has to be waited for");
        assert_eq!(bucket.room(at(100_000)).0, 1);
    }

    #[test]
    fn a_clock_that_goes_back_gives_nothing_for_nothing() {
        let mut bucket = TokenBucket::new(10.0);
        bucket.room(at(10_000));
        bucket.take(2);
        assert_eq!(bucket.room(at(5_000)).0, 0);
        assert_eq!(bucket.room(at(5_100)).0, 1);
    }
}
