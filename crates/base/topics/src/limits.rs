//! Every limit of the topics, in one place. They hold on both implementations alike, so that a program that works on
//! one works on the other.

use std::time::Duration;

/// Longest name of a topic. Kafka takes 249 characters; the rest is left for a prefix.
pub const TOPIC_NAME_BYTES_MAX: usize = 200;
/// Longest name of a group of consumers.
pub const CONSUMER_NAME_BYTES_MAX: usize = 200;
/// Most partitions of one topic.
pub const PARTITIONS_MAX: u32 = 1024;
/// Most bytes of key, headers and payload of one message. Kafka's own default limit for a message is 1 MiB with all
/// its wrapping, the store's for a row likewise.
pub const MESSAGE_BYTES_MAX: usize = 1_000_000;
/// Most headers of one message.
pub const HEADERS_MAX: usize = 64;
/// Longest name of a header.
pub const HEADER_NAME_BYTES_MAX: usize = 255;
/// Most messages in one `append`.
pub const APPEND_MESSAGES_MAX: usize = 4_000;
/// Most bytes of messages in one `append`.
pub const APPEND_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Most messages in one page, whatever was asked for.
pub const READ_MESSAGES_MAX: usize = 10_000;
/// Most bytes in one page, whatever was asked for; a page holds at least one message if there is one.
pub const READ_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A commit of the log in the store takes no further `append` once it holds this many messages. Together with the
/// largest `append` and the rows of all partitions it stays below the store's limit for a batch.
pub const GROUP_MESSAGES_FULL: usize = 2_000;
/// The same for the bytes of the messages.
pub const GROUP_BYTES_FULL: usize = 4 * 1024 * 1024;
/// Appends that may wait for the commit before them to end, by topic; further ones wait outside.
pub(crate) const APPENDS_WAITING_MAX: usize = 4_096;
/// How often an append is tried again because another process was faster.
pub(crate) const APPEND_CONFLICTS_MAX: u32 = 100;
/// Longest pause between two such attempts; the first ones follow at once.
pub(crate) const APPEND_PAUSE_MAX: Duration = Duration::from_millis(50);
/// A waiting reader looks again after this time even if no hint came: hints are not promised.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Messages that one commit of `trim` deletes at most.
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
