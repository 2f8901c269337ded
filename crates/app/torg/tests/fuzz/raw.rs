//! Encodes requests for the wire by hand.

use serde_json::Value;

/// A placeholder for a lone surrogate, which a Rust string cannot hold; see [`json_text`].
pub(crate) const SURROGATE: &str = "HALF_A_PAIR";

/// Copies the fields of another value.
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

/// JSON in which a lone surrogate replaces the placeholder.
pub(crate) fn json_text(value: &Value) -> String {
    value.to_string().replace(SURROGATE, "\\ud800")
}

pub(crate) fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

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
