//! Conversions of values.

use ctl::messages::{time, value};
use ctl::{Changed, Current, HistoryEntry};
use jiff::Timestamp;
use triggers::{Parameter, Value};
use wire::torg::tasks::v1::{self as proto, SeenValue, seen_value};

use crate::errors::Refusal;
use crate::limits;

/// Parses the value in this field.
pub(crate) fn read_value(field: &str, given: &SeenValue) -> Result<Value, Refusal> {
    match &given.kind {
        None => Err(Refusal::wrong_field(field, "REQUIRED", "give a time or a number")),
        Some(seen_value::Kind::Number(number)) => Ok(Value::Number(*number)),
        Some(seen_value::Kind::Time(given)) => {
            limits::time(field, given)?;
            let moment = Timestamp::new(given.seconds, given.nanos);
            // The last hours of the year 9999 do not exist in every time zone.
            moment.map(Value::Time).map_err(|_| {
                Refusal::wrong_field(field, "OUT_OF_RANGE", "before the last day of the year 9999")
            })
        }
    }
}

/// The current state of a parameter.
pub(super) fn current(parameter: &Parameter, current: Option<&Current>) -> proto::CtlCurrent {
    let nothing = proto::CtlCurrent { parameter: parameter.to_string(), ..proto::CtlCurrent::default() };
    match current {
        None => nothing,
        Some(current) => proto::CtlCurrent {
            value: Some(value(current.value)).into(),
            version: current.version,
            author: current.author.clone(),
            change_time: Some(time(current.at)).into(),
            ..nothing
        },
    }
}

/// The state of a parameter after its last change.
pub(super) fn left(parameter: &Parameter, last: HistoryEntry) -> proto::CtlCurrent {
    proto::CtlCurrent {
        parameter: parameter.to_string(),
        value: last.after.map(value).into(),
        version: if last.after.is_some() { last.version } else { 0 },
        author: last.author,
        change_time: Some(time(last.at)).into(),
        ..proto::CtlCurrent::default()
    }
}

pub(super) fn done(done: Changed) -> proto::CtlDone {
    let Changed { parameter, before, after, version, changed, moved_back } = done;
    proto::CtlDone {
        parameter: parameter.to_string(),
        before: before.map(value).into(),
        after: after.map(value).into(),
        version: if after.is_some() { version } else { 0 },
        changed,
        moved_back,
        ..proto::CtlDone::default()
    }
}

pub(super) fn past(past: HistoryEntry) -> proto::CtlPast {
    let HistoryEntry { version, author, at, before, after, moved_back, reason } = past;
    proto::CtlPast {
        version,
        author,
        change_time: Some(time(at)).into(),
        before: before.map(value).into(),
        after: after.map(value).into(),
        moved_back,
        reason,
        ..proto::CtlPast::default()
    }
}

#[cfg(test)]
mod tests {
    use buffa_types::google::protobuf::Timestamp as WireTime;

    use super::*;

    #[test]
    fn every_value_that_can_be_sent_comes_back_as_it_was() {
        let moments = ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59.25Z", "2026-03-29T01:30:00+01:00"];
        let moments = moments.map(|text| Value::Time(text.parse().unwrap()));
        let numbers = [i64::MIN, -1, 0, i64::MAX].map(Value::Number);
        for one in moments.into_iter().chain(numbers) {
            assert_eq!(read_value("value", &value(one)), Ok(one));
        }
    }

    #[test]
    fn what_is_no_value_is_refused_with_its_field() {
        let of = |seconds, nanos| SeenValue {
            kind: Some(WireTime { seconds, nanos, ..WireTime::default() }.into()),
            ..SeenValue::default()
        };
        let last_hour = of(253_402_300_799, 0);
        for (wrong, reason) in [
            (SeenValue::default(), "REQUIRED"),
            (of(i64::MAX, 0), "OUT_OF_RANGE"),
            (of(0, -1), "OUT_OF_RANGE"),
            (last_hour, "OUT_OF_RANGE"),
        ] {
            let refusal = read_value("changes[3].value", &wrong).unwrap_err();
            assert_eq!((refusal.reason(), &*refusal.fields()[0].field), (reason, "changes[3].value"));
        }
    }
}
