//! Topics and their partitions.

use std::time::Duration;

use crate::limits::{CONSUMER_NAME_BYTES_MAX, PARTITIONS_MAX, TOPIC_NAME_BYTES_MAX};
use crate::{Error, Result};

/// The limits of stored messages; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Older messages are trimmed (whole milliseconds).
    pub time: Option<Duration>,
    /// The oldest messages of a larger partition are trimmed.
    pub bytes: Option<u64>,
}

impl Retention {
    pub const FOREVER: Self = Self { time: None, bytes: None };

    #[must_use]
    pub const fn of_time(time: Duration) -> Self {
        Self { time: Some(time), bytes: None }
    }

    /// Bytes for each partition.
    #[must_use]
    pub const fn of_bytes(bytes: u64) -> Self {
        Self { time: None, bytes: Some(bytes) }
    }

    pub(crate) fn time_ms(&self) -> Option<i64> {
        self.time.map(|time| i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    }

    pub(crate) fn from_ms(time: Option<i64>, bytes: Option<u64>) -> Self {
        Self { time: time.map(|ms| Duration::from_millis(ms.max(0).cast_unsigned())), bytes }
    }
}

/// The declaration of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicSpec {
    /// Letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// It never changes.
    pub partitions: u32,
    pub retention: Retention,
}

impl TopicSpec {
    /// A topic without retention limits.
    #[must_use]
    pub fn new(name: impl Into<String>, partitions: u32) -> Self {
        Self { name: name.into(), partitions, retention: Retention::FOREVER }
    }

    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    pub(crate) fn validate(&self) -> Result<()> {
        validate_topic_name(&self.name)?;
        if (1..=PARTITIONS_MAX).contains(&self.partitions) {
            return Ok(());
        }
        let (topic, partitions) = (self.name.clone(), self.partitions);
        Err(Error::BadPartitions { topic, partitions, max: PARTITIONS_MAX })
    }
}

/// The state of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionInfo {
    pub partition: u32,
    /// The offset of the oldest stored message; `end` if there is none.
    pub first: i64,
    /// The offset of the next message.
    pub end: i64,
    /// `None` in Kafka.
    pub bytes: Option<u64>,
}

/// The state of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    pub spec: TopicSpec,
    pub partitions: Vec<PartitionInfo>,
}

pub(crate) fn validate_topic_name(name: &str) -> Result<()> {
    let reserved = name == "." || name == ".." || name.starts_with("__");
    validate_name("topic", name, TOPIC_NAME_BYTES_MAX, reserved)
}

pub(crate) fn validate_consumer_name(name: &str) -> Result<()> {
    validate_name("consumer group", name, CONSUMER_NAME_BYTES_MAX, false)
}

fn validate_name(what: &'static str, name: &str, bytes_max: usize, reserved: bool) -> Result<()> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    let reason = if name.is_empty() {
        "it is empty"
    } else if name.len() > bytes_max {
        "it is too long"
    } else if !name.bytes().all(allowed) {
        "only letters, digits, '.', '_' and '-' are allowed"
    } else if reserved {
        "it is reserved"
    } else {
        return Ok(());
    };
    Err(Error::BadName { what, name: name.chars().take(bytes_max).collect(), reason })
}
