//! Requests as they stand on the wire.

use serde_json::Value;

/// Stands for what no text of Rust can hold; see [`json_text`].
pub(crate) const SURROGATE: &str = "HALF_A_PAIR";

/// Takes over what another value has, field by field.
pub(crate) fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// JSON in which the placeholder became half a pair of surrogates.
pub(crate) fn json_text(value: &Value) -> String {
    value.to_string().replace(SURROGATE, "\\ud800")
}

/// A number as binary messages have it.
pub(crate) fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A field with a number.
pub(crate) fn put_number(number: u32, value: u64, out: &mut Vec<u8>) {
    put_varint(u64::from(number) << 3, out);
    put_varint(value, out);
}

/// A field with a length.
pub(crate) fn put_block(number: u32, content: &[u8], out: &mut Vec<u8>) {
    put_varint(u64::from(number) << 3 | 2, out);
    put_varint(content.len() as u64, out);
    out.extend_from_slice(content);
}
