//! Durations as people write them: `6h`, `30m`, `2d`, `1h 30m`. A day is 24 hours here; calendar
//! days are chunks.

use jiff::SignedDuration;

use crate::error::{Error, Result};
use crate::limits::{DURATION_CHARS_MAX, DURATION_MAX};

const NANOS_OF_SECOND: i128 = 1_000_000_000;

/// From the longest to the shortest; weeks are read but never written.
const UNITS: [(&str, i128); 8] = [
    ("w", 7 * 24 * 3600 * NANOS_OF_SECOND),
    ("d", 24 * 3600 * NANOS_OF_SECOND),
    ("h", 3600 * NANOS_OF_SECOND),
    ("m", 60 * NANOS_OF_SECOND),
    ("s", NANOS_OF_SECOND),
    ("ms", 1_000_000),
    ("us", 1000),
    ("ns", 1),
];

/// Reads numbers with the units `w`, `d`, `h`, `m`, `s`, `ms`, `us`, `ns`, longer units first, with
/// or without spaces. Refuses signs and durations longer than [`DURATION_MAX`]. Reads back what
/// [`show_duration`] writes.
///
/// ```
/// use jiff::SignedDuration;
/// assert_eq!(triggers::parse_duration("1h 30m"), Ok(SignedDuration::from_mins(90)));
/// assert_eq!(triggers::parse_duration("2d"), Ok(SignedDuration::from_hours(48)));
/// assert!(triggers::parse_duration("90").unwrap_err().to_string().contains("a unit is missing after 90"));
/// ```
pub fn parse_duration(text: &str) -> Result<SignedDuration> {
    let refuse =
        |what: String| Error::Duration { text: text.chars().take(DURATION_CHARS_MAX).collect(), what };
    if text.chars().count() > DURATION_CHARS_MAX {
        return Err(refuse(format!("it has more than {DURATION_CHARS_MAX} characters")));
    }
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(refuse("it is empty".to_owned()));
    }
    if rest.starts_with(['-', '+']) {
        return Err(refuse("it must not have a sign".to_owned()));
    }
    let mut total: i128 = 0;
    let mut units = &UNITS[..];
    while !rest.is_empty() {
        let (digits, after) = split_while(rest, |letter| letter.is_ascii_digit());
        if digits.is_empty() {
            return Err(refuse(format!("a number is expected before {rest:?}")));
        }
        if after.starts_with(['.', ',']) {
            return Err(refuse("fractions are not read".to_owned()));
        }
        let (unit, after) = split_while(after.trim_start(), char::is_alphabetic);
        if unit.is_empty() {
            return Err(refuse(format!("a unit is missing after {digits}")));
        }
        let Some(place) = units.iter().position(|(name, _)| *name == unit) else {
            return Err(refuse(wrong_unit(unit)));
        };
        let count: i128 =
            digits.parse().map_err(|_| Error::DurationTooLong { text: text.trim().to_owned() })?;
        total = total.saturating_add(count.saturating_mul(units[place].1));
        units = &units[place + 1..];
        rest = after.trim_start();
    }
    if total > DURATION_MAX.as_nanos() {
        return Err(Error::DurationTooLong { text: text.trim().to_owned() });
    }
    Ok(SignedDuration::from_nanos_i128(total))
}

/// Writes a duration as [`parse_duration`] reads it, negative ones with a minus: `1h 30m`, `0s`,
/// `-2d`.
#[must_use]
pub fn show_duration(duration: SignedDuration) -> String {
    let mut rest = duration.as_nanos();
    let mut parts: Vec<String> = Vec::new();
    let sign = if rest < 0 { "-" } else { "" };
    rest = rest.abs();
    for (name, nanos) in &UNITS[1..] {
        let count = rest / nanos;
        if count > 0 {
            parts.push(format!("{count}{name}"));
        }
        rest %= nanos;
    }
    if parts.is_empty() { "0s".to_owned() } else { format!("{sign}{}", parts.join(" ")) }
}

fn split_while(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|letter| !belongs(letter)).unwrap_or(text.len()))
}

fn wrong_unit(unit: &str) -> String {
    if UNITS.iter().any(|(name, _)| *name == unit) {
        return format!("{unit} stands twice or after a shorter unit");
    }
    let meant = match unit.to_lowercase().as_str() {
        "week" | "weeks" => "w",
        "day" | "days" | "d" => "d",
        "hour" | "hours" | "hr" | "hrs" | "h" => "h",
        "minute" | "minutes" | "min" | "mins" => "m",
        "second" | "seconds" | "sec" | "secs" | "s" => "s",
        "mon" | "month" | "months" | "mo" | "y" | "year" | "years" => {
            return format!("{unit} has no fixed length; months and years are chunks of the calendar");
        }
        _ => return format!("there is no unit {unit}, only w, d, h, m, s, ms, us, ns"),
    };
    format!("the unit is written {meant}, not {unit}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, seconds) in [
            ("6h", 21_600),
            ("30m", 1800),
            ("2d", 172_800),
            ("1h 30m", 5400),
            ("1h30m", 5400),
            (" 1 h  30 m ", 5400),
            ("1w 1d", 691_200),
            ("90s", 90),
            ("0s", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(SignedDuration::from_secs(seconds)), "{text}");
        }
        assert_eq!(parse_duration("1500ms"), Ok(SignedDuration::from_millis(1500)));
    }

    #[test]
    fn what_is_no_duration_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", "it is empty"),
            ("-6h", "it must not have a sign"),
            ("6", "a unit is missing after 6"),
            ("h", "a number is expected before \"h\""),
            ("1h30", "a unit is missing after 30"),
            ("1.5h", "fractions are not read"),
            ("6 hours", "the unit is written h, not hours"),
            ("6H", "the unit is written h, not H"),
            ("3 months", "months has no fixed length"),
            ("5x", "there is no unit x"),
            ("30m 1h", "h stands twice or after a shorter unit"),
            ("1h 1h", "h stands twice or after a shorter unit"),
            ("1h,30m", "a number is expected before \",30m\""),
            ("40000d", "the longest duration is 36525d"),
            ("99999999999999999999999999999999999999999999d", "the longest duration is 36525d"),
        ] {
            let shown = parse_duration(text).map_err(|error| error.to_string());
            assert!(shown.as_ref().is_err_and(|shown| shown.contains(reason)), "{text}: {shown:?}");
        }
        assert!(parse_duration(&"1".repeat(1000)).is_err());
    }

    #[test]
    fn durations_are_written_in_one_form() {
        for (seconds, text) in
            [(21_600, "6h"), (5400, "1h 30m"), (172_800, "2d"), (0, "0s"), (-90, "-1m 30s"), (604_800, "7d")]
        {
            assert_eq!(show_duration(SignedDuration::from_secs(seconds)), text);
        }
        assert_eq!(show_duration(SignedDuration::from_millis(1500)), "1s 500ms");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(nanos in 0..=DURATION_MAX.as_nanos()) {
            let duration = SignedDuration::from_nanos_i128(nanos);
            prop_assert_eq!(parse_duration(&show_duration(duration)), Ok(duration));
        }

        #[test]
        fn no_text_makes_it_panic(text in ".*") {
            let _ = parse_duration(&text);
        }
    }
}
