//! Queued tasks and slots.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use taskfile::Limits;

use crate::{TaskId, TaskName};

pub(crate) type PoolId = u32;

pub(crate) const NO_POOL: PoolId = 0;

/// The queue's order: by priority, then by waiting time, then by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) priority: Reverse<i32>,
    pub(crate) since: Timestamp,
    pub(crate) name: TaskName,
    pub(crate) task: TaskId,
}

/// A task for which others are held back.
type HoldKey = (Reverse<i32>, TaskId);

/// Tasks that share a limit. Each pool has its own queue, so that a full one costs nothing.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    pub(crate) name: Option<String>,
    pub(crate) limit: Option<u32>,
    pub(crate) running: BTreeSet<TaskId>,
    pub(crate) ready: BTreeSet<Key>,
    holds: BTreeSet<HoldKey>,
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) limit: u32,
    pub(crate) running: usize,
    pub(crate) pools: Vec<Pool>,
    names: BTreeMap<String, PoolId>,
    /// Pools with queued tasks.
    open: BTreeSet<PoolId>,
    holds: BTreeSet<HoldKey>,
}

/// What keeps a queued task from starting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    Full,
    PoolFull,
    /// The free slots are reserved for more important tasks; this is the first of them.
    Kept(TaskId),
}

impl Queue {
    pub(crate) fn new(limits: &Limits) -> Self {
        let mut queue = Self { pools: vec![Pool::default()], ..Self::default() };
        queue.set(limits);
        queue
    }

    /// Applies new limits. Running tasks keep their slots.
    pub(crate) fn set(&mut self, limits: &Limits) {
        self.limit = limits.running;
        for pool in &mut self.pools {
            pool.limit = pool.name.as_ref().and_then(|name| limits.pools.get(name).copied().flatten());
        }
        for (name, limit) in &limits.pools {
            let pool = self.pool(Some(name));
            self.pools[pool as usize].limit = *limit;
        }
    }

    /// The id of a pool; a new one if it has none.
    pub(crate) fn pool(&mut self, name: Option<&str>) -> PoolId {
        let Some(name) = name else { return NO_POOL };
        if let Some(pool) = self.names.get(name) {
            return *pool;
        }
        let pool = self.pools.len() as PoolId;
        self.names.insert(name.to_owned(), pool);
        self.pools.push(Pool { name: Some(name.to_owned()), ..Pool::default() });
        pool
    }

    pub(crate) fn insert(&mut self, pool: PoolId, key: Key) {
        self.pools[pool as usize].ready.insert(key);
        self.open.insert(pool);
    }

    pub(crate) fn remove(&mut self, pool: PoolId, key: &Key) {
        let ready = &mut self.pools[pool as usize].ready;
        ready.remove(key);
        if ready.is_empty() {
            self.open.remove(&pool);
        }
    }

    pub(crate) fn occupy(&mut self, pool: PoolId, task: TaskId) {
        self.running += usize::from(self.pools[pool as usize].running.insert(task));
    }

    pub(crate) fn vacate(&mut self, pool: PoolId, task: TaskId) {
        self.running -= usize::from(self.pools[pool as usize].running.remove(&task));
    }

    pub(crate) fn hold(&mut self, pool: PoolId, priority: i32, task: TaskId) {
        self.holds.insert((Reverse(priority), task));
        self.pools[pool as usize].holds.insert((Reverse(priority), task));
    }

    pub(crate) fn release(&mut self, pool: PoolId, priority: i32, task: TaskId) {
        self.holds.remove(&(Reverse(priority), task));
        self.pools[pool as usize].holds.remove(&(Reverse(priority), task));
    }

    /// The next task to start. What blocks the first task of a pool blocks all others of that pool.
    pub(crate) fn next(&self) -> Option<&Key> {
        let first = |pool: PoolId| self.pools[pool as usize].ready.first().map(|key| (pool, key));
        let can_go = |(pool, key): &(PoolId, &Key)| self.obstacle(*pool, key.priority.0).is_none();
        self.open.iter().copied().filter_map(first).filter(can_go).map(|(_, key)| key).min()
    }

    /// What blocks a task of this pool and priority. A slot is reserved for each more important
    /// task that is about to become ready, globally and in its pool.
    pub(crate) fn obstacle(&self, pool: PoolId, priority: i32) -> Option<Obstacle> {
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
