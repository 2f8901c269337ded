//! Times as messages carry them.

use buffa_types::google::protobuf::Timestamp;
use watcher::Time;

/// Milliseconds since 1970.
#[must_use]
pub fn to_ms(time: &Timestamp) -> i64 {
    time.seconds.saturating_mul(1000).saturating_add(i64::from(time.nanos) / 1_000_000)
}

/// As messages carry it.
#[must_use]
pub fn from_time(time: Time) -> Timestamp {
    let ms = time.as_ms();
    let nanos = i32::try_from(ms.rem_euclid(1000)).unwrap_or(0) * 1_000_000;
    Timestamp { seconds: ms.div_euclid(1000), nanos, ..Timestamp::default() }
}
