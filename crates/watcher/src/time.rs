//! Time: milliseconds since 1970, and a clock that is passed in.

use std::fmt;
use std::ops::{Add, Sub};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

/// A moment, in milliseconds since 1970 (UTC).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(i64);

impl Time {
    /// No moment is earlier.
    pub const FIRST: Self = Self(i64::MIN);

    /// The moment so many milliseconds after 1970 began.
    #[must_use]
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// The time from an earlier moment to this one; zero if that moment is not earlier.
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
        write!(f, "{} ms", self.0)
    }
}

/// Tells the time. Cheap to clone.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Time + Send + Sync>);

impl Clock {
    /// A clock that asks a function.
    pub fn new(now: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The machine's clock.
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

    /// A clock that starts at a moment and goes with tokio's clock, which tests can pause.
    #[must_use]
    pub fn starting_at(start: Time) -> Self {
        let began = Instant::now();
        Self::new(move || start + began.elapsed())
    }

    /// What time it is.
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
