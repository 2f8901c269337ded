//! Refuses JSON with keys that the request does not have.
//!
//! The library drops such keys in silence, so a mistyped field would be a field that was never set. The keys are checked
//! here against the same descriptors that reflection shows, before the message is decoded.

use std::sync::Arc;

use buffa_descriptor::{DescriptorPool, FieldKind, MessageDescriptor, SingularKind};
use connectrpc::interceptor::{StreamRequest, StreamResponse, UnaryRequest, UnaryResponse};
use connectrpc::{
    CodecFormat, ConnectError, Interceptor, Next, NextStream, Payload, PayloadStream, RequestContext,
};
use futures::StreamExt as _;
use serde_json::{Map, Value};

use crate::nearest::nearest;

/// Types with a JSON form of their own: a time is a string, a `Struct` takes any key.
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

    /// The request message of a method; nothing for services that are not described.
    fn input(&self, context: &RequestContext) -> Option<&MessageDescriptor> {
        let (service, method) = context.path()?.trim_start_matches('/').split_once('/')?;
        let method = self.pool.service_by_name(service)?.method(method)?;
        Some(self.pool.message(method.input()))
    }

    fn check_payload(&self, message: &MessageDescriptor, payload: &Payload) -> Result<(), ConnectError> {
        if payload.format() != CodecFormat::Json {
            return Ok(());
        }
        // What is no JSON at all is left to the decoder, which says so.
        let Ok(value) = serde_json::from_slice(payload.bytes()) else { return Ok(()) };
        self.check(message, &value, "").map_err(ConnectError::invalid_argument)
    }

    fn check(&self, message: &MessageDescriptor, value: &Value, path: &str) -> Result<(), String> {
        let Value::Object(object) = value else { return Ok(()) };
        if message.full_name() == ANY {
            return self.check_any(object, path);
        }
        if message.full_name().starts_with(SPECIAL) {
            return Ok(());
        }
        for (key, value) in object {
            let Some(field) = message.field_by_name(key) else {
                return Err(unknown(message, key, path));
            };
            let path = format!("{path}{key}");
            match (field.kind(), value) {
                (FieldKind::Singular(kind), value) => self.check_kind(kind, value, &format!("{path}."))?,
                (FieldKind::List(kind), Value::Array(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        self.check_kind(kind, item, &format!("{path}[{index}]."))?;
                    }
                }
                (FieldKind::Map { value: kind, .. }, Value::Object(entries)) => {
                    for (name, item) in entries {
                        self.check_kind(kind, item, &format!("{path}[{name:?}]."))?;
                    }
                }
                // The wrong shape is the decoder's complaint.
                (FieldKind::List(_) | FieldKind::Map { .. }, _) => {}
            }
        }
        Ok(())
    }

    fn check_kind(&self, kind: SingularKind, value: &Value, path: &str) -> Result<(), String> {
        match kind {
            SingularKind::Message(index) => self.check(self.pool.message(index), value, path),
            SingularKind::Scalar(_) | SingularKind::Enum(_) => Ok(()),
        }
    }

    /// The keys of the packed message stand beside its type.
    fn check_any(&self, object: &Map<String, Value>, path: &str) -> Result<(), String> {
        let name = object.get(ANY_TYPE_KEY).and_then(Value::as_str).unwrap_or_default();
        let Some(message) = self.pool.message_by_name(name.rsplit('/').next().unwrap_or_default()) else {
            return Ok(());
        };
        let fields = object.iter().filter(|(key, _)| *key != ANY_TYPE_KEY);
        let fields = fields.map(|(key, value)| (key.clone(), value.clone())).collect();
        self.check(message, &Value::Object(fields), path)
    }
}

fn unknown(message: &MessageDescriptor, key: &str, path: &str) -> String {
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

    fn complaint(value: &Value) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("t.proto"), PROTO).unwrap();
        let set = protox::compile(["t.proto"], [folder.path()]).unwrap();
        let strict = StrictJson::new(Arc::new(DescriptorPool::decode(&set.encode_to_vec()).unwrap()));
        strict.check(strict.pool.message_by_name("t.Offer").unwrap(), value, "").err()
    }

    #[test]
    fn known_keys_pass_at_every_depth_in_both_spellings() {
        assert_eq!(
            complaint(&json!({
                "offerTitle": "x", "inner": {"offer_title": "y", "inner": null}, "parts": [{"parts": []}, {}],
                "named": {"any name": {"car": {"year": 1989}}}, "attributes": {"anything": "goes"},
                "extra": {"@type": "type.googleapis.com/t.Car", "year": 5}, "free": {"any": {"key": 1}},
                "at": "2026-01-01T00:00:00Z",
            })),
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
            assert_eq!(complaint(&value).as_deref(), Some(expected), "{value}");
        }
    }
}
