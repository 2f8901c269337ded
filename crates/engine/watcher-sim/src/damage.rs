//! Planted bugs that show at the store: they change batches and scans on their way to the engine,
//! so that the watcher needs no switch for them.

use std::borrow::Cow;

use buffa::Message;
use store::engine::Group;
use store::{Batch, Key, Scan, Write};
use watcher::insight::{self, Entry, Lease, RowKey};
use watcher::planted::{Bug, is_planted};

use crate::thing::KIND;

/// The bugs of this file.
const BUGS: [Bug; 11] = [
    Bug::NoFence,
    Bug::NoEntryCheck,
    Bug::NoStateCheck,
    Bug::SameEpoch,
    Bug::NoHandOver,
    Bug::Leftovers,
    Bug::QueueRowStays,
    Bug::NoOutbox,
    Bug::VersionJump,
    Bug::ForeignState,
    Bug::SilentParking,
];

/// The group as a watcher with the planted bug would write it.
pub(crate) fn damaged(group: &Group) -> Cow<'_, Group> {
    if !BUGS.into_iter().any(is_planted) {
        return Cow::Borrowed(group);
    }
    let batches = group.batches.iter().map(damaged_batch).collect();
    Cow::Owned(Group { batches, attempt: group.attempt })
}

/// The scan as a watcher with the planted bug would make it.
pub(crate) fn damaged_scan(scan: &Scan) -> Cow<'_, Scan> {
    if is_planted(Bug::NewestFirst) && scan.table().name == "watcher_outbox" {
        return Cow::Owned(scan.clone().descending());
    }
    Cow::Borrowed(scan)
}

fn row_of(key: &Key) -> Option<RowKey> {
    insight::row_key_of(key).ok().flatten()
}

fn damaged_batch(batch: &Batch) -> Batch {
    let mut damaged = batch.id().map_or_else(Batch::new, Batch::with_id);
    let is_lease = |key: &Key| matches!(row_of(key), Some(RowKey::Lease { .. }));
    let of_owner = batch.checks().iter().any(|(key, _)| is_lease(key));
    let of_leases = batch.writes().iter().any(|(key, _)| is_lease(key));
    for (key, version) in batch.checks() {
        let left_out = match row_of(key) {
            Some(RowKey::Lease { .. }) => is_planted(Bug::NoFence) && !of_leases,
            Some(RowKey::Entry { .. }) => is_planted(Bug::NoEntryCheck) && of_owner,
            Some(RowKey::State { .. }) => is_planted(Bug::NoStateCheck) && of_owner,
            _ => false,
        };
        if !left_out {
            damaged.check(key.clone(), *version);
        }
    }
    for (key, write) in batch.writes() {
        match write {
            Write::Put { version, value } => {
                let (mut key, mut version, mut value) = (key.clone(), *version, value.clone());
                match row_of(&key) {
                    Some(RowKey::Outbox { .. }) if is_planted(Bug::NoOutbox) => continue,
                    Some(RowKey::Lease { .. }) if is_planted(Bug::SameEpoch) => {
                        version = (version - 1).max(1);
                    }
                    Some(RowKey::Lease { .. }) if is_planted(Bug::NoHandOver) && is_free(&value) => continue,
                    Some(RowKey::Entity { .. }) if is_planted(Bug::VersionJump) && of_owner => version += 1,
                    Some(RowKey::State { shard, entity, .. })
                        if is_planted(Bug::ForeignState) && of_owner =>
                    {
                        key = insight::state_key(shard, KIND, &entity, "another");
                    }
                    Some(RowKey::Entry { .. }) if is_planted(Bug::SilentParking) => {
                        value = without_reason(&value).into();
                    }
                    _ => {}
                }
                if version == 0 {
                    damaged.set(key, value)
                } else {
                    damaged.put(key, version, value)
                };
            }
            Write::Delete => {
                let left_out = match row_of(key) {
                    Some(RowKey::Queue { .. }) => is_planted(Bug::QueueRowStays),
                    Some(RowKey::Entry { .. }) => is_planted(Bug::Leftovers),
                    _ => false,
                };
                if !left_out {
                    damaged.delete(key.clone());
                }
            }
            Write::Add(delta) => _ = damaged.add(key.clone(), *delta),
        }
    }
    damaged
}

fn is_free(lease: &[u8]) -> bool {
    Lease::decode_from_slice(lease).is_ok_and(|lease| lease.owner.is_empty())
}

/// A parked entry without its error.
fn without_reason(entry: &[u8]) -> Vec<u8> {
    let mut entry = Entry::decode_from_slice(entry).unwrap_or_default();
    if entry.parked {
        entry.error.clear();
    }
    entry.encode_to_vec()
}
