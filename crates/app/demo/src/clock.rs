//! A simulated clock that sets creation and expiry times of offers.
//!
//! While the demo creates its past offers, it sets the clock itself: from half a year ago to the
//! present. Afterwards the clock runs at the speed of `--demo-speed`. It never goes back, not even
//! over a restart. Leases, pauses and call timeouts use the real clock.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use clock::{Clock, Time};

use super::folder::{Folder, SavedTime};
use super::limits::{CLOCK_SAVED_EVERY, OFFERS_AT_FIRST, PAST, PAST_WHEN_READY, SETTLING};

/// The clock of one demo. Cheap to clone.
#[derive(Clone)]
pub(super) struct DemoClock {
    inner: Arc<Inner>,
}

struct Inner {
    speed: u32,
    /// The time while it is set from outside.
    moved_to_ms: AtomicI64,
    /// The time at which the clock started to run, and the real time of that start.
    runs: OnceLock<(i64, Instant)>,
    was_moved: AtomicBool,
}

impl DemoClock {
    /// A stopped clock, to be set from outside.
    pub(super) fn standing_at(now_ms: i64, speed: u32) -> DemoClock {
        let moved_to_ms = AtomicI64::new(now_ms);
        let was_moved = AtomicBool::new(false);
        DemoClock { inner: Arc::new(Inner { speed, moved_to_ms, runs: OnceLock::new(), was_moved }) }
    }

    /// Sets a clock that does not run yet. Ignores a time in the past.
    pub(super) fn move_to(&self, now_ms: i64) {
        self.inner.was_moved.store(true, Ordering::Relaxed);
        self.inner.moved_to_ms.fetch_max(now_ms, Ordering::Relaxed);
    }

    /// Starts the clock at `now_ms` or at its current time, whichever is later.
    pub(super) fn run_from(&self, now_ms: i64) {
        self.inner.moved_to_ms.fetch_max(now_ms, Ordering::Relaxed);
        let from = self.inner.moved_to_ms.load(Ordering::Relaxed);
        self.inner.runs.get_or_init(|| (from, Instant::now()));
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.inner.now_ms()
    }

    /// The same clock in its general type.
    pub(super) fn clock(&self) -> Clock {
        let inner = Arc::clone(&self.inner);
        Clock::new(move || Time::from_ms(inner.now_ms()))
    }

    pub(super) fn runs(&self) -> bool {
        self.inner.runs.get().is_some()
    }

    /// Whether the clock is set from outside, or was until recently. Offers made in that time and
    /// still queued look older than they are.
    pub(super) fn moves(&self) -> bool {
        let was_moved = self.inner.was_moved.load(Ordering::Relaxed);
        self.inner.runs.get().is_none_or(|(_, since)| was_moved && since.elapsed() < SETTLING)
    }

    /// A pause of the demo, in real time.
    pub(super) fn pause(&self, pause: Duration, least: Duration) -> Duration {
        (pause / self.inner.speed).max(least.min(pause))
    }

    /// The state to save.
    pub(super) fn time(&self) -> SavedTime {
        SavedTime { now_ms: self.now_ms(), speed: self.inner.speed }
    }

    /// The time at which the clock of an existing folder resumes: the present, or, if the clock was
    /// ahead, a time later than any that it can have shown since the last save.
    pub(super) fn resumed_ms(folder: &Folder, system_ms: i64) -> anyhow::Result<i64> {
        let Some(SavedTime { now_ms, speed }) = folder.saved_time()? else { return Ok(system_ms) };
        if speed == 1 && now_ms <= system_ms {
            return Ok(system_ms);
        }
        let unsaved = CLOCK_SAVED_EVERY.as_millis() as i64 * i64::from(speed);
        Ok(system_ms.max(now_ms.saturating_add(unsaved)))
    }
}

impl Inner {
    fn now_ms(&self) -> i64 {
        match self.runs.get() {
            Some((from, began)) => {
                let ran = began.elapsed().as_millis() as i64;
                from.saturating_add(ran.saturating_mul(i64::from(self.speed)))
            }
            None => self.moved_to_ms.load(Ordering::Relaxed),
        }
    }
}

/// The number of offers to create before the process is ready.
pub(super) fn at_first(offers: u32) -> u32 {
    OFFERS_AT_FIRST.min(offers.div_ceil(4))
}

/// The creation time of a past offer. The first offers are half a year old, and the intervals
/// between later ones become shorter.
pub(super) fn made_at_ms(started_ms: i64, number: u32, offers: u32) -> i64 {
    let first = at_first(offers);
    let (from, to, part) = if number < first {
        (PAST, PAST_WHEN_READY, f64::from(number) / f64::from(first))
    } else {
        let part = f64::from(number.min(offers) - first) / f64::from((offers - first).max(1));
        (PAST_WHEN_READY, Duration::ZERO, 1.0 - (1.0 - part).powf(1.4))
    };
    let (from_ms, to_ms) = (from.as_millis() as f64, to.as_millis() as f64);
    started_ms - (from_ms + (to_ms - from_ms) * part) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_past_begins_half_a_year_ago_and_ends_at_the_start() {
        let (start, past) = (2_000_000_000_000, PAST.as_millis() as i64);
        assert_eq!(made_at_ms(start, 0, 100), start - past);
        assert_eq!(made_at_ms(start, 100, 100), start);
        assert!((0..100).all(|number| made_at_ms(start, number, 100) < made_at_ms(start, number + 1, 100)));
    }

    #[test]
    fn a_clock_that_is_moved_stands_between_and_never_goes_back() {
        let clock = DemoClock::standing_at(1000, 1);
        clock.move_to(5000);
        clock.move_to(2000);
        assert_eq!(clock.now_ms(), 5000);
        assert!(clock.moves() && !clock.runs());
        clock.run_from(3000);
        assert!(clock.clock().now() >= Time::from_ms(5000));
        assert!(clock.moves(), "what was made meanwhile is still on its way");
        let resumed = DemoClock::standing_at(1000, 1);
        resumed.run_from(1000);
        assert!(!resumed.moves());
    }

    #[test]
    fn a_fast_clock_goes_on_behind_all_that_it_has_shown() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::take(&place.path().join("demo")).unwrap().open(0).unwrap();
        let resumed = |system_ms| DemoClock::resumed_ms(&folder, system_ms).unwrap();
        let save = |now_ms, speed| folder.save_time(SavedTime { now_ms, speed }).unwrap();
        assert_eq!(resumed(50), 50, "nothing was written down yet");
        save(40, 1);
        assert_eq!(resumed(50), 50);
        save(40, 100);
        assert_eq!(resumed(50), 500_040, "five seconds may have been lost");
        save(1_000_000, 1);
        assert_eq!(resumed(50), 1_005_000, "it was fast once, and stays ahead");
    }
}
