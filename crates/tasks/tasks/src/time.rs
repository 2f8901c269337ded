//! Moments of the clock, and moments of tasks.

use std::time::Duration;

use clock::Time;
use jiff::Timestamp;

/// The same moment, saturated at the range of [`Timestamp`].
pub(crate) fn timestamp(time: Time) -> Timestamp {
    let nearest = if time.as_ms() < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(time.as_ms()).unwrap_or(nearest)
}

/// How long to wait from a moment of the clock until a moment of a task. Moments are exact to the
/// nanosecond, the clock to the millisecond: rounded up.
pub(crate) fn until(now: Time, moment: Timestamp) -> Duration {
    let ms = moment.as_millisecond();
    let exact = Timestamp::from_millisecond(ms).is_ok_and(|at| at >= moment);
    Time::from_ms(if exact { ms } else { ms.saturating_add(1) }).since(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_when_the_moment_has_come_and_not_before() {
        let now = Time::from_ms(1000);
        for (nanos, ms) in [(1_000_000_000_i128, 0), (1_000_000_001, 1), (1_001_000_000, 1), (999_000_000, 0)]
        {
            let moment = Timestamp::from_nanosecond(nanos).unwrap();
            assert_eq!(until(now, moment), Duration::from_millis(ms), "{nanos}");
            assert!(timestamp(now + until(now, moment)) >= moment);
        }
    }
}
