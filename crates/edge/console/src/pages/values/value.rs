//! Formatting and parsing of values: a time or a whole number.

use buffa_types::google::protobuf::Timestamp as WireTime;
use clock::Time;
use jiff::Timestamp;
use maud::{Markup, html};
use wire::torg::tasks::v1::{SeenValue, seen_value};

use crate::services::{Failure, Kind};
use crate::view::{ago, length, number};
use crate::visit::Visit;

/// A value in a form that can be entered again; a dash if there is none.
pub(in crate::pages) fn text_of(value: Option<&SeenValue>) -> String {
    match value.and_then(|value| value.kind.as_ref()) {
        None => "–".to_owned(),
        Some(seen_value::Kind::Number(number)) => number.to_string(),
        Some(seen_value::Kind::Time(time)) => match Timestamp::new(time.seconds, time.nanos) {
            Ok(time) => time.to_string(),
            Err(_) => format!("{} s", time.seconds),
        },
    }
}

/// A value, with its age if it is a time.
pub(in crate::pages) fn shown(visit: &Visit, value: Option<&SeenValue>) -> Markup {
    html! {
        span.code { (text_of(value)) }
        @if let Some(seen_value::Kind::Time(time)) = value.and_then(|value| value.kind.as_ref()) {
            " " span.quiet { (ago(visit, Some(time))) }
        }
    }
}

/// The difference of two values; empty if their kinds differ.
pub(super) fn difference(visit: &Visit, before: Option<&SeenValue>, after: Option<&SeenValue>) -> String {
    use seen_value::Kind;
    let (before, after) =
        (before.and_then(|value| value.kind.as_ref()), after.and_then(|value| value.kind.as_ref()));
    match (before, after) {
        (Some(Kind::Number(before)), Some(Kind::Number(after))) => {
            let sign = if after < before { "−" } else { "+" };
            format!("{sign}{}", number(after.abs_diff(*before)))
        }
        (Some(Kind::Time(before)), Some(Kind::Time(after))) => {
            let exact = |time: &WireTime| time.seconds as f64 + f64::from(time.nanos) / 1e9;
            let by = exact(after) - exact(before);
            format!("{}{}", if by < 0.0 { "−" } else { "+" }, length(visit, by.abs()))
        }
        _ => String::new(),
    }
}

/// Parses a whole number, `now`, or a time.
pub(in crate::pages) fn read(visit: &Visit, text: &str) -> Result<SeenValue, Failure> {
    parsed(text, visit.now()).ok_or_else(|| {
        let text = visit.f(
            "“{0}” is not a value: expected a time such as 2026-03-25T08:05:00Z, the word now, or a whole number.",
            &[&text],
        );
        Failure::new(Kind::Refused, text)
    })
}

fn parsed(text: &str, now: Time) -> Option<SeenValue> {
    let kind = if let Ok(number) = text.parse() {
        seen_value::Kind::Number(number)
    } else {
        let ours = || Timestamp::from_millisecond(now.as_ms());
        let time = if text == "now" { ours() } else { text.parse::<Timestamp>() };
        seen_value::Kind::Time(Box::new(wire(time.ok()?)))
    };
    Some(SeenValue { kind: Some(kind), ..SeenValue::default() })
}

/// A moment as messages carry it: nanoseconds count forward, also before 1970.
fn wire(time: Timestamp) -> WireTime {
    let (mut seconds, mut nanos) = (time.as_second(), time.subsec_nanosecond());
    if nanos < 0 {
        (seconds, nanos) = (seconds - 1, nanos + 1_000_000_000);
    }
    WireTime { seconds, nanos, ..WireTime::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_in_is_a_number_a_moment_or_now_and_is_shown_as_it_can_be_typed_in_again() {
        let now = Time::from_ms(1_794_832_205_123);
        for (text, expected) in [
            ("-5", "-5"),
            ("2026-03-25T08:05:00Z", "2026-03-25T08:05:00Z"),
            ("1969-12-31T23:59:59.25Z", "1969-12-31T23:59:59.25Z"),
            ("1970-01-01T01:00:05+01:00", "1970-01-01T00:00:05Z"),
            ("now", "2026-11-16T12:30:05.123Z"),
        ] {
            assert_eq!(text_of(Some(&parsed(text, now).unwrap())), expected, "{text}");
        }
        for wrong in ["", "5.5", "tomorrow", "2026-03-25", "99999999999999999999"] {
            assert!(parsed(wrong, now).is_none(), "{wrong}");
        }
        assert_eq!(text_of(None), "–");
    }
}
