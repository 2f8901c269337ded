//! Messages, and pages of them.

use std::time::Duration;

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use crate::limits::{
    APPEND_BYTES_MAX, APPEND_MESSAGES_MAX, HEADER_NAME_BYTES_MAX, HEADERS_MAX, MESSAGE_BYTES_MAX,
    READ_BYTES_MAX, READ_MESSAGES_MAX,
};
use crate::{Error, Result};

/// What a log keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Messages of one key stay in order. An empty key is a key like any other.
    pub key: Bytes,
    /// Names and values, in order; a name may occur more than once.
    pub headers: Vec<(String, Bytes)>,
    /// The content.
    pub payload: Bytes,
    /// Milliseconds since 1970, as the producer says; above zero, which means "now" to Kafka.
    pub time: i64,
}

impl Message {
    /// A message without headers.
    #[must_use]
    pub fn new(key: impl Into<Bytes>, payload: impl Into<Bytes>, time: i64) -> Self {
        Self { key: key.into(), headers: Vec::new(), payload: payload.into(), time }
    }

    /// The same message with one more header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Bytes>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The value of the last header of that name.
    #[must_use]
    pub fn header_value(&self, name: &str) -> Option<&Bytes> {
        self.headers.iter().rev().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// Bytes of key, headers and payload.
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

/// Whether the messages may be appended in one call.
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

/// The partition where messages of a key go. It never changes: the order of a key's messages hangs on it.
#[must_use]
pub fn partition_of(key: &[u8], partitions: u32) -> u32 {
    (xxh3_64(key) % u64::from(partitions.max(1))) as u32
}

/// Where a message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The partition.
    pub partition: u32,
    /// The offset in it.
    pub offset: i64,
}

/// A message that was read, with its offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The offset in its partition.
    pub offset: i64,
    /// The message.
    pub message: Message,
}

/// Some messages of one partition, and where to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The messages, by offset. Empty at the end of the log.
    pub messages: Vec<Delivered>,
    /// The offset to read next, and to commit once these messages are applied.
    pub next: i64,
}

/// How much a read takes, and how long it waits for it.
#[derive(Clone, Copy, Debug)]
pub struct ReadLimit {
    /// Most messages.
    pub messages: usize,
    /// Most bytes, except that one message always fits.
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
    /// At most so many messages, and no waiting.
    #[must_use]
    pub fn messages(messages: usize) -> Self {
        Self { messages, ..Self::default() }
    }

    /// The same with a limit of bytes.
    #[must_use]
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// The same, waiting at the end of the log for the first message.
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
