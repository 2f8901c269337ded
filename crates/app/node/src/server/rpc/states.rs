//! Shows the states of stages in JSON as names and values, as people wrote them, instead of the
//! stored bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use buffa::Message as _;
use buffa::type_registry::{JsonAnyEntry, TypeRegistry, set_type_registry};
use buffa_types::google::protobuf::Struct;
use serde_json::Value;

/// Registers, for the whole process, the JSON form of a `google.protobuf.Struct` in an `Any`.
pub(super) fn write_out() {
    let mut types = TypeRegistry::new();
    types.register_json_any(JsonAnyEntry {
        type_url: Struct::TYPE_URL,
        to_json: |bytes| Ok(shown(bytes)),
        from_json: read,
        is_wkt: true,
    });
    set_type_registry(types);
}

/// A state that has no JSON form (a number that is NaN, bytes that are not a `Struct`) is shown as
/// its bytes.
fn shown(bytes: &[u8]) -> Value {
    let state = Struct::decode_from_slice(bytes).ok();
    let shown = state.and_then(|state| serde_json::to_value(&state).ok());
    shown.unwrap_or_else(|| Value::String(STANDARD.encode(bytes)))
}

fn read(value: Value) -> Result<Vec<u8>, String> {
    if let Value::String(bytes) = value {
        return STANDARD.decode(bytes).map_err(|error| error.to_string());
    }
    let state: Struct = serde_json::from_value(value).map_err(|error| error.to_string())?;
    Ok(state.encode_to_vec())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_state_is_read_as_it_is_shown() {
        let state = json!({ "times": 3.0, "who": { "is": ["eve", null, true] } });
        let bytes = read(state.clone()).unwrap();
        assert_eq!(shown(&bytes), state);
    }

    #[test]
    fn what_json_has_no_words_for_is_shown_as_bytes_and_read_again() {
        // {"x": NaN}
        let no_number: &[u8] = b"\x0a\x0e\x0a\x01x\x12\x09\x11\0\0\0\0\0\0\xf8\x7f";
        assert!(Struct::decode_from_slice(no_number).is_ok());
        for bytes in [b"\xff\xff\xff", no_number] {
            let text = shown(bytes);
            assert!(text.is_string(), "{text}");
            assert_eq!(read(text).unwrap(), bytes);
        }
        assert!(read(json!("no base64!")).is_err());
        assert!(read(json!(7)).is_err());
    }
}
