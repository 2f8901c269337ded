//! Who serves which shard.

use std::collections::BTreeMap;
use std::time::Duration;

use store::{Key, Read};

use super::said_in;
use crate::Result;
use crate::board::StageStatus;
use crate::entity::Entity;
use crate::limits::LEASES_IN_A_READ_MAX;
use crate::rows::{Instance, Lease, decode};
use crate::tables::{INSTANCES, LEASES};
use crate::time::Time;
use crate::watcher::{Watcher, versioned};

/// The processes on a store, and who serves what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cluster {
    /// By name: those that live, and those whose silence nobody has noticed yet.
    pub processes: BTreeMap<String, ProcessSeen>,
    /// Who holds each shard that somebody holds.
    pub holders: BTreeMap<u32, Holder>,
}

/// A process, as it was heard of last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessSeen {
    /// When it began to serve, by its own clock.
    pub started: Time,
    /// When it was heard of last, by its own clock.
    pub beat: Time,
    /// How its stages fare; the system stage has the empty name.
    pub stages: BTreeMap<String, StageStatus>,
}

/// Who holds a shard. Whether the holder lives is another question: see [`Cluster::processes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The name of the process.
    pub owner: String,
    /// Since when, by its own clock.
    pub since: Time,
}

impl<E: Entity> Watcher<E> {
    /// The processes on the store, and who holds which shard: one read of each.
    pub async fn cluster(&self) -> Result<Cluster> {
        let mut cluster = Cluster::default();
        for row in self.rows(&INSTANCES.prefix((0, E::KIND))).await? {
            let (_, _, name) = INSTANCES.parts(&row.key)?;
            let instance: Instance = decode(&row)?;
            let seen = ProcessSeen {
                started: Time::from_ms(instance.started_ms),
                beat: Time::from_ms(instance.beat_ms),
                stages: self.board().said_by(&name).unwrap_or_else(|| said_in(&instance)),
            };
            cluster.processes.insert(name, seen);
        }
        let shards: Vec<u32> = (0..self.shards()).collect();
        for shards in shards.chunks(LEASES_IN_A_READ_MAX) {
            let keys: Vec<Key> = shards.iter().map(|shard| LEASES.key((*shard, E::KIND))).collect();
            for (shard, row) in shards.iter().zip(self.store().get(&keys).await?) {
                let Lease { owner, since_ms, .. } = versioned::<Lease>(row)?.content;
                if !owner.is_empty() {
                    cluster.holders.insert(*shard, Holder { owner, since: Time::from_ms(since_ms) });
                }
            }
        }
        Ok(cluster)
    }

    /// How long a process may be silent before others take its shards.
    #[must_use]
    pub fn lease_time(&self) -> Duration {
        self.rules().config.lease_time
    }

    /// The name under which this process serves, as others know it; `None` if it has never served.
    #[must_use]
    pub fn instance(&self) -> Option<String> {
        self.board().instance()
    }
}
