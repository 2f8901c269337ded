//! An interceptor that refuses JSON requests with unknown keys.
//!
//! The library ignores such keys silently, so a misspelt field would look like a field that was
//! never set. The keys are checked against the descriptors that reflection serves, before the
//! message is decoded. The check streams over the text: it keeps no values, however large the
//! request, and stops at the first unknown key. The parser bounds the nesting depth.

use std::fmt;
use std::sync::Arc;

use buffa_descriptor::{DescriptorPool, FieldKind, MessageDescriptor, SingularKind};
use connectrpc::interceptor::{StreamRequest, StreamResponse, UnaryRequest, UnaryResponse};
use connectrpc::{
    CodecFormat, ConnectError, Interceptor, Next, NextStream, Payload, PayloadStream, RequestContext,
};
use futures::StreamExt as _;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use text::nearest;

/// Types with a JSON form of their own: a timestamp is a string, a `Struct` accepts any key.
const SPECIAL: &str = "google.protobuf.";
const ANY: &str = "google.protobuf.Any";
const ANY_TYPE_KEY: &str = "@type";

#[derive(Clone)]
pub(super) struct StrictJson {
    pool: Arc<DescriptorPool>,
}

impl StrictJson {
    pub(super) fn new(pool: Arc<DescriptorPool>) -> StrictJson {
        StrictJson { pool }
    }

    /// The request type of a method; `None` for services without a descriptor.
    fn input(&self, context: &RequestContext) -> Option<&MessageDescriptor> {
        let (service, method) = context.path()?.trim_start_matches('/').split_once('/')?;
        let method = self.pool.service_by_name(service)?.method(method)?;
        Some(self.pool.message(method.input()))
    }

    fn check_payload(&self, message: &MessageDescriptor, payload: &Payload) -> Result<(), ConnectError> {
        if payload.format() != CodecFormat::Json {
            return Ok(());
        }
        self.complaint(message, payload.bytes())
            .map_or(Ok(()), |text| Err(ConnectError::invalid_argument(text)))
    }

    /// The error about the first unknown key. Invalid JSON is left to the decoder, which reports
    /// it.
    fn complaint(&self, message: &MessageDescriptor, json: &[u8]) -> Option<String> {
        let mut complaint = None;
        let keys = Keys {
            pool: &self.pool,
            wanted: Wanted::of(message),
            path: &Path::Root,
            complaint: &mut complaint,
        };
        // An error here is either the complaint, or invalid JSON, which the decoder reports.
        let _ = keys.deserialize(&mut serde_json::Deserializer::from_slice(json));
        complaint
    }
}

/// The position in the request. Formatted only for an error.
enum Path<'p> {
    Root,
    Field(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
    Entry(&'p Path<'p>, &'p str),
}

/// Ends with a dot, so that a key can follow.
impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)?;
        if matches!(self, Path::Root) { Ok(()) } else { f.write_str(".") }
    }
}

impl Path<'_> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Field(before, name) => write!(f, "{before}{name}"),
            Path::Item(before, index) => before.write(f).and_then(|()| write!(f, "[{index}]")),
            Path::Entry(before, name) => before.write(f).and_then(|()| write!(f, "[{name:?}]")),
        }
    }
}

/// The expected type of a value.
#[derive(Clone, Copy)]
enum Wanted<'d> {
    Message(&'d MessageDescriptor),
    /// The keys of the packed message are beside its `@type`.
    Any,
    List(SingularKind),
    Map(SingularKind),
    /// Any value: its keys are not checked.
    Whatever,
}

impl<'d> Wanted<'d> {
    fn of(message: &'d MessageDescriptor) -> Wanted<'d> {
        match message.full_name() {
            ANY => Wanted::Any,
            name if name.starts_with(SPECIAL) => Wanted::Whatever,
            _ => Wanted::Message(message),
        }
    }

    fn of_kind(pool: &'d DescriptorPool, kind: SingularKind) -> Wanted<'d> {
        match kind {
            SingularKind::Message(index) => Wanted::of(pool.message(index)),
            SingularKind::Scalar(_) | SingularKind::Enum(_) => Wanted::Whatever,
        }
    }

    fn of_field(pool: &'d DescriptorPool, kind: FieldKind) -> Wanted<'d> {
        match kind {
            FieldKind::Singular(kind) => Wanted::of_kind(pool, kind),
            FieldKind::List(kind) => Wanted::List(kind),
            FieldKind::Map { value, .. } => Wanted::Map(value),
        }
    }
}

/// Checks the keys of one value. The decoder reports values of the wrong type.
struct Keys<'k> {
    pool: &'k DescriptorPool,
    wanted: Wanted<'k>,
    path: &'k Path<'k>,
    complaint: &'k mut Option<String>,
}

impl Keys<'_> {
    fn within<'k>(&'k mut self, wanted: Wanted<'k>, path: &'k Path<'k>) -> Keys<'k> {
        Keys { pool: self.pool, wanted, path, complaint: self.complaint }
    }

    fn complain<E: serde::de::Error>(&mut self, message: &MessageDescriptor, key: &str) -> E {
        *self.complaint = Some(unknown(message, key, self.path));
        E::custom("a key that the message does not have")
    }

    fn check_any<'de, A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        // The `@type` may come last, so here the values are kept.
        let mut object = Map::new();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            object.insert(key, value);
        }
        let named = object.remove(ANY_TYPE_KEY);
        let name = named.as_ref().and_then(Value::as_str).unwrap_or_default();
        let Some(message) = self.pool.message_by_name(name.rsplit('/').next().unwrap_or_default()) else {
            return Ok(());
        };
        let (path, wanted) = (self.path, Wanted::of(message));
        self.within(wanted, path).deserialize(Value::Object(object)).map_err(A::Error::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Keys<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if matches!(self.wanted, Wanted::Whatever) {
            return deserializer.deserialize_ignored_any(IgnoredAny).map(drop);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let (pool, path) = (self.pool, self.path);
        match self.wanted {
            Wanted::Message(message) => {
                while let Some(key) = map.next_key::<String>()? {
                    let Some(field) = message.field_by_name(&key) else {
                        return Err(self.complain(message, &key));
                    };
                    let wanted = Wanted::of_field(pool, field.kind());
                    map.next_value_seed(self.within(wanted, &Path::Field(path, &key)))?;
                }
            }
            Wanted::Any => return self.check_any(map),
            Wanted::Map(kind) => {
                while let Some(key) = map.next_key::<String>()? {
                    let wanted = Wanted::of_kind(pool, kind);
                    map.next_value_seed(self.within(wanted, &Path::Entry(path, &key)))?;
                }
            }
            Wanted::List(_) | Wanted::Whatever => {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        let (pool, path) = (self.pool, self.path);
        let Wanted::List(kind) = self.wanted else {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        let mut index = 0;
        while items
            .next_element_seed(self.within(Wanted::of_kind(pool, kind), &Path::Item(path, index)))?
            .is_some()
        {
            index += 1;
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

fn unknown(message: &MessageDescriptor, key: &str, path: &Path<'_>) -> String {
    let names = message.fields().iter().map(buffa_descriptor::FieldDescriptor::json_name);
    let advice = nearest(key, names).map(|near| format!(", did you mean \"{near}\"?")).unwrap_or_default();
    format!("unknown field \"{path}{key}\" in {}{advice}", message.full_name())
}

#[connectrpc::async_trait]
impl Interceptor for StrictJson {
    async fn intercept_unary(
        &self,
        request: UnaryRequest,
        next: Next<'_>,
    ) -> Result<UnaryResponse, ConnectError> {
        if let Some(message) = self.input(&request.ctx) {
            self.check_payload(message, &request.payload)?;
        }
        next.run(request).await
    }

    async fn intercept_streaming(
        &self,
        request: StreamRequest,
        inbound: PayloadStream,
        next: NextStream<'_>,
    ) -> Result<StreamResponse, ConnectError> {
        let Some(message) = self.input(&request.ctx).cloned() else {
            return next.run(request, inbound).await;
        };
        let strict = self.clone();
        let checked = inbound.map(move |item| {
            let payload = item?;
            strict.check_payload(&message, &payload)?;
            Ok(payload)
        });
        next.run(request, Box::pin(checked)).await
    }
}

#[cfg(test)]
mod tests {
    use prost::Message as _;
    use serde_json::json;

    use super::*;

    const PROTO: &str = r#"
        syntax = "proto3";
        package t;
        import "google/protobuf/any.proto";
        import "google/protobuf/struct.proto";
        import "google/protobuf/timestamp.proto";
        message Offer {
            string offer_title = 1;
            Offer inner = 2;
            repeated Offer parts = 3;
            map<string, Offer> named = 4;
            map<string, string> attributes = 5;
            oneof kind { Car car = 6; }
            google.protobuf.Any extra = 7;
            google.protobuf.Struct free = 8;
            google.protobuf.Timestamp at = 9;
        }
        message Car { uint32 year = 1; }
    "#;

    fn complaint(json: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("t.proto"), PROTO).unwrap();
        let set = protox::compile(["t.proto"], [folder.path()]).unwrap();
        let strict = StrictJson::new(Arc::new(DescriptorPool::decode(&set.encode_to_vec()).unwrap()));
        strict.complaint(strict.pool.message_by_name("t.Offer").unwrap(), json.as_bytes())
    }

    #[test]
    fn known_keys_pass_at_every_depth_in_both_spellings() {
        assert_eq!(
            complaint(&json!({
                "offerTitle": "x", "inner": {"offer_title": "y", "inner": null}, "parts": [{"parts": []}, {}],
                "named": {"any name": {"car": {"year": 1989}}}, "attributes": {"anything": "goes"},
                "extra": {"@type": "type.googleapis.com/t.Car", "year": 5}, "free": {"any": {"key": 1}},
                "at": "2026-01-01T00:00:00Z",
            }).to_string()),
            None
        );
    }

    #[test]
    fn an_unknown_key_is_named_with_its_path() {
        for (value, expected) in [
            (
                json!({"offerTitel": 1}),
                "unknown field \"offerTitel\" in t.Offer, did you mean \"offerTitle\"?",
            ),
            (json!({"colour": 1}), "unknown field \"colour\" in t.Offer"),
            (json!({"inner": {"inner": {"x": 1}}}), "unknown field \"inner.inner.x\" in t.Offer"),
            (json!({"parts": [{}, {"x": 1}]}), "unknown field \"parts[1].x\" in t.Offer"),
            (json!({"named": {"a b": {"x": 1}}}), "unknown field \"named[\"a b\"].x\" in t.Offer"),
            (json!({"car": {"yaer": 1}}), "unknown field \"car.yaer\" in t.Car, did you mean \"year\"?"),
            (json!({"extra": {"@type": "t/t.Car", "x": 1}}), "unknown field \"extra.x\" in t.Car"),
        ] {
            assert_eq!(complaint(&value.to_string()).as_deref(), Some(expected), "{value}");
        }
    }

    #[test]
    fn an_unknown_key_is_found_before_the_rest_is_read() {
        for json in [r#"{"inner": {"x": 1}, "parts": ["#, r#"{"inner": {"x": "#] {
            assert_eq!(complaint(json).as_deref(), Some("unknown field \"inner.x\" in t.Offer"), "{json}");
        }
        let twice = r#"{"inner": {"x": 1}, "inner": {}}"#;
        assert_eq!(complaint(twice).as_deref(), Some("unknown field \"inner.x\" in t.Offer"));
        let last = r#"{"extra": {"x": 1, "@type": "t/t.Car"}}"#;
        assert_eq!(complaint(last).as_deref(), Some("unknown field \"extra.x\" in t.Car"));
    }

    #[test]
    fn values_of_the_wrong_shape_are_left_to_the_decoder() {
        let deep = format!("{}{{}}{}", r#"{"inner":"#.repeat(100_000), "}".repeat(100_000));
        let broad = format!(r#"{{"parts": {}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        for json in [
            "",
            "[]",
            "7",
            "null",
            "{",
            r#"{"inner": [{"x": 1}], "parts": {"x": 1}, "named": [1], "free": 1e999}"#,
            r#"{"parts": [1, -1, 1.5, true, null, "x", [{"x": 1}]]}"#,
            r#"{"extra": {"@type": "t/t.None", "x": 1}}"#,
            &deep,
            &broad,
        ] {
            assert_eq!(complaint(json), None, "{json:.60}");
        }
    }
}
