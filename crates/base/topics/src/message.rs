//! Messages, and pages of them.

use std::time::Duration;

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use crate::limits::{
    APPEND_BYTES_MAX, APPEND_MESSAGES_MAX, HEADER_NAME_BYTES_MAX, HEADERS_MAX, MESSAGE_BYTES_MAX,
    READ_BYTES_MAX, READ_MESSAGES_MAX,
};
use crate::{Error, Result};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Messages of one key stay in order. An empty key is an ordinary key.
    pub key: Bytes,
    /// In order; a name may be repeated.
    pub headers: Vec<(String, Bytes)>,
    pub payload: Bytes,
    /// Milliseconds since 1970, set by the producer; above zero, because Kafka reads zero as "now".
    pub time: i64,
}

impl Message {
    #[must_use]
    pub fn new(key: impl Into<Bytes>, payload: impl Into<Bytes>, time: i64) -> Self {
        Self { key: key.into(), headers: Vec::new(), payload: payload.into(), time }
    }

    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Bytes>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    #[must_use]
    pub fn header_value(&self, name: &str) -> Option<&Bytes> {
        self.headers.iter().rev().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    #[must_use]
    pub fn bytes(&self) -> usize {
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        self.key.len() + headers + self.payload.len()
    }

    fn validate(&self, topic: &str) -> Result<()> {
        let too_large =
            |what, count, unit, max| Err(Error::TooLarge { what, topic: topic.to_owned(), count, unit, max });
        if self.bytes() > MESSAGE_BYTES_MAX {
            return too_large("a message", self.bytes(), "bytes", MESSAGE_BYTES_MAX);
        }
        if self.headers.len() > HEADERS_MAX {
            return too_large("a message", self.headers.len(), "headers", HEADERS_MAX);
        }
        if let Some((name, _)) = self.headers.iter().find(|(name, _)| name.len() > HEADER_NAME_BYTES_MAX) {
            return too_large("the name of a header", name.len(), "bytes", HEADER_NAME_BYTES_MAX);
        }
        let bad = |reason| Err(Error::BadMessage { topic: topic.to_owned(), reason });
        if self.headers.iter().any(|(name, _)| name.contains('\0')) {
            return bad("the name of a header contains the NUL character");
        }
        if self.time <= 0 { bad("its time is missing, or before 1970") } else { Ok(()) }
    }
}

/// Checks the limits of one call.
pub(crate) fn validate_append(topic: &str, messages: &[Message]) -> Result<()> {
    let too_large = |count, unit, max| {
        Err(Error::TooLarge { what: "an append", topic: topic.to_owned(), count, unit, max })
    };
    if messages.len() > APPEND_MESSAGES_MAX {
        return too_large(messages.len(), "messages", APPEND_MESSAGES_MAX);
    }
    messages.iter().try_for_each(|message| message.validate(topic))?;
    let bytes = messages.iter().map(Message::bytes).sum();
    if bytes > APPEND_BYTES_MAX { too_large(bytes, "bytes", APPEND_BYTES_MAX) } else { Ok(()) }
}

/// The partition of a key. It never changes, because the order of messages of one key depends on
/// it.
#[must_use]
pub fn partition_of(key: &[u8], partitions: u32) -> u32 {
    (xxh3_64(key) % u64::from(partitions.max(1))) as u32
}

/// The partition and offset of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageId {
    pub partition: u32,
    pub offset: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    pub offset: i64,
    pub message: Message,
}

/// A page of messages and its continuation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// In the order of offsets. Empty at the end of the log.
    pub messages: Vec<Delivered>,
    /// The next offset to read, and to commit once these messages are applied.
    pub next: i64,
}

/// Limits of one read.
#[derive(Clone, Copy, Debug)]
pub struct ReadLimit {
    pub messages: usize,
    /// A single message may exceed it.
    pub bytes: usize,
    /// How long to wait for the first message at the end of the log.
    pub wait: Duration,
}

impl Default for ReadLimit {
    fn default() -> Self {
        Self { messages: 1_000, bytes: 4 * 1024 * 1024, wait: Duration::ZERO }
    }
}

impl ReadLimit {
    /// Reads this many messages without waiting.
    #[must_use]
    pub fn messages(messages: usize) -> Self {
        Self { messages, ..Self::default() }
    }

    #[must_use]
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    #[must_use]
    pub fn waiting(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    pub(crate) fn clamped(self) -> Self {
        let messages = self.messages.clamp(1, READ_MESSAGES_MAX);
        Self { messages, bytes: self.bytes.min(READ_BYTES_MAX), wait: self.wait }
    }
}
