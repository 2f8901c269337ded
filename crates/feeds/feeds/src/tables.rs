//! The tables of feeds.

use store::{Table, TableDef};

/// Feeds: `proto/torg/feeds/v1/feed.proto`. By the shard of the feed; the tables below are by the
/// shard of the seller.
pub(crate) static FEEDS: Table<(u32, String)> = Table::versioned("feeds", &["shard", "feed"]);

pub(crate) static NAMES: Table<(u32, String, String)> =
    Table::plain("feed_names", &["shard", "seller", "namespace"]);

pub(crate) static LOADS: Table<(u32, String, String, i64)> =
    Table::versioned("feed_loads", &["shard", "seller", "namespace", "number"]);

/// The problems of a load in the order of the file, several in a row: by batch, and by the number
/// of the row's first problem in the batch.
pub(crate) static PROBLEMS: Table<(u32, String, String, i64, u32, u32)> =
    Table::plain("feed_problems", &["shard", "seller", "namespace", "number", "batch", "place"]);

/// The catalogue's categories of sellers' own categories.
pub(crate) static MAPPINGS: Table<(u32, String, String)> =
    Table::versioned("feed_mappings", &["shard", "seller", "path"]);

/// Feeds to look through for old loads, by the load that ended.
pub(crate) static OLD_LOADS: Table<(u32, String, String, i64)> =
    Table::plain("feed_old_loads", &["shard", "seller", "namespace", "number"]);

/// Published offers, and the last load that had each. By the shard of the seller's offers, like the
/// tables below. A commit that writes them also checks the feed's row in [`FEED_PROGRESS`].
pub(crate) static FEED_SEEN: Table<(u32, String, String, String)> =
    Table::plain("feed_seen", &["shard", "seller", "namespace", "external"]);

/// What was reported about published offers, kept while they stay the same.
pub(crate) static FEED_NOTES: Table<(u32, String, String, String)> =
    Table::plain("feed_notes", &["shard", "seller", "namespace", "external"]);

/// How far the loads of a feed are applied.
pub(crate) static FEED_PROGRESS: Table<(u32, String, String)> =
    Table::versioned("feed_progress", &["shard", "seller", "namespace"]);

/// Feeds whose last load has ended and may leave offers to remove.
pub(crate) static FEED_SWEEPS: Table<(u32, String, String)> =
    Table::plain("feed_sweeps", &["shard", "seller", "namespace"]);

/// Results of loads on their way to the topic: by the partition and the offset of the message that
/// they answer.
pub(crate) static FEED_ANSWERS: Table<(u32, i64, u32)> =
    Table::plain("feed_answers", &["shard", "place", "part"]).queue();

#[must_use]
pub fn tables() -> Vec<&'static TableDef> {
    vec![
        FEEDS.def(),
        NAMES.def(),
        LOADS.def(),
        PROBLEMS.def(),
        MAPPINGS.def(),
        OLD_LOADS.def(),
        FEED_SEEN.def(),
        FEED_NOTES.def(),
        FEED_PROGRESS.def(),
        FEED_SWEEPS.def(),
        FEED_ANSWERS.def(),
    ]
}
