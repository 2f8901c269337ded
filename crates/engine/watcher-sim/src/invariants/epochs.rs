use watcher::insight::RowKey;

use super::fences::owned_shards;
use super::{Invariant, Seen, require};
use crate::tables::{Commit, lease_key, lease_of};

/// An owner's write happens in its epoch: nothing of an old epoch gets through. The epoch of a
/// shard grows with every change of its owner.
pub(crate) struct Epochs;

impl Invariant for Epochs {
    fn name(&self) -> &'static str {
        "no write by an old epoch"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        let writes = owned_shards(commit).into_iter().map(|shard| {
            let (owner, epoch) = lease_of(commit.before(&lease_key(shard)));
            require(owner == commit.actor, || {
                format!("{} wrote to shard {shard}, which {owner:?} has in epoch {epoch}", commit.actor)
            })
        });
        let leases = commit.places(|place| match place {
            RowKey::Lease { shard } => Some(*shard),
            _ => None,
        });
        let changes = leases.map(|(shard, change)| {
            let (before, after) = (lease_of(change.before.as_ref()).1, lease_of(change.after.as_ref()).1);
            require(after == before + 1, || format!("shard {shard} went from epoch {before} to {after}"))
        });
        writes.chain(changes).reduce(Seen::and)
    }
}
