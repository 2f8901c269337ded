//! Points in time, and values that expire.

use std::time::Duration;

use clock::{Clock, Time};
use tokio::time::Instant;

use super::limits::KNOWN_FOR;

/// A point in time on the wall clock, which may be set, and on the monotonic clock. Durations are
/// computed with the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) time: Time,
    pub(super) instant: Instant,
}

impl Moment {
    pub(super) fn now(clock: &Clock) -> Self {
        Self { time: clock.now(), instant: Instant::now() }
    }

    pub(super) fn since(self, other: Moment) -> Duration {
        self.instant.saturating_duration_since(other.instant)
    }
}

#[cfg(test)]
impl Moment {
    pub(super) fn after(self, s: u64) -> Self {
        let passed = Duration::from_secs(s);
        Self { time: self.time + passed, instant: self.instant + passed }
    }
}

/// A value with the time at which it was read.
#[derive(Clone, Debug)]
pub(super) struct Known<T>(Option<(Moment, T)>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Known<T> {
    pub(super) fn learn(&mut self, now: Moment, value: T) {
        self.0 = Some((now, value));
    }

    /// The value, unless it has expired.
    pub(super) fn at(&self, now: Moment) -> Option<&T> {
        self.read_at(now).map(|(_, value)| value)
    }

    /// The value with the time at which it was read, unless it has expired.
    pub(super) fn read_at(&self, now: Moment) -> Option<(Moment, &T)> {
        let (read, value) = self.0.as_ref()?;
        (now.since(*read) <= KNOWN_FOR).then_some((*read, value))
    }

    /// Shifts a past time by the age of the reading. Something that waited at the reading may have
    /// finished since, so its age must not grow between readings.
    pub(super) fn as_read(&self, time: Time, now: Moment) -> Time {
        let passed = self.0.as_ref().map_or(Duration::ZERO, |(read, _)| now.since(*read));
        time + passed
    }
}
