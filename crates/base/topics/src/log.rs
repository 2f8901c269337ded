//! The contract between the topics and a log. Users of the crate see [`Topics`](crate::Topics) instead.

use async_trait::async_trait;

use crate::message::{Message, Page, Place, ReadLimit};
use crate::spec::{PartitionInfo, TopicSpec};
use crate::{Error, Result};

/// A message with the partition that it goes to.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The partition.
    pub partition: u32,
    /// The message.
    pub message: Message,
}

/// What `trim` did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trimmed {
    /// Messages that are gone.
    pub messages: u64,
    /// Bytes that they took; Kafka does not tell.
    pub bytes: u64,
}

/// A place that keeps topics.
///
/// Logs may rely on what [`Topics`](crate::Topics) has checked: names, limits, and that a partition exists. `partitions`
/// is always the number that the topic was created with.
#[async_trait]
pub trait Log: Send + Sync {
    /// `store` or `kafka`: consumers' offsets are kept by it.
    fn name(&self) -> &'static str;

    /// Makes the topic; or, if there is one with the same number of partitions, gives it this retention.
    async fn create(&self, spec: &TopicSpec) -> Result<()>;

    /// The topic of that name, or [`Error::UnknownTopic`].
    async fn spec(&self, topic: &str) -> Result<TopicSpec>;

    /// All topics, by name.
    async fn list(&self) -> Result<Vec<TopicSpec>>;

    /// How every partition stands.
    async fn partitions(&self, topic: &str, partitions: u32) -> Result<Vec<PartitionInfo>>;

    /// Appends the messages, durably, in their order, and answers where each stands.
    async fn append(&self, topic: &str, messages: Vec<Placed>) -> Result<Vec<Place>>;

    /// Messages from this offset on. See [`Topics::read`](crate::Topics::read).
    async fn read(&self, topic: &str, partition: u32, offset: i64, limit: ReadLimit) -> Result<Page>;

    /// The offset to read from for all messages of this time and later.
    async fn offset_at(&self, topic: &str, partition: u32, time: i64) -> Result<i64>;

    /// Deletes what the topic's retention no longer keeps.
    async fn trim(&self, topic: &str, now: i64) -> Result<Trimmed>;

    /// Finishes what was begun, and lets go of connections.
    async fn close(&self) -> Result<()>;
}

pub(crate) fn out_of_range(topic: &str, offset: i64, info: &PartitionInfo) -> Error {
    let &PartitionInfo { partition, first, end, .. } = info;
    Error::OffsetOutOfRange { topic: topic.to_owned(), partition, offset, first, end }
}
