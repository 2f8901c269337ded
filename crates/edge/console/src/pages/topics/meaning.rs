//! Decoding of messages in Torg's own topics.

use buffa::Message;
use serde::Serialize;
use serde_json::Value;
use wire::torg::feeds::v1::{LoadMessage, ResultMessage};
use wire::torg::offers::v1::{Offer, Opinion};
use wire::torg::tasks::v1::Task;

use crate::limits::MESSAGE_CHARS_MAX;

/// A message as JSON, truncated if it is long; `None` if it cannot be decoded or the topic is
/// unknown.
pub(super) fn meaning(topic: &str, payload: &[u8]) -> Option<String> {
    let text = if payload.starts_with(b"{") {
        let value: Value = serde_json::from_slice(payload).ok()?;
        serde_json::to_string_pretty(&value).ok()?
    } else {
        match topic {
            "offers" => json::<Offer>(payload)?,
            "moderation" => json::<Opinion>(payload)?,
            "feed.offers" => json::<LoadMessage>(payload)?,
            "feed.results" => json::<ResultMessage>(payload)?,
            "tasks" => json::<Task>(payload)?,
            _ => return None,
        }
    };
    Some(text::shortened(&text, MESSAGE_CHARS_MAX))
}

/// An empty message is a tombstone.
fn json<M: Message + Serialize>(payload: &[u8]) -> Option<String> {
    let message = M::decode_from_slice(payload).ok().filter(|_| !payload.is_empty())?;
    serde_json::to_string_pretty(&message).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_in_its_topic_can_be_read_and_nothing_is_guessed_elsewhere() {
        let offer = Offer { title: "Диван <b>".into(), ..Default::default() }.encode_to_vec();
        let shown = meaning("offers", &offer).unwrap();
        assert!(shown.contains("\"title\": \"Диван <b>\""), "{shown}");
        assert_eq!(meaning("somebody.elses", &offer), None);
        assert_eq!(meaning("offers", b"\xff\xff\xff"), None);
        assert_eq!(meaning("offers", b""), None);
        assert_eq!(meaning("moderation", br#"{"a":1}"#).as_deref(), Some("{\n  \"a\": 1\n}"));
    }

    #[test]
    fn a_long_message_is_cut() {
        let offer = Offer { description: "я".repeat(2 * MESSAGE_CHARS_MAX), ..Default::default() };
        let shown = meaning("offers", &offer.encode_to_vec()).unwrap();
        assert_eq!(shown.chars().count(), MESSAGE_CHARS_MAX + 1);
    }
}
