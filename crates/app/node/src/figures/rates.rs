//! Rates of counters.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

/// Remembers the last values of counters. A counter that is not reported for a while is forgotten.
#[derive(Debug, Default)]
pub(super) struct Rates {
    last: BTreeMap<String, Last>,
}

#[derive(Debug)]
struct Last {
    value: f64,
    /// When the value last changed.
    time: Instant,
    seen: Instant,
    rate: f64,
}

impl Rates {
    /// The growth per second since the last reading. NaN at the first reading and after a reset. An
    /// unchanged counter keeps its rate for `hold`, because it may be reported less often than it
    /// is read.
    pub(super) fn rate(&mut self, key: String, value: f64, now: Instant, hold: Duration) -> f64 {
        let Some(last) = self.last.get_mut(&key) else {
            self.last.insert(key, Last { value, time: now, seen: now, rate: f64::NAN });
            return f64::NAN;
        };
        last.seen = now;
        let passed = now.saturating_duration_since(last.time);
        let grown = value - last.value;
        let stands_still = grown.abs() < f64::EPSILON;
        if stands_still && passed < hold || passed.is_zero() {
            return last.rate;
        }
        last.rate = if grown < 0.0 { f64::NAN } else { grown / passed.as_secs_f64() };
        (last.value, last.time) = (value, now);
        last.rate
    }

    /// Forgets counters that were not reported for longer than `after`.
    pub(super) fn forget(&mut self, now: Instant, after: Duration) {
        self.last.retain(|_, last| now.saturating_duration_since(last.seen) <= after);
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_what_a_counter_grew_over_the_time_that_passed() {
        let (mut rates, began) = (Rates::default(), Instant::now());
        let at = |s| began + Duration::from_secs(s);
        let mut rate =
            |value: f64, s, hold| rates.rate("visits".to_owned(), value, at(s), Duration::from_secs(hold));
        assert!(rate(100.0, 10, 0).is_nan(), "nothing is known before");
        assert_eq!(rate(120.0, 12, 0), 10.0);
        assert_eq!(rate(120.0, 14, 0), 0.0, "it stands still");
        assert_eq!(rate(130.0, 16, 8), 5.0);
        assert_eq!(rate(130.0, 18, 8), 5.0, "it may not have been told yet");
        assert_eq!(rate(150.0, 20, 8), 5.0, "20 in 4 s");
        assert_eq!(rate(150.0, 28, 8), 0.0, "it stands still after all");
        assert!(rate(1.0, 30, 0).is_nan(), "it began anew");
        assert_eq!(rate(3.0, 32, 0), 1.0);
    }

    #[test]
    fn counters_that_are_gone_are_forgotten() {
        let (mut rates, began) = (Rates::default(), Instant::now());
        let at = |s| began + Duration::from_secs(s);
        rates.rate("a".to_owned(), 1.0, at(0), Duration::ZERO);
        rates.forget(at(61), Duration::from_secs(60));
        assert!(rates.rate("a".to_owned(), 5.0, at(62), Duration::ZERO).is_nan());
    }
}
