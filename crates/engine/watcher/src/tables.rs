//! The watcher's tables. All keys of an entity start with its shard, then the kind.

use store::{Table, TableDef};

/// Entities that have no table of their own.
pub(crate) static ENTITIES: Table<(u32, String, String)> =
    Table::versioned("watcher_entities", &["shard", "kind", "entity"]).large();
/// The [`Head`](crate::rows::Head) of each entity.
pub(crate) static HEADS: Table<(u32, String, String)> =
    Table::versioned("watcher_heads", &["shard", "kind", "entity"]);
/// The [`Entry`](crate::rows::Entry) of each entity in each stage.
pub(crate) static ENTRIES: Table<(u32, String, String, String)> =
    Table::versioned("watcher_entries", &["shard", "kind", "entity", "stage"]);
/// One row for each entry or head that waits, the oldest visit first. The system stage has the
/// empty name.
pub(crate) static QUEUES: Table<(u32, String, u32, String, i64, String)> =
    Table::plain("watcher_queues", &["shard", "kind", "lane", "stage", "visit", "entity"]).queue();
/// The private states of stages.
pub(crate) static STATES: Table<(u32, String, String, String)> =
    Table::versioned("watcher_states", &["shard", "kind", "entity", "stage"]);
/// Changes that are not exported yet, in order for each entity.
pub(crate) static OUTBOX: Table<(u32, String, i64, String, i64)> =
    Table::plain("watcher_outbox", &["shard", "kind", "at", "entity", "entity_version"]).queue();
/// Changes that are to be delivered to `on_saved`, in order for each entity.
pub(crate) static SAVED: Table<(u32, String, String, i64, String, i64)> =
    Table::plain("watcher_saved", &["shard", "kind", "stage", "at", "entity", "entity_version"]).queue();
/// The owner of each shard: [`Lease`](crate::rows::Lease). The version is the epoch.
pub(crate) static LEASES: Table<(u32, String)> = Table::versioned("watcher_leases", &["shard", "kind"]);
/// Running processes, all in shard zero: [`Instance`](crate::rows::Instance).
pub(crate) static INSTANCES: Table<(u32, String, String)> =
    Table::versioned("watcher_instances", &["shard", "kind", "instance"]);
/// The settings of each kind, all in shard zero: [`Settings`](crate::rows::Settings).
pub(crate) static SETTINGS: Table<(u32, String)> = Table::versioned("watcher_settings", &["shard", "kind"]);
/// The orders for each stage, all in shard zero: [`Control`](crate::rows::Control).
pub(crate) static CONTROLS: Table<(u32, String, String)> =
    Table::versioned("watcher_controls", &["shard", "kind", "stage"]);
/// The progress of the re-crawl in each shard: [`CrawlProgress`](crate::rows::CrawlProgress).
pub(crate) static CRAWLS: Table<(u32, String)> = Table::versioned("watcher_crawls", &["shard", "kind"]);

/// The tables that a store must be opened with.
#[must_use]
pub fn tables() -> [&'static TableDef; 12] {
    [
        ENTITIES.def(),
        HEADS.def(),
        ENTRIES.def(),
        QUEUES.def(),
        STATES.def(),
        OUTBOX.def(),
        SAVED.def(),
        LEASES.def(),
        INSTANCES.def(),
        SETTINGS.def(),
        CONTROLS.def(),
        CRAWLS.def(),
    ]
}
