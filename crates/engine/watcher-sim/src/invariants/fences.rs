use std::collections::BTreeSet;

use watcher::insight::RowKey;

use super::{Invariant, Seen, require};
use crate::tables::{Commit, Role, lease_key};

/// Every batch of an owner checks the epochs of the shards that it writes to.
pub(crate) struct Fences;

/// The shards to which somebody writes as their owner.
pub(super) fn owned_shards(commit: &Commit<'_>) -> BTreeSet<u32> {
    if commit.role != Role::Instance {
        return BTreeSet::new();
    }
    let places = commit.changes.iter().filter_map(|change| change.place.as_ref());
    places
        .filter_map(|place| match place {
            RowKey::Entity { shard, .. }
            | RowKey::Head { shard, .. }
            | RowKey::Entry { shard, .. }
            | RowKey::Queue { shard, .. }
            | RowKey::State { shard, .. }
            | RowKey::Outbox { shard, .. }
            | RowKey::Saved { shard, .. }
            | RowKey::Crawl { shard } => Some(*shard),
            RowKey::Lease { .. } | RowKey::Instance { .. } | RowKey::Settings | RowKey::Control { .. } => {
                None
            }
        })
        .collect()
}

impl Invariant for Fences {
    fn name(&self) -> &'static str {
        "an owner's batch checks its epoch"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        let look = |shard: u32| {
            let key = lease_key(shard);
            let epoch = commit.before(&key).map_or(0, |row| row.version);
            let checked = commit.batch.checks().iter().any(|(of, version)| *of == key && *version == epoch);
            require(checked, || {
                format!("{} wrote to shard {shard} without a check of epoch {epoch}", commit.actor)
            })
        };
        owned_shards(commit).into_iter().map(look).reduce(Seen::and)
    }
}
