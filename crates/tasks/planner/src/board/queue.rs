//! Who waits for a place, and who has one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::plan::Settings;
use super::{TaskId, TaskName};

/// The place of a pool in the [`Queue`].
pub(super) type PoolId = u32;

/// The pool of the tasks that have none.
pub(super) const NO_POOL: PoolId = 0;

/// The order of the queue: the more important first, then the one that waits longer, then by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) priority: Reverse<i32>,
    pub(super) since: Timestamp,
    pub(super) name: TaskName,
    pub(super) task: TaskId,
}

/// A task for which others are held back.
type HoldKey = (Reverse<i32>, TaskId);

/// Tasks that share a limit. Each has a queue of its own, so that a full one costs nothing.
#[derive(Debug, Default)]
pub(super) struct Pool {
    pub(super) name: Option<String>,
    pub(super) limit: Option<u32>,
    pub(super) running: BTreeSet<TaskId>,
    pub(super) ready: BTreeSet<Key>,
    holds: BTreeSet<HoldKey>,
}

/// All pools.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) limit: u32,
    pub(super) running: usize,
    pub(super) pools: Vec<Pool>,
    names: BTreeMap<String, PoolId>,
    /// Pools in which somebody waits.
    open: BTreeSet<PoolId>,
    holds: BTreeSet<HoldKey>,
}

/// What stands in the way of a task that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// As many run as may run.
    Full,
    /// As many run as may run in its pool.
    PoolFull,
    /// The places that are left are kept for more important tasks; this is the first of them.
    Kept(TaskId),
}

impl Queue {
    pub(super) fn new(settings: &Settings) -> Self {
        let mut queue = Self {
            limit: 0,
            running: 0,
            pools: vec![Pool::default()],
            names: BTreeMap::new(),
            open: BTreeSet::new(),
            holds: BTreeSet::new(),
        };
        queue.set(settings);
        queue
    }

    /// Takes other limits. Who has a place keeps it.
    pub(super) fn set(&mut self, settings: &Settings) {
        self.limit = settings.running;
        for pool in &mut self.pools {
            pool.limit = pool.name.as_ref().and_then(|name| settings.pools.get(name).copied().flatten());
        }
        for (name, limit) in &settings.pools {
            let pool = self.pool(Some(name));
            self.pools[pool as usize].limit = *limit;
        }
    }

    /// The place of a pool, which it gets if it has none.
    pub(super) fn pool(&mut self, name: Option<&str>) -> PoolId {
        let Some(name) = name else { return NO_POOL };
        if let Some(pool) = self.names.get(name) {
            return *pool;
        }
        let pool = self.pools.len() as PoolId;
        self.names.insert(name.to_owned(), pool);
        self.pools.push(Pool { name: Some(name.to_owned()), ..Pool::default() });
        pool
    }

    pub(super) fn insert(&mut self, pool: PoolId, key: Key) {
        self.pools[pool as usize].ready.insert(key);
        self.open.insert(pool);
    }

    pub(super) fn remove(&mut self, pool: PoolId, key: &Key) {
        let ready = &mut self.pools[pool as usize].ready;
        ready.remove(key);
        if ready.is_empty() {
            self.open.remove(&pool);
        }
    }

    pub(super) fn take_place(&mut self, pool: PoolId, task: TaskId) {
        self.running += usize::from(self.pools[pool as usize].running.insert(task));
    }

    pub(super) fn leave_place(&mut self, pool: PoolId, task: TaskId) {
        self.running -= usize::from(self.pools[pool as usize].running.remove(&task));
    }

    pub(super) fn hold(&mut self, pool: PoolId, priority: i32, task: TaskId) {
        self.holds.insert((Reverse(priority), task));
        self.pools[pool as usize].holds.insert((Reverse(priority), task));
    }

    pub(super) fn release(&mut self, pool: PoolId, priority: i32, task: TaskId) {
        self.holds.remove(&(Reverse(priority), task));
        self.pools[pool as usize].holds.remove(&(Reverse(priority), task));
    }

    /// The task whose turn it is. What stands in the way of the first of a pool stands in the way of all others of that pool.
    pub(super) fn next(&self) -> Option<&Key> {
        let first = |pool: PoolId| self.pools[pool as usize].ready.first().map(|key| (pool, key));
        let can_go = |(pool, key): &(PoolId, &Key)| self.obstacle(*pool, key.priority.0).is_none();
        self.open.iter().copied().filter_map(first).filter(can_go).map(|(_, key)| key).min()
    }

    /// What stands in the way of a task of this pool and priority. A place is kept for each more important task that is about to
    /// become ready, among all places and among those of its pool.
    pub(super) fn obstacle(&self, pool: PoolId, priority: i32) -> Option<Obstacle> {
        let free = (self.limit as usize).saturating_sub(self.running);
        if free == 0 {
            return Some(Obstacle::Full);
        }
        let own = &self.pools[pool as usize];
        let own_free = own.limit.map(|limit| (limit as usize).saturating_sub(own.running.len()));
        if own_free == Some(0) {
            return Some(Obstacle::PoolFull);
        }
        let kept = |holds: &BTreeSet<HoldKey>, free: usize| {
            let above = holds.iter().take(free).take_while(|(other, _)| other.0 > priority);
            if above.count() < free { None } else { holds.first().map(|(_, task)| Obstacle::Kept(*task)) }
        };
        kept(&self.holds, free).or_else(|| own_free.and_then(|free| kept(&own.holds, free)))
    }
}
