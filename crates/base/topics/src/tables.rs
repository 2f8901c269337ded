//! The tables of the topics.
//!
//! All rows of one partition are in one shard: the hash of the topic name plus the number of the
//! partition, so that the partitions of one topic, and small topics, spread over a distributed
//! database. Messages are ordered by offset.

use store::{Key, Scan, Table, TableDef};
use xxhash_rust::xxh3::xxh3_64;

/// The declarations of topics.
pub(crate) static SPECS: Table<(u32, String)> = Table::versioned("topic_specs", &["shard", "topic"]);
/// Messages: written once, read in order, trimmed from the front.
pub(crate) static MESSAGES: Table<(u32, String, u32, i64)> =
    Table::plain("topic_messages", &["shard", "topic", "part", "at_offset"]).queue();
/// The end of each partition. Every append checks and writes it.
pub(crate) static HEADS: Table<(u32, String, u32)> =
    Table::versioned("topic_heads", &["shard", "topic", "part"]);
/// The beginning of each partition. Only `trim` writes it, so that trimming and appending do not
/// conflict.
pub(crate) static STARTS: Table<(u32, String, u32)> =
    Table::versioned("topic_starts", &["shard", "topic", "part"]);
/// Offsets of consumer groups. `log` is `store` or `kafka`: an offset of one is meaningless in the
/// other.
pub(crate) static OFFSETS: Table<(u32, String, u32, String, String)> =
    Table::versioned("topic_offsets", &["shard", "topic", "part", "log", "consumer"]);

/// A store needs these tables to hold topics, or the offsets of consumers of Kafka.
#[must_use]
pub fn tables() -> [&'static TableDef; 5] {
    [SPECS.def(), MESSAGES.def(), HEADS.def(), STARTS.def(), OFFSETS.def()]
}

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

    /// The seed of the checksum of a message, so that a misplaced message is detected.
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
