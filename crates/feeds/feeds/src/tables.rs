//! The tables of feeds. All but the feeds themselves by the shard of the seller.

use store::{Table, TableDef};

/// Feeds: `proto/torg/feeds/v1/feed.proto`. By the shard of the feed.
pub(crate) static FEEDS: Table<(u32, String)> = Table::versioned("feeds", &["shard", "feed"]);

/// The feeds of a seller.
pub(crate) static NAMES: Table<(u32, String, String)> =
    Table::plain("feed_names", &["shard", "seller", "namespace"]);

/// The loads of a feed.
pub(crate) static LOADS: Table<(u32, String, String, i64)> =
    Table::versioned("feed_loads", &["shard", "seller", "namespace", "number"]);

/// The problems of a load, in the order of the file, some in a row: by batch, and by the number of the row's first in it.
pub(crate) static PROBLEMS: Table<(u32, String, String, i64, u32, u32)> =
    Table::plain("feed_problems", &["shard", "seller", "namespace", "number", "batch", "place"]);

/// What sellers' own categories are.
pub(crate) static MAPPINGS: Table<(u32, String, String)> =
    Table::versioned("feed_mappings", &["shard", "seller", "path"]);

/// Loads that are to be thrown away.
pub(crate) static OLD_LOADS: Table<(u32, String, String, i64)> =
    Table::plain("feed_old_loads", &["shard", "seller", "namespace", "number"]);

/// The tables that feeds need, for the schema of a store.
#[must_use]
pub fn tables() -> Vec<&'static TableDef> {
    vec![FEEDS.def(), NAMES.def(), LOADS.def(), PROBLEMS.def(), MAPPINGS.def(), OLD_LOADS.def()]
}
