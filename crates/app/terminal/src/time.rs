//! Formats times as `2026-03-25T08:05:00.123Z`: in UTC, to the millisecond.

use buffa_types::google::protobuf::Timestamp;
use clock::Time;

/// A time in a sentence.
pub fn moment(time: Option<&Timestamp>) -> String {
    time.map_or_else(
        || "an unknown time".to_owned(),
        |time| {
            Time::from_ms(time.seconds.saturating_mul(1000).saturating_add(i64::from(time.nanos / 1_000_000)))
                .to_string()
        },
    )
}

/// A time in a table; empty if there is none.
pub fn moment_in_table(time: Option<&Timestamp>) -> String {
    time.map_or_else(String::new, |_| moment(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_to_the_millisecond() {
        let time = Timestamp { seconds: 5, nanos: 123_456_789, ..Timestamp::default() };
        assert_eq!(moment(Some(&time)), "1970-01-01T00:00:05.123Z");
        assert_eq!((&*moment(None), &*moment_in_table(None)), ("an unknown time", ""));
    }
}
