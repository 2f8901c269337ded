//! Formats topics as text and as JSON.

use std::time::Duration;

use serde_json::json;
use topics::Description;

use terminal::{counted, table};

pub(super) fn words(topics: &[Description]) -> Vec<String> {
    if topics.is_empty() {
        return vec!["there is no topic yet: torg topic create NAME".to_owned()];
    }
    let head = ["TOPIC", "PARTITIONS", "MESSAGES", "MB", "KEPT FOR"].map(str::to_owned);
    let rows = topics.iter().map(|topic| {
        let bytes = bytes(topic).map_or_else(String::new, |bytes| format!("{:.1}", bytes as f64 / 1e6));
        let (partitions, messages) = (topic.spec.partitions.to_string(), messages(topic).to_string());
        [topic.spec.name.clone(), partitions, messages, bytes, kept(topic)]
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

pub(super) fn made_in_words(topic: &Description) -> String {
    let partitions = counted(topic.spec.partitions.into(), "partition");
    format!("topic {} has {partitions}, kept for {}", topic.spec.name, kept(topic))
}

fn kept(topic: &Description) -> String {
    topic.spec.retention.time.map_or_else(|| "ever".to_owned(), in_hours)
}

fn messages(topic: &Description) -> i64 {
    topic.partitions.iter().map(|partition| partition.end - partition.first).sum()
}

/// The size in bytes, if it is known.
fn bytes(topic: &Description) -> Option<u64> {
    topic.partitions.iter().map(|partition| partition.bytes).sum()
}

fn in_hours(time: Duration) -> String {
    format!("{} h", time.as_secs() / 3600)
}

/// A topic as JSON; unknown and unlimited values are null.
pub(super) fn described(topic: &Description) -> serde_json::Value {
    let retention = &topic.spec.retention;
    json!({
        "name": topic.spec.name,
        "partitions": topic.spec.partitions,
        "messages": messages(topic),
        "bytes": bytes(topic),
        "retention_ms": retention.time.map(|time| time.as_millis() as u64),
        "retention_bytes": retention.bytes,
    })
}
