//! Time: milliseconds since 1970, and a clock that is passed in.
//!
//! Core crates never read the system clock: their callers pass a [`Clock`], and tests pass one that
//! they move.

use std::fmt;
use std::ops::{Add, Sub};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(i64);

impl Time {
    pub const FIRST: Self = Self(i64::MIN);

    #[must_use]
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// Saturates at the bounds of the range.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    #[must_use]
    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// The time since an earlier moment; zero if it is not earlier.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0).max(0).unsigned_abs())
    }
}

impl Add<Duration> for Time {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Time {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(time) => write!(f, "{time}"),
            // Beyond the year 9999.
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

/// Cheap to clone.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Time + Send + Sync>);

impl Clock {
    pub fn new(now: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The system clock.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where a program may choose the machine's clock"
    )]
    pub fn system() -> Self {
        Self::new(|| {
            let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            Time::default() + since_1970.unwrap_or_default()
        })
    }

    /// A clock that starts at a moment and follows tokio's clock, which tests can pause.
    #[must_use]
    pub fn starting_at(start: Time) -> Self {
        let began = Instant::now();
        Self::new(move || start + began.elapsed())
    }

    #[must_use]
    pub fn now(&self) -> Time {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_reads_as_people_write_it() {
        assert_eq!(Time::from_ms(1_700_000_000_500).to_string(), "2023-11-14T22:13:20.5Z");
        assert_eq!(Time::FIRST.to_string(), "-9223372036854775808 ms");
    }

    #[test]
    fn times_stay_in_their_range() {
        assert_eq!(Time::FIRST - Duration::from_secs(1), Time::FIRST);
        assert_eq!(Time::from_ms(i64::MAX) + Duration::MAX, Time::from_ms(i64::MAX));
        assert_eq!(Time::from_seconds(i64::MAX), Time::from_ms(i64::MAX));
        assert_eq!(Time::from_ms(5).since(Time::from_ms(9)), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_goes_with_tokios() {
        let clock = Clock::starting_at(Time::from_seconds(5));
        tokio::time::advance(Duration::from_millis(1500)).await;
        assert_eq!(clock.now(), Time::from_ms(6500));
        assert_eq!(format!("{:?}", clock.clone()), "Clock(1970-01-01T00:00:06.5Z)");
    }
}
