//! Limits of the topics. They are the same for both logs, so that a program works on either.

use std::time::Duration;

/// Kafka allows 249 characters; the rest is left for a prefix.
pub const TOPIC_NAME_BYTES_MAX: usize = 200;
pub const CONSUMER_NAME_BYTES_MAX: usize = 200;
pub const PARTITIONS_MAX: u32 = 1024;
/// Most bytes of key, headers and payload of one message. The default limit of a message in Kafka
/// is 1 MiB with its framing, that of a row in the store likewise.
pub const MESSAGE_BYTES_MAX: usize = 1_000_000;
pub const HEADERS_MAX: usize = 64;
pub const HEADER_NAME_BYTES_MAX: usize = 255;
/// Most messages in one `append`.
pub const APPEND_MESSAGES_MAX: usize = 4_000;
/// Most bytes of messages in one `append`.
pub const APPEND_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Most messages in one page.
pub const READ_MESSAGES_MAX: usize = 10_000;
/// Most bytes in one page; a page holds at least one message if there is one.
pub const READ_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A commit of the log in the store takes no further `append` once it holds this many messages.
/// With the largest `append` and the rows of all partitions it stays below the limit of a batch.
pub const GROUP_MESSAGES_FULL: usize = 2_000;
/// A commit takes no further `append` once its messages have this many bytes.
pub const GROUP_BYTES_FULL: usize = 4 * 1024 * 1024;
/// Queued appends of one topic; further callers wait.
pub(crate) const APPENDS_WAITING_MAX: usize = 4_096;
/// Retries of an append because another process was first.
pub(crate) const APPEND_CONFLICTS_MAX: u32 = 100;
/// Longest pause between two retries; the first ones follow at once.
pub(crate) const APPEND_PAUSE_MAX: Duration = Duration::from_millis(50);
/// A waiting reader polls at this interval, because hints are not guaranteed.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Messages deleted by one commit of `trim`.
pub(crate) const TRIM_MESSAGES_MAX: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_group_fits_into_one_batch_of_the_store() {
        let messages = GROUP_MESSAGES_FULL + APPEND_MESSAGES_MAX;
        assert!(messages + 2 * PARTITIONS_MAX as usize <= store::limits::BATCH_OPS_MAX);
        let keys = (messages + 2 * PARTITIONS_MAX as usize) * (TOPIC_NAME_BYTES_MAX + 32);
        let wrapping = messages * 32 + PARTITIONS_MAX as usize * 64;
        assert!(GROUP_BYTES_FULL + APPEND_BYTES_MAX + keys + wrapping <= store::limits::BATCH_BYTES_MAX);
        let one = MESSAGE_BYTES_MAX + HEADERS_MAX * 8 + 64;
        assert!(one <= store::limits::VALUE_BYTES_MAX);
        const { assert!(READ_BYTES_MAX <= store::limits::PAGE_BYTES_MAX) };
    }
}
