//! Conversion of times to and from protobuf.

use buffa_types::google::protobuf::Timestamp;
use watcher::Time;

/// Seconds since 1970 that JSON can represent: the years 1 to 9999.
const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Whether JSON can represent a time. Other times must not be stored.
#[must_use]
pub fn is_possible(time: &Timestamp) -> bool {
    SECONDS.contains(&time.seconds) && (0..1_000_000_000).contains(&time.nanos)
}

/// Milliseconds since 1970.
#[must_use]
pub fn to_ms(time: &Timestamp) -> i64 {
    time.seconds.saturating_mul(1000).saturating_add(i64::from(time.nanos) / 1_000_000)
}

/// Converts a time; one outside the years 1 to 9999 becomes the nearest valid time.
#[must_use]
pub fn from_time(time: Time) -> Timestamp {
    let ms = time.as_ms().clamp(SECONDS.start() * 1000, SECONDS.end() * 1000 + 999);
    let nanos = i32::try_from(ms.rem_euclid(1000)).unwrap_or(0) * 1_000_000;
    Timestamp { seconds: ms.div_euclid(1000), nanos, ..Timestamp::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_becomes_a_valid_time() {
        for ms in [i64::MIN, i64::MAX, -1, 0, 1_700_000_000_123, -62_135_596_800_001, 253_402_300_800_000] {
            assert!(is_possible(&from_time(Time::from_ms(ms))), "{ms}");
        }
        assert_eq!(to_ms(&from_time(Time::from_ms(1_700_000_000_123))), 1_700_000_000_123);
        for (seconds, nanos) in
            [(i64::MIN, 0), (i64::MAX, 0), (0, -1), (0, 1_000_000_000), (253_402_300_800, 0)]
        {
            assert!(!is_possible(&Timestamp { seconds, nanos, ..Timestamp::default() }), "{seconds} {nanos}");
        }
    }
}
