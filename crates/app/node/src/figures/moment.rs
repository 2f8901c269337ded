//! When something was, and what is known since then.

use std::time::Duration;

use clock::{Clock, Time};
use tokio::time::Instant;

use super::limits::KNOWN_FOR;

/// A moment, by the clock of the machine, which somebody may set, and by one that nobody moves. How
/// much time has passed is told by the second one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) time: Time,
    pub(super) instant: Instant,
}

impl Moment {
    pub(super) fn now(clock: &Clock) -> Self {
        Self { time: clock.now(), instant: Instant::now() }
    }

    /// The time from another moment to this one.
    pub(super) fn since(self, other: Moment) -> Duration {
        self.instant.saturating_duration_since(other.instant)
    }
}

#[cfg(test)]
impl Moment {
    /// So many seconds after this one.
    pub(super) fn after(self, s: u64) -> Self {
        let passed = Duration::from_secs(s);
        Self { time: self.time + passed, instant: self.instant + passed }
    }
}

/// Something that was read.
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

    /// What is known, unless that was long ago.
    pub(super) fn at(&self, now: Moment) -> Option<&T> {
        self.read_at(now).map(|(_, value)| value)
    }

    /// The same, with the moment at which it was read.
    pub(super) fn read_at(&self, now: Moment) -> Option<(Moment, &T)> {
        let (read, value) = self.0.as_ref()?;
        (now.since(*read) <= KNOWN_FOR).then_some((*read, value))
    }

    /// A time of the past in what is known, moved on by the time that has passed since it was read:
    /// what waited then need not wait any more, so that nothing grows older by not being looked at.
    pub(super) fn as_read(&self, time: Time, now: Moment) -> Time {
        let passed = self.0.as_ref().map_or(Duration::ZERO, |(read, _)| now.since(*read));
        time + passed
    }
}
