//! Access to the watcher's rows for simulations. Exists only with the feature `simulation` and is
//! not part of the contract.

use store::Key;

use crate::tables::{
    CONTROLS, CRAWLS, ENTITIES, ENTRIES, HEADS, INSTANCES, LEASES, OUTBOX, QUEUES, SAVED, SETTINGS, STATES,
};

pub use crate::rows::generated::torg::watcher::v1::{
    Control, CrawlOrder, CrawlProgress, Ended, Entry, Head, Lease, Outgoing, Settings,
};

pub const SYSTEM: &str = crate::change::SYSTEM;

pub const PARKED: u32 = crate::queue::PARKED;

pub const BACKGROUND: u32 = 2;

/// What a key of the watcher's tables stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the columns of the tables")]
pub enum RowKey {
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

/// `None` for a key of another table.
pub fn row_key_of(key: &Key) -> store::Result<Option<RowKey>> {
    let is = |name: &str| key.table().name == name;
    Ok(Some(if is(ENTITIES.def().name) {
        let (shard, _, entity) = ENTITIES.parts(key)?;
        RowKey::Entity { shard, entity }
    } else if is(HEADS.def().name) {
        let (shard, _, entity) = HEADS.parts(key)?;
        RowKey::Head { shard, entity }
    } else if is(ENTRIES.def().name) {
        let (shard, _, entity, stage) = ENTRIES.parts(key)?;
        RowKey::Entry { shard, entity, stage }
    } else if is(QUEUES.def().name) {
        let (shard, _, lane, stage, visit_ms, entity) = QUEUES.parts(key)?;
        RowKey::Queue { shard, lane, stage, visit_ms, entity }
    } else if is(STATES.def().name) {
        let (shard, _, entity, stage) = STATES.parts(key)?;
        RowKey::State { shard, entity, stage }
    } else if is(OUTBOX.def().name) {
        let (shard, _, at_ms, entity, version) = OUTBOX.parts(key)?;
        RowKey::Outbox { shard, at_ms, entity, version: version.cast_unsigned() }
    } else if is(SAVED.def().name) {
        let (shard, _, stage, at_ms, entity, version) = SAVED.parts(key)?;
        RowKey::Saved { shard, stage, at_ms, entity, version: version.cast_unsigned() }
    } else if is(LEASES.def().name) {
        RowKey::Lease { shard: LEASES.parts(key)?.0 }
    } else if is(INSTANCES.def().name) {
        RowKey::Instance { instance: INSTANCES.parts(key)?.2 }
    } else if is(SETTINGS.def().name) {
        RowKey::Settings
    } else if is(CONTROLS.def().name) {
        RowKey::Control { stage: CONTROLS.parts(key)?.2 }
    } else if is(CRAWLS.def().name) {
        RowKey::Crawl { shard: CRAWLS.parts(key)?.0 }
    } else {
        return Ok(None);
    }))
}

#[must_use]
pub fn entity_key(shard: u32, kind: &str, entity: &str) -> Key {
    ENTITIES.key((shard, kind, entity))
}

#[must_use]
pub fn head_key(shard: u32, kind: &str, entity: &str) -> Key {
    HEADS.key((shard, kind, entity))
}

#[must_use]
pub fn entry_key(shard: u32, kind: &str, entity: &str, stage: &str) -> Key {
    ENTRIES.key((shard, kind, entity, stage))
}

#[must_use]
pub fn state_key(shard: u32, kind: &str, entity: &str, stage: &str) -> Key {
    STATES.key((shard, kind, entity, stage))
}

#[must_use]
pub fn lease_key(shard: u32, kind: &str) -> Key {
    LEASES.key((shard, kind))
}

#[must_use]
pub fn instance_key(kind: &str, instance: &str) -> Key {
    INSTANCES.key((0, kind, instance))
}

#[must_use]
pub fn settings_key(kind: &str) -> Key {
    SETTINGS.key((0, kind))
}

#[must_use]
pub fn crawl_key(shard: u32, kind: &str) -> Key {
    CRAWLS.key((shard, kind))
}
