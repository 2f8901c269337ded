//! Which process serves which shard.

use std::collections::BTreeMap;
use std::time::Duration;

use store::{Key, Read};

use super::statuses_in;
use crate::Result;
use crate::change::Stored;
use crate::entity::Entity;
use crate::limits::LEASES_IN_A_READ_MAX;
use crate::rows::{Instance, Lease, decode};
use crate::status::StageStatus;
use crate::tables::{INSTANCES, LEASES};
use crate::watcher::Watcher;
use clock::Time;

/// The processes on a store and their shards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cluster {
    /// By name: live processes, and dead ones that nobody has noticed yet.
    pub processes: BTreeMap<String, ProcessSeen>,
    /// By shard; shards without an owner are left out.
    pub holders: BTreeMap<u32, Holder>,
}

/// A process, as of its last heartbeat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessSeen {
    /// When it started to serve, by its own clock.
    pub started: Time,
    /// The last heartbeat, by its own clock.
    pub beat: Time,
    /// By stage; the system stage has the empty name.
    pub stages: BTreeMap<String, StageStatus>,
}

/// The owner of a shard, dead or alive: see [`Cluster::processes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub owner: String,
    /// By its own clock.
    pub since: Time,
}

impl<E: Entity> Watcher<E> {
    /// The processes on the store and the owner of each shard, in one read of each.
    pub async fn cluster(&self) -> Result<Cluster> {
        let mut cluster = Cluster { processes: self.processes().await?, ..Cluster::default() };
        let shards: Vec<u32> = (0..self.shards()).collect();
        for shards in shards.chunks(LEASES_IN_A_READ_MAX) {
            let keys: Vec<Key> = shards.iter().map(|shard| LEASES.key((*shard, E::KIND))).collect();
            for (shard, row) in shards.iter().zip(self.store().get(&keys).await?) {
                let Lease { owner, since_ms, .. } = Stored::<Lease>::read(row)?.content;
                if !owner.is_empty() {
                    cluster.holders.insert(*shard, Holder { owner, since: Time::from_ms(since_ms) });
                }
            }
        }
        Ok(cluster)
    }

    /// The processes on the store, by name.
    pub(super) async fn processes(&self) -> Result<BTreeMap<String, ProcessSeen>> {
        let mut processes = BTreeMap::new();
        for row in self.rows(&INSTANCES.prefix((0, E::KIND))).await? {
            let (_, _, name) = INSTANCES.parts(&row.key)?;
            let instance: Instance = decode(&row)?;
            let seen = ProcessSeen {
                started: Time::from_ms(instance.started_ms),
                beat: Time::from_ms(instance.beat_ms),
                stages: self.status().of_instance(&name).unwrap_or_else(|| statuses_in(&instance)),
            };
            processes.insert(name, seen);
        }
        Ok(processes)
    }

    /// How long a process may be silent before others take its shards.
    #[must_use]
    pub fn lease_time(&self) -> Duration {
        self.config().lease_time
    }

    /// The name under which this process serves; `None` if it never did.
    #[must_use]
    pub fn instance(&self) -> Option<String> {
        self.status().instance()
    }
}
