//! Tables of offers.

use store::{Table, TableDef};

/// `OfferRow`s, see `row.rs`. By the shard of the offer, like the tables up to [`HISTORY`].
pub(crate) static OFFERS: Table<(u32, String)> = Table::versioned("offers", &["shard", "offer"]).large();

/// Offers that left the active table.
pub(crate) static ARCHIVE: Table<(u32, String)> =
    Table::versioned("offers_archive", &["shard", "offer"]).large();

/// The opinion of moderation, and the data of billing: rows of their own, so that their writers do
/// not conflict.
pub(crate) static MODERATION: Table<(u32, String)> =
    Table::versioned("offer_moderation", &["shard", "offer"]);
pub(crate) static BILLING: Table<(u32, String)> = Table::versioned("offer_billing", &["shard", "offer"]);

/// The changes of an offer, by version.
pub(crate) static HISTORY: Table<(u32, String, i64)> =
    Table::plain("offer_history", &["shard", "offer", "offer_version"]);

/// The offers of a seller by preset and time of creation. By the shard of the seller, like the
/// tables that follow.
pub(crate) static PRESETS: Table<(u32, String, String, i64, String)> =
    Table::plain("offer_presets", &["shard", "seller", "preset", "created", "offer"]);

/// The offers of a seller by index value (facet).
pub(crate) static FILTERS: Table<(u32, String, String, i64, String)> =
    Table::plain("offer_filters", &["shard", "seller", "filter", "created", "offer"]);

/// The counters of a seller, each in parts.
pub(crate) static COUNTERS: Table<(u32, String, String, u32)> =
    Table::counters("offer_counters", &["shard", "seller", "counter", "part"]);

/// The offers of a seller by their ids in a feed.
pub(crate) static EXTERNALS: Table<(u32, String, String, String)> =
    Table::versioned("offer_externals", &["shard", "seller", "namespace", "external"]);

/// The draft of each owner.
pub(crate) static DRAFTS: Table<(u32, String)> = Table::versioned("drafts", &["shard", "owner"]).large();

/// Completed calls with an idempotency key. By the shard of the key.
pub(crate) static ANSWERS: Table<(u32, String, String)> =
    Table::versioned("offer_answers", &["shard", "caller", "request"]);

/// The number of the last repair of a seller's counters: two repairs must not correct the same
/// drift.
pub(crate) static REPAIRS: Table<(u32, String)> = Table::versioned("offer_repairs", &["shard", "seller"]);

/// The progress of chores.
pub(crate) static CHORES: Table<(u32, String)> = Table::versioned("offer_chores", &["shard", "chore"]);

/// The queue of the archive, by status and the time of the move to it. By the shard of the offer.
pub(crate) static LEAVING: Table<(u32, String, i64, String)> =
    Table::plain("offer_leaving", &["shard", "status", "since", "offer"]).queue();

/// What is wrong with published offers, by their ids in a feed. By the shard of the seller.
pub(crate) static FEED_TROUBLES: Table<(u32, String, String, String)> =
    Table::plain("feed_troubles", &["shard", "seller", "namespace", "external"]);

/// The tables that offers need, for the schema of a store.
#[must_use]
pub fn tables() -> Vec<&'static TableDef> {
    vec![
        OFFERS.def(),
        ARCHIVE.def(),
        MODERATION.def(),
        BILLING.def(),
        HISTORY.def(),
        PRESETS.def(),
        FILTERS.def(),
        COUNTERS.def(),
        EXTERNALS.def(),
        DRAFTS.def(),
        ANSWERS.def(),
        CHORES.def(),
        REPAIRS.def(),
        LEAVING.def(),
        FEED_TROUBLES.def(),
    ]
}
