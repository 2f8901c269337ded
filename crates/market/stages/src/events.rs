//! Events about offers for their sellers.

use std::error::Error;

use async_trait::async_trait;
use buffa_types::google::protobuf::Timestamp;
use serde::{Deserialize, Serialize};
use topics::{Message, Topics};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    ExpiresSoon,
    Expired,
}

/// An event about an offer. The JSON has the form of protobuf: `lowerCamelCase`, times as RFC 3339,
/// large numbers as texts.
///
/// ```json
/// {"kind":"expires_soon","offer":"4829175033168090","seller":"ann","version":"7","time":"2026-05-01T10:00:00Z","expireTime":"2026-05-06T10:00:00Z"}
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OfferEvent {
    /// What happened.
    pub kind: EventKind,
    pub offer: String,
    pub seller: String,
    /// The version of the offer after the change. A repeated event has the same version.
    #[serde(with = "as_text")]
    pub version: u64,
    pub time: Timestamp,
    /// Only before the expiry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expire_time: Option<Timestamp>,
}

/// A sink for events.
#[async_trait]
pub trait Events: Send + Sync {
    /// Publishes an event durably. May be called twice for one event.
    async fn tell(&self, event: &OfferEvent) -> Result<(), Box<dyn Error + Send + Sync>>;
}

/// Publishes events to a topic, which must exist: JSON with the offer's id as key.
#[derive(Clone)]
pub struct TopicEvents {
    topics: Topics,
    topic: String,
}

impl TopicEvents {
    /// The default topic is [`EVENTS_TOPIC`](crate::limits::EVENTS_TOPIC).
    #[must_use]
    pub fn new(topics: Topics, topic: impl Into<String>) -> Self {
        Self { topics, topic: topic.into() }
    }
}

#[async_trait]
impl Events for TopicEvents {
    async fn tell(&self, event: &OfferEvent) -> Result<(), Box<dyn Error + Send + Sync>> {
        let time_ms = offers::time::to_ms(&event.time).max(1);
        let message = Message::new(event.offer.clone(), serde_json::to_vec(event)?, time_ms);
        self.topics.append(&self.topic, vec![message]).await?;
        Ok(())
    }
}

/// Serialises a number as a text.
mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    pub(super) fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_written_as_protobuf_writes_json() {
        let time = |seconds| Timestamp { seconds, ..Timestamp::default() };
        let event = OfferEvent {
            kind: EventKind::ExpiresSoon,
            offer: "4829175033168090".to_owned(),
            seller: "ann".to_owned(),
            version: 7,
            time: time(1_777_629_600),
            expire_time: Some(time(1_778_061_600)),
        };
        let text = serde_json::to_string(&event).unwrap();
        let written = r#"{"kind":"expires_soon","offer":"4829175033168090","seller":"ann","version":"7","time":"2026-05-01T10:00:00Z","expireTime":"2026-05-06T10:00:00Z"}"#;
        assert_eq!(text, written);
        assert_eq!(serde_json::from_str::<OfferEvent>(&text).unwrap(), event);
    }
}
