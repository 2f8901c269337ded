//! Records which ads stages visit, and when: one slot for each ad of a measurement.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use watcher::{Clock, Time};

/// The poll interval of callers that wait for visits.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Records the first visit to each ad. Cheap to clone; all clones share one log.
#[derive(Clone)]
pub(super) struct Log {
    inner: Arc<Inner>,
}

struct Inner {
    clock: BenchClock,
    /// The first visit to each ad, in microseconds of the clock; zero: not yet.
    visited_us: Vec<AtomicU64>,
    /// Visits to ads with numbers below this are counted.
    counted: u64,
    count: AtomicU64,
}

impl Log {
    /// A log for the ads with numbers below `ads`.
    pub(super) fn new(clock: &BenchClock, ads: u64) -> Self {
        Self::counting(clock, ads, ads)
    }

    /// A log for the ads with numbers below `ads`; those below `counted` are counted.
    pub(super) fn counting(clock: &BenchClock, ads: u64, counted: u64) -> Self {
        let visited_us = (0..ads).map(|_| AtomicU64::new(0)).collect();
        let (clock, count) = (clock.clone(), AtomicU64::new(0));
        Self { inner: Arc::new(Inner { clock, visited_us, counted, count }) }
    }

    /// Records a visit to an ad. Further visits to the same ad do not count.
    pub(super) fn visit(&self, number: u64) {
        let Some(visited) = self.inner.visited_us.get(number as usize) else { return };
        let now = self.inner.clock.elapsed_us().max(1);
        let is_first = visited.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_first && number < self.inner.counted {
            self.inner.count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The first visit to an ad, in microseconds of the clock.
    pub(super) fn visited_us(&self, number: u64) -> Option<u64> {
        self.inner.visited_us.get(number as usize).map(|us| us.load(Ordering::Relaxed)).filter(|us| *us > 0)
    }

    /// Counted ads that were visited so far.
    pub(super) fn count(&self) -> u64 {
        self.inner.count.load(Ordering::Relaxed)
    }

    /// Waits until this many ads were visited; an error after `patience` without any visit.
    pub(super) async fn reaches(&self, count: u64, patience: Duration) -> anyhow::Result<()> {
        let (mut seen, mut since) = (self.count(), Instant::now());
        while self.count() < count {
            tokio::time::sleep(LOOK_EVERY).await;
            if self.count() > seen {
                (seen, since) = (self.count(), Instant::now());
            }
            let silent = since.elapsed();
            anyhow::ensure!(silent < patience, "no visit for {silent:?}: {seen} of {count} were made");
        }
        Ok(())
    }
}

/// The machine's clock, with jumps to the future. All clones share one clock.
#[derive(Clone)]
pub(super) struct BenchClock {
    start: Instant,
    start_ms: i64,
    jumped_ms: Arc<AtomicI64>,
}

impl BenchClock {
    pub(super) fn new() -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let start_ms = since_1970.as_millis().try_into().unwrap_or(i64::MAX);
        Self { start: Instant::now(), start_ms, jumped_ms: Arc::default() }
    }

    /// Real time since the clock was created.
    pub(super) fn elapsed_us(&self) -> u64 {
        self.start.elapsed().as_micros().try_into().unwrap_or(u64::MAX)
    }

    pub(super) fn now(&self) -> Time {
        Time::from_ms(self.start_ms + self.jumped_ms.load(Ordering::Relaxed)) + self.start.elapsed()
    }

    /// Sets the clock to this time if that is later than now.
    pub(super) fn jump_to(&self, time: Time) {
        let ahead: i64 = time.since(self.now()).as_millis().try_into().unwrap_or(i64::MAX);
        self.jumped_ms.fetch_add(ahead, Ordering::Relaxed);
    }

    /// Converts a time to the scale of [`elapsed_us`](Self::elapsed_us), with the jumps so far.
    pub(super) fn as_elapsed_us(&self, time: Time) -> u64 {
        let start_ms = self.start_ms + self.jumped_ms.load(Ordering::Relaxed);
        u64::try_from(time.as_ms() - start_ms).unwrap_or(0) * 1000
    }

    pub(super) fn for_watcher(&self) -> Clock {
        let clock = self.clone();
        Clock::new(move || clock.now())
    }
}

/// Latencies with their percentiles.
#[derive(Debug, Default)]
pub(super) struct Times {
    sorted_us: Vec<u64>,
}

impl FromIterator<u64> for Times {
    fn from_iter<I: IntoIterator<Item = u64>>(us: I) -> Self {
        let mut sorted_us: Vec<u64> = us.into_iter().collect();
        sorted_us.sort_unstable();
        Self { sorted_us }
    }
}

impl Times {
    pub(super) fn len(&self) -> usize {
        self.sorted_us.len()
    }

    /// The latency below which this many per cent stayed, in milliseconds.
    pub(super) fn percentile_ms(&self, percent: usize) -> f64 {
        let at = (self.sorted_us.len() * percent / 100).min(self.sorted_us.len().saturating_sub(1));
        self.sorted_us.get(at).map_or(0.0, |us| *us as f64 / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_visit_to_an_ad_counts() {
        let log = Log::counting(&BenchClock::new(), 3, 2);
        for number in [1, 1, 0, 2, 7] {
            log.visit(number);
        }
        assert_eq!((log.count(), log.visited_us(7)), (2, None));
        assert!(log.visited_us(0) >= log.visited_us(1) && log.visited_us(1).is_some());
    }

    #[test]
    fn a_clock_that_jumped_still_tells_how_far_away_a_moment_is() {
        let clock = BenchClock::new();
        let later = clock.now() + Duration::from_secs(3600);
        clock.jump_to(later);
        assert!(clock.now() >= later);
        assert!(clock.as_elapsed_us(later) <= clock.elapsed_us() + 1000);
    }

    #[test]
    fn percentiles_come_from_the_sorted_times() {
        let times: Times = (1..=200).rev().map(|n| n * 1000).collect();
        assert!((times.percentile_ms(50) - 101.0).abs() < 0.001);
        assert!((times.percentile_ms(99) - 199.0).abs() < 0.001);
        assert!(Times::default().percentile_ms(99).abs() < 0.001);
    }
}
