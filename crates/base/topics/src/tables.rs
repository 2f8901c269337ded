//! The tables of the topics.
//!
//! Everything about one partition stands in one shard: the hash of the topic's name plus the partition's number, so that
//! the partitions of one topic, and small topics among each other, spread over a distributed database. The rows of one
//! partition follow each other in key order, messages by offset.

use store::{Key, Scan, Table, TableDef};
use xxhash_rust::xxh3::xxh3_64;

/// What each topic was created as.
pub(crate) static SPECS: Table<(u32, String)> = Table::versioned("topic_specs", &["shard", "topic"]);
/// The messages: written once, read in order, trimmed from the front.
pub(crate) static MESSAGES: Table<(u32, String, u32, i64)> =
    Table::plain("topic_messages", &["shard", "topic", "part", "at_offset"]).queue();
/// The writing end of each partition. Every append checks and writes it.
pub(crate) static HEADS: Table<(u32, String, u32)> =
    Table::versioned("topic_heads", &["shard", "topic", "part"]);
/// The front of each partition, written by `trim` only, so that trimming and appending never conflict.
pub(crate) static STARTS: Table<(u32, String, u32)> =
    Table::versioned("topic_starts", &["shard", "topic", "part"]);
/// How far each group of consumers is. `log` is the kind of log, `store` or `kafka`: an offset in one of them means
/// nothing in another.
pub(crate) static OFFSETS: Table<(u32, String, u32, String, String)> =
    Table::versioned("topic_offsets", &["shard", "topic", "part", "log", "consumer"]);

/// The tables that a store must be opened with to hold topics, or the offsets of Kafka's consumers.
#[must_use]
pub fn tables() -> [&'static TableDef; 5] {
    [SPECS.def(), MESSAGES.def(), HEADS.def(), STARTS.def(), OFFSETS.def()]
}

/// The keys of one partition's rows.
#[derive(Clone, Debug)]
pub(crate) struct PartitionKeys {
    pub(crate) topic: String,
    pub(crate) partition: u32,
    pub(crate) shard: u32,
}

impl PartitionKeys {
    pub(crate) fn new(topic: &str, partition: u32) -> Self {
        let shard = topic_shard(topic).wrapping_add(partition);
        Self { topic: topic.to_owned(), partition, shard }
    }

    pub(crate) fn message(&self, offset: i64) -> Key {
        MESSAGES.key((self.shard, &self.topic, self.partition, offset))
    }

    /// The messages from this offset on.
    pub(crate) fn messages_from(&self, offset: i64) -> Scan {
        MESSAGES.prefix((self.shard, &self.topic, self.partition)).from(MESSAGES.bound((
            self.shard,
            &self.topic,
            self.partition,
            offset,
        )))
    }

    pub(crate) fn head(&self) -> Key {
        HEADS.key((self.shard, &self.topic, self.partition))
    }

    pub(crate) fn start(&self) -> Key {
        STARTS.key((self.shard, &self.topic, self.partition))
    }

    pub(crate) fn consumer(&self, log: &str, consumer: &str) -> Key {
        OFFSETS.key((self.shard, &self.topic, self.partition, log, consumer))
    }

    pub(crate) fn consumers(&self, log: &str) -> Scan {
        OFFSETS.prefix((self.shard, &self.topic, self.partition, log))
    }

    /// What the checksum of a message starts from: a message that turns up at another place is noticed.
    pub(crate) fn seed(&self, offset: i64) -> u64 {
        (u64::from(self.shard) << 32) ^ offset.cast_unsigned()
    }
}

pub(crate) fn topic_shard(topic: &str) -> u32 {
    xxh3_64(topic.as_bytes()) as u32
}

pub(crate) fn spec_key(topic: &str) -> Key {
    SPECS.key((topic_shard(topic), topic))
}
