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
