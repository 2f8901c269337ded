//! Limits of the clients of Kafka.

use std::time::Duration;

/// Clients that read from Kafka: this many readers can be at different offsets of one partition
/// without a seek.
pub(super) const LANES_MAX: usize = 8;
/// Partitions that one such client follows at a time; the least recently read one is dropped.
pub(super) const CURSORS_MAX: usize = 256;
/// Memory of a partition for messages that were fetched ahead.
pub(super) const FETCHED_KIB_MAX: u32 = 8 * 1024;
/// Messages that may be on their way to Kafka at once.
pub(super) const UNSENT_MESSAGES_MAX: u32 = 100_000;
/// Pause before a full producer queue is tried again.
pub(super) const QUEUE_PAUSE: Duration = Duration::from_millis(5);
/// Pause between two checks that all brokers know a new topic.
pub(super) const SETTLE_PAUSE: Duration = Duration::from_millis(50);
