use std::collections::BTreeMap;
use std::time::Duration;

use watcher::insight::{self, RowKey};

use super::{Invariant, Seen, require};
use crate::tables::{Commit, lease_of};
use crate::thing::KIND;

/// A process counts as dead only after a lease time of silence, and shards are taken only from the
/// dead.
pub(crate) struct Leases {
    lease_ms: u64,
    /// When each process was heard of last.
    beats: BTreeMap<String, u64>,
}

impl Leases {
    pub(crate) fn new(lease_time: Duration) -> Self {
        Self { lease_ms: lease_time.as_millis() as u64, beats: BTreeMap::new() }
    }

    fn instance(&mut self, commit: &Commit<'_>, instance: &str, is_there: bool) -> Seen {
        if is_there {
            self.beats.insert(instance.to_owned(), commit.now_ms);
            return require(instance == commit.actor, || format!("{} beats for {instance}", commit.actor));
        }
        let silent = commit.now_ms - self.beats.remove(instance).unwrap_or(commit.now_ms);
        // Whole milliseconds are compared with exact times.
        let is_right = instance == commit.actor || silent + 1 >= self.lease_ms;
        require(is_right, || format!("{} buries {instance} after {silent} ms of silence", commit.actor))
    }
}

impl Invariant for Leases {
    fn name(&self) -> &'static str {
        "shards are taken from the dead only"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        let mut seen = None;
        for change in commit.changes {
            let this = match &change.place {
                Some(RowKey::Instance { instance }) if change.is_real() => {
                    self.instance(commit, instance, change.after.is_some())
                }
                Some(RowKey::Lease { shard }) => {
                    let (owner, _) = lease_of(change.before.as_ref());
                    let is_alive = commit.before(&insight::instance_key(KIND, &owner)).is_some();
                    require(owner == commit.actor || !is_alive, || {
                        format!("{} takes shard {shard} from {owner}, who is alive", commit.actor)
                    })
                }
                _ => continue,
            };
            seen = Some(seen.unwrap_or(Ok(())).and(this));
        }
        seen
    }
}
