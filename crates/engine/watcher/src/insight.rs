//! What simulations may know of the watcher's rows. It exists only with the feature `simulation`, and is no part of the contract.

use store::Key;

use crate::tables::{
    CONTROLS, CRAWLS, ENTITIES, ENTRIES, HEADS, INSTANCES, LEASES, OUTBOX, QUEUES, SAVED, SETTINGS, STATES,
};

pub use crate::rows::generated::torg::watcher::v1::{
    Control, CrawlOrder, CrawlProgress, Ended, Entry, Head, Lease, Outgoing, Settings,
};

/// The name of the system stage in keys.
pub const SYSTEM: &str = crate::change::SYSTEM;

/// The number of the lane in which parked entries stand.
pub const PARKED: u32 = crate::queue::PARKED;

/// The number of the lane of the background.
pub const BACKGROUND: u32 = 2;

/// What a key of the watcher's tables stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the columns of the tables")]
pub enum Place {
    Entity { shard: u32, entity: String },
    Head { shard: u32, entity: String },
    Entry { shard: u32, entity: String, stage: String },
    Queue { shard: u32, lane: u32, stage: String, visit_ms: i64, entity: String },
    State { shard: u32, entity: String, stage: String },
    Outbox { shard: u32, at_ms: i64, entity: String, version: u64 },
    Saved { shard: u32, stage: String, at_ms: i64, entity: String, version: u64 },
    Lease { shard: u32 },
    Instance { instance: String },
    Settings,
    Control { stage: String },
    Crawl { shard: u32 },
}

/// The place of a key; `None` if it belongs to a table of somebody else.
pub fn place_of(key: &Key) -> store::Result<Option<Place>> {
    let is = |name: &str| key.table().name == name;
    Ok(Some(if is(ENTITIES.def().name) {
        let (shard, _, entity) = ENTITIES.parts(key)?;
        Place::Entity { shard, entity }
    } else if is(HEADS.def().name) {
        let (shard, _, entity) = HEADS.parts(key)?;
        Place::Head { shard, entity }
    } else if is(ENTRIES.def().name) {
        let (shard, _, entity, stage) = ENTRIES.parts(key)?;
        Place::Entry { shard, entity, stage }
    } else if is(QUEUES.def().name) {
        let (shard, _, lane, stage, visit_ms, entity) = QUEUES.parts(key)?;
        Place::Queue { shard, lane, stage, visit_ms, entity }
    } else if is(STATES.def().name) {
        let (shard, _, entity, stage) = STATES.parts(key)?;
        Place::State { shard, entity, stage }
    } else if is(OUTBOX.def().name) {
        let (shard, _, at_ms, entity, version) = OUTBOX.parts(key)?;
        Place::Outbox { shard, at_ms, entity, version: version.cast_unsigned() }
    } else if is(SAVED.def().name) {
        let (shard, _, stage, at_ms, entity, version) = SAVED.parts(key)?;
        Place::Saved { shard, stage, at_ms, entity, version: version.cast_unsigned() }
    } else if is(LEASES.def().name) {
        Place::Lease { shard: LEASES.parts(key)?.0 }
    } else if is(INSTANCES.def().name) {
        Place::Instance { instance: INSTANCES.parts(key)?.2 }
    } else if is(SETTINGS.def().name) {
        Place::Settings
    } else if is(CONTROLS.def().name) {
        Place::Control { stage: CONTROLS.parts(key)?.2 }
    } else if is(CRAWLS.def().name) {
        Place::Crawl { shard: CRAWLS.parts(key)?.0 }
    } else {
        return Ok(None);
    }))
}

/// The row of an entity that stands in the watcher's own table.
#[must_use]
pub fn entity_key(shard: u32, kind: &str, entity: &str) -> Key {
    ENTITIES.key((shard, kind, entity))
}

/// The row of a head.
#[must_use]
pub fn head_key(shard: u32, kind: &str, entity: &str) -> Key {
    HEADS.key((shard, kind, entity))
}

/// The row of an entry.
#[must_use]
pub fn entry_key(shard: u32, kind: &str, entity: &str, stage: &str) -> Key {
    ENTRIES.key((shard, kind, entity, stage))
}

/// The row of a private state.
#[must_use]
pub fn state_key(shard: u32, kind: &str, entity: &str, stage: &str) -> Key {
    STATES.key((shard, kind, entity, stage))
}

/// The row of a lease.
#[must_use]
pub fn lease_key(shard: u32, kind: &str) -> Key {
    LEASES.key((shard, kind))
}

/// The row of a running process.
#[must_use]
pub fn instance_key(kind: &str, instance: &str) -> Key {
    INSTANCES.key((0, kind, instance))
}

/// The row of what is ordered for a kind as a whole.
#[must_use]
pub fn settings_key(kind: &str) -> Key {
    SETTINGS.key((0, kind))
}

/// The row that says how far a re-crawl has come.
#[must_use]
pub fn crawl_key(shard: u32, kind: &str) -> Key {
    CRAWLS.key((shard, kind))
}
