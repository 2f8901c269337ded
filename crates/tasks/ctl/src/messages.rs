//! Moments and values as messages carry them.

use std::collections::BTreeMap;

use buffa_types::google::protobuf::Timestamp as WireTime;
use jiff::Timestamp;
use triggers::{Parameter, Value};
use wire::torg::tasks::v1::{SeenValue, seen_value};

/// On the wire nanoseconds count forward, also before 1970.
#[must_use]
pub fn time(time: Timestamp) -> WireTime {
    let (mut seconds, mut nanos) = (time.as_second(), time.subsec_nanosecond());
    if nanos < 0 {
        (seconds, nanos) = (seconds - 1, nanos + 1_000_000_000);
    }
    WireTime { seconds, nanos, ..WireTime::default() }
}

/// The error says what is wrong, for people.
pub fn read_time(time: &WireTime) -> Result<Timestamp, String> {
    if !(0..1_000_000_000).contains(&time.nanos) {
        return Err(format!("{} nanoseconds are no part of a second: write 0 to 999999999", time.nanos));
    }
    Timestamp::new(time.seconds, time.nanos).map_err(|error| error.to_string())
}

#[must_use]
pub fn value(value: Value) -> SeenValue {
    let kind = match value {
        Value::Number(number) => seen_value::Kind::Number(number),
        Value::Time(moment) => time(moment).into(),
    };
    SeenValue { kind: Some(kind), ..SeenValue::default() }
}

/// Refuses a message that is neither a time nor a number.
pub fn read_value(value: &SeenValue) -> Result<Value, String> {
    match &value.kind {
        Some(seen_value::Kind::Number(number)) => Ok(Value::Number(*number)),
        Some(seen_value::Kind::Time(time)) => read_time(time).map(Value::Time),
        None => Err("the value is neither a time nor a number".to_owned()),
    }
}

#[must_use]
pub fn seen(seen: &BTreeMap<Parameter, Value>) -> BTreeMap<String, SeenValue> {
    seen.iter().map(|(parameter, of)| (parameter.to_string(), value(*of))).collect()
}

pub fn read_seen(seen: &BTreeMap<String, SeenValue>) -> Result<BTreeMap<Parameter, Value>, String> {
    let read = |(parameter, of): (&String, &SeenValue)| {
        let parameter = parameter.parse().map_err(|error: triggers::Error| error.to_string())?;
        Ok((parameter, read_value(of)?))
    };
    seen.iter().map(read).collect()
}
