//! The contract between the topics and a log. Users of the crate see [`Topics`](crate::Topics)
//! instead.

use async_trait::async_trait;

use crate::message::{Message, MessageId, Page, ReadLimit};
use crate::spec::{PartitionInfo, TopicSpec};
use crate::{Error, Result};

/// A message and the partition it goes to.
#[derive(Clone, Debug)]
pub struct Routed {
    pub partition: u32,
    pub message: Message,
}

/// The result of a trim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trimmed {
    pub messages: u64,
    /// Zero in Kafka, which does not report it.
    pub bytes: u64,
}

/// A store of topics.
///
/// Logs may rely on what [`Topics`](crate::Topics) has checked: names, limits, and that a partition
/// exists. `partitions` is always the number of partitions of the topic.
#[async_trait]
pub trait Log: Send + Sync {
    /// `store` or `kafka`: part of the key of consumer offsets.
    fn name(&self) -> &'static str;

    /// Creates the topic, or sets the retention of an existing one with the same number of
    /// partitions.
    async fn create(&self, spec: &TopicSpec) -> Result<()>;

    /// Fails with [`Error::UnknownTopic`].
    async fn spec(&self, topic: &str) -> Result<TopicSpec>;

    async fn list(&self) -> Result<Vec<TopicSpec>>;

    async fn partitions(&self, topic: &str, partitions: u32) -> Result<Vec<PartitionInfo>>;

    /// Appends the messages durably in their order, and returns their ids.
    async fn append(&self, topic: &str, messages: Vec<Routed>) -> Result<Vec<MessageId>>;

    /// See [`Topics::read`](crate::Topics::read).
    async fn read(&self, topic: &str, partition: u32, offset: i64, limit: ReadLimit) -> Result<Page>;

    /// See [`Topics::offset_at`](crate::Topics::offset_at).
    async fn offset_at(&self, topic: &str, partition: u32, time: i64) -> Result<i64>;

    /// See [`Topics::trim`](crate::Topics::trim).
    async fn trim(&self, topic: &str, now: i64) -> Result<Trimmed>;

    /// Finishes pending appends, and releases connections.
    async fn close(&self) -> Result<()>;
}

pub(crate) fn out_of_range(topic: &str, offset: i64, info: &PartitionInfo) -> Error {
    let &PartitionInfo { partition, first, end, .. } = info;
    Error::OffsetOutOfRange { topic: topic.to_owned(), partition, offset, first, end }
}
