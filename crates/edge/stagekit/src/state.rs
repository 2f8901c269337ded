//! Private states: serde values as a `google.protobuf.Struct`, which other languages can read, or
//! messages.

use buffa::{Message, MessageName};
use buffa_types::google::protobuf::__buffa::oneof::value::Kind;
use buffa_types::google::protobuf::{Any, Struct, Value as ProtoValue};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use crate::Failure;

/// Integers up to this are exact in a double.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Tags of `google.protobuf.Struct`, its map entries, and `Value`.
mod tag {
    pub(super) const FIELDS: u8 = 0x0a;
    pub(super) const ENTRY_KEY: u8 = 0x0a;
    pub(super) const ENTRY_VALUE: u8 = 0x12;
    pub(super) const LIST_VALUES: u8 = 0x0a;
    pub(super) const NULL: u8 = 0x08;
    pub(super) const NUMBER: u8 = 0x11;
    pub(super) const STRING: u8 = 0x1a;
    pub(super) const BOOL: u8 = 0x20;
    pub(super) const STRUCT: u8 = 0x2a;
    pub(super) const LIST: u8 = 0x32;
}

/// Encodes a state deterministically: names are sorted.
pub(crate) fn pack(state: &impl Serialize) -> Result<Any, Failure> {
    match serde_json::to_value(state)? {
        Value::Object(fields) => Ok(Any {
            type_url: Struct::TYPE_URL.to_owned(),
            value: structure(&fields).into(),
            ..Any::default()
        }),
        other => {
            Err(Failure::Passing(format!("a state has to be a struct or a map with names, not {other}")))
        }
    }
}

pub(crate) fn pack_message<M: Message + MessageName>(state: &M) -> Any {
    Any::pack(state, M::TYPE_URL)
}

/// Decodes a serde value.
pub(crate) fn unpack<T: DeserializeOwned>(packed: Option<&Any>) -> Result<Option<T>, Failure> {
    let Some(fields) = unpack_message::<Struct>(packed)? else { return Ok(None) };
    Ok(Some(serde_json::from_value(Value::Object(object(&fields)))?))
}

/// Decodes a message of this type.
pub(crate) fn unpack_message<M: Message + MessageName>(packed: Option<&Any>) -> Result<Option<M>, Failure> {
    let Some(packed) = packed else { return Ok(None) };
    let name = packed.type_url.rsplit('/').next().unwrap_or_default();
    if name != M::FULL_NAME {
        return Err(Failure::Passing(format!("the state is a {name:?}, not a {}", M::FULL_NAME)));
    }
    Ok(Some(M::decode_from_slice(&packed.value)?))
}

fn structure(fields: &Map<String, Value>) -> Vec<u8> {
    let mut names: Vec<&String> = fields.keys().collect();
    names.sort_unstable();
    let mut bytes = Vec::new();
    for name in names {
        let mut entry = Vec::new();
        put(&mut entry, tag::ENTRY_KEY, name.as_bytes());
        put(&mut entry, tag::ENTRY_VALUE, &value(&fields[name]));
        put(&mut bytes, tag::FIELDS, &entry);
    }
    bytes
}

fn value(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    match value {
        Value::Null => bytes.extend([tag::NULL, 0]),
        Value::Bool(yes) => bytes.extend([tag::BOOL, u8::from(*yes)]),
        Value::Number(number) => {
            bytes.push(tag::NUMBER);
            bytes.extend(number.as_f64().unwrap_or_default().to_le_bytes());
        }
        Value::String(text) => put(&mut bytes, tag::STRING, text.as_bytes()),
        Value::Object(fields) => put(&mut bytes, tag::STRUCT, &structure(fields)),
        Value::Array(items) => put(&mut bytes, tag::LIST, &list(items)),
    }
    bytes
}

fn list(items: &[Value]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for item in items {
        put(&mut bytes, tag::LIST_VALUES, &value(item));
    }
    bytes
}

/// A length-delimited field.
fn put(bytes: &mut Vec<u8>, tag: u8, content: &[u8]) {
    bytes.push(tag);
    let mut length = content.len();
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend_from_slice(content);
}

fn object(fields: &Struct) -> Map<String, Value> {
    fields.fields.iter().map(|(name, value)| (name.clone(), json(value))).collect()
}

fn json(value: &ProtoValue) -> Value {
    match &value.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::NumberValue(number)) => Value::Number(number_of(*number)),
        Some(Kind::StringValue(text)) => Value::String(text.clone()),
        Some(Kind::BoolValue(yes)) => Value::Bool(*yes),
        Some(Kind::StructValue(fields)) => Value::Object(object(fields)),
        Some(Kind::ListValue(items)) => Value::Array(items.iter().map(json).collect()),
    }
}

/// Integers stay integers, so that integer fields accept them.
fn number_of(number: f64) -> Number {
    if number.fract() == 0.0 && number.abs() <= WHOLE_MAX {
        return (number as i64).into();
    }
    Number::from_f64(number).unwrap_or_else(|| 0.into())
}

#[cfg(test)]
mod tests {
    use buffa_types::google::protobuf::Duration;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Memory {
        times: u32,
        share: f64,
        names: Vec<Option<String>>,
        nested: std::collections::BTreeMap<String, bool>,
    }

    #[test]
    fn a_value_comes_back_as_it_was() {
        let memory = Memory {
            times: 3,
            share: 0.5,
            names: vec![Some("a".repeat(300)), None],
            nested: [("yes".to_owned(), true), ("no".to_owned(), false)].into(),
        };
        let packed = pack(&memory).unwrap();
        assert_eq!(packed.type_url, "type.googleapis.com/google.protobuf.Struct");
        assert_eq!(unpack::<Memory>(Some(&packed)).unwrap(), Some(memory));
        assert_eq!(unpack::<Memory>(None).unwrap(), None);
    }

    #[test]
    fn the_same_state_is_the_same_bytes() {
        let one = pack(&json!({"a": 1, "b": {"c": [], "d": null}})).unwrap();
        let other = pack(&json!({"b": {"d": null, "c": []}, "a": 1})).unwrap();
        assert_eq!(one.value, other.value);
        let read: Value = unpack(Some(&one)).unwrap().unwrap();
        assert_eq!(read, json!({"a": 1, "b": {"c": [], "d": null}}));
    }

    #[test]
    fn a_message_comes_back_as_its_type_and_as_no_other() {
        let packed = pack_message(&Duration { seconds: 5, ..Duration::default() });
        assert_eq!(unpack_message::<Duration>(Some(&packed)).unwrap().unwrap().seconds, 5);
        let error = unpack::<Value>(Some(&packed)).unwrap_err().to_string();
        assert!(error.contains("\"google.protobuf.Duration\", not a google.protobuf.Struct"), "{error}");
    }

    #[test]
    fn what_has_no_names_is_no_state() {
        assert!(pack(&3).unwrap_err().to_string().contains("not 3"));
    }
}
