//! Parses `torg ctl` arguments and adds command-line hints to server errors.

use buffa_types::google::protobuf::Timestamp as WireTime;
use connectrpc::ConnectError;
use jiff::Timestamp;
use triggers::Parameter;
use wire::torg::tasks::v1::{SeenValue, ctl_change, seen_value};

use super::super::remote::{reason, said};
use terminal::errors::advised;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name(pub(crate) String);

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Assignment {
    pub(super) name: Name,
    pub(super) value: SeenValue,
}

/// The expected current value; `None` means that the parameter must have no value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExpectedValue(Option<SeenValue>);

impl ExpectedValue {
    pub(super) fn into_wire(self) -> ctl_change::Expected {
        match self.0 {
            Some(value) => ctl_change::Expected::ExpectedValue(Box::new(value)),
            None => ctl_change::Expected::ExpectedVersion(0),
        }
    }
}

pub(crate) fn name(text: &str) -> Result<Name, String> {
    let named: Parameter = text.parse().map_err(|error: triggers::Error| error.to_string())?;
    let named = ctl::canonical(&named).map_err(|error| error.to_string())?;
    Ok(Name(named.to_string()))
}

/// Parses `NAME=VALUE`.
pub(super) fn assignment(text: &str) -> Result<Assignment, String> {
    let (left, right) = text
        .split_once('=')
        .ok_or("there is no = in it: write it as sales.loaded_to=2026-03-25T08:05:00Z")?;
    Ok(Assignment { name: name(left)?, value: value(right)? })
}

pub(super) fn expected_value(text: &str) -> Result<ExpectedValue, String> {
    if text == "none" { Ok(ExpectedValue(None)) } else { Ok(ExpectedValue(Some(value(text)?))) }
}

/// Parses a value: a time, `now`, or a whole number.
pub(crate) fn value(text: &str) -> Result<SeenValue, String> {
    let kind = if let Ok(number) = text.parse() {
        seen_value::Kind::Number(number)
    } else if text == "now" {
        wire_time(now()).into()
    } else {
        let time = text.parse().map_err(|_| {
            format!(
                "{text:?} is no value: a time such as 2026-03-25T08:05:00Z, the word now, or a whole number is expected"
            )
        })?;
        wire_time(time).into()
    };
    Ok(SeenValue { kind: Some(kind), ..SeenValue::default() })
}

/// The current time of this machine, truncated to milliseconds: a finer resolution says nothing
/// about data.
fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

/// Converts a time to protobuf: nanoseconds count forward, also before 1970.
fn wire_time(time: Timestamp) -> WireTime {
    let (mut seconds, mut nanos) = (time.as_second(), time.subsec_nanosecond());
    if nanos < 0 {
        (seconds, nanos) = (seconds - 1, nanos + 1_000_000_000);
    }
    WireTime { seconds, nanos, ..WireTime::default() }
}

/// Converts a server error into an error with a hint for the command line.
pub(super) fn answered<T>(answer: Result<T, ConnectError>) -> anyhow::Result<T> {
    answer.map_err(|error| match &*reason(&error) {
        "MOVES_BACK" => {
            advised(said(&error), "with --back it is set all the same; --reason tells others why")
        }
        "OTHER_KIND" => advised(said(&error), "`torg ctl delete NAME`, then set it"),
        "VERSION_CONFLICT" | "VALUE_CONFLICT" => advised(
            said(&error),
            "`torg ctl get NAME` shows what it is, `torg ctl history NAME` who changed it",
        ),
        _ => said(&error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shortened_and_values_are_numbers_or_times() {
        let read = assignment("default/sales.rows=-5").unwrap();
        assert_eq!(read.name, Name("sales.rows".to_owned()));
        assert_eq!(read.value.kind, Some(seen_value::Kind::Number(-5)));
        let time = |text: &str| match value(text).unwrap().kind {
            Some(seen_value::Kind::Time(time)) => (time.seconds, time.nanos),
            other => panic!("{other:?}"),
        };
        assert_eq!(time("1970-01-01T01:00:05.5+01:00"), (5, 500_000_000));
        assert_eq!(time("1969-12-31T23:59:59.25Z"), (-1, 250_000_000));
        assert!(time("now").0 > 1_700_000_000);
        assert_eq!(expected_value("none").unwrap().into_wire(), ctl_change::Expected::ExpectedVersion(0));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_to_write() {
        for (text, part) in [
            ("sales.rows", "there is no = in it"),
            ("sales=5", "there is no dot in it"),
            ("=5", "there is no dot in it"),
            ("a.b/c.d=5", "there is a dot in the namespace"),
            ("sales.rows=", "is no value"),
            ("sales.rows=5.5", "is no value"),
            ("sales.rows=99999999999999999999", "is no value"),
            ("sales.rows=2026-03-25", "a time such as 2026-03-25T08:05:00Z"),
            ("sales.rows=2026-03-25T08:05:00", "a time such as 2026-03-25T08:05:00Z"),
        ] {
            let said = assignment(text).unwrap_err();
            assert!(said.contains(part), "{text}: {said}");
        }
    }
}
