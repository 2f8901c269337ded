//! The tables of offers.

use store::{Table, TableDef};

/// Offers: `proto/torg/offers/v1/offer.proto`. By the shard of the offer.
pub(crate) static OFFERS: Table<(u32, String)> = Table::versioned("offers", &["shard", "offer"]).large();

/// Offers that have left the active tables.
pub(crate) static ARCHIVE: Table<(u32, String)> =
    Table::versioned("offers_archive", &["shard", "offer"]).large();

/// What moderation thinks, and what billing keeps: rows of their own, so that their writers never meet.
pub(crate) static MODERATION: Table<(u32, String)> =
    Table::versioned("offer_moderation", &["shard", "offer"]);
pub(crate) static BILLING: Table<(u32, String)> = Table::versioned("offer_billing", &["shard", "offer"]);

/// What happened to an offer, by version.
pub(crate) static HISTORY: Table<(u32, String, i64)> =
    Table::plain("offer_history", &["shard", "offer", "offer_version"]);

/// A seller's offers in a preset, by the time of creation. By the shard of the seller, as all that follows.
pub(crate) static PRESETS: Table<(u32, String, String, i64, String)> =
    Table::plain("offer_presets", &["shard", "seller", "preset", "created", "offer"]);

/// A seller's offers by something that people filter by.
pub(crate) static FILTERS: Table<(u32, String, String, i64, String)> =
    Table::plain("offer_filters", &["shard", "seller", "filter", "created", "offer"]);

/// A seller's counters, each in parts.
pub(crate) static COUNTERS: Table<(u32, String, String, u32)> =
    Table::counters("offer_counters", &["shard", "seller", "counter", "part"]);

/// A seller's offers by their ids in a feed.
pub(crate) static EXTERNALS: Table<(u32, String, String, String)> =
    Table::versioned("offer_externals", &["shard", "seller", "namespace", "external"]);

/// The draft of each owner.
pub(crate) static DRAFTS: Table<(u32, String)> = Table::versioned("drafts", &["shard", "owner"]).large();

/// Calls with an idempotency key that were done. By the shard of the key.
pub(crate) static ANSWERS: Table<(u32, String, String)> =
    Table::versioned("offer_answers", &["shard", "caller", "request"]);

/// Which repair of a seller's counts was the last: two at a time must not both correct the same drift.
pub(crate) static REPAIRS: Table<(u32, String)> = Table::versioned("offer_repairs", &["shard", "seller"]);

/// How far chores are that go through whole tables.
pub(crate) static CHORES: Table<(u32, String)> = Table::versioned("offer_chores", &["shard", "chore"]);

/// Offers that wait to be archived, by their status and since when they have it. By the shard of the offer.
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
