//! The store's engine of one process: the shared memory behind the gate of that process, observed
//! by the world.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use store::engine::{ApplyError, Engine, Group, HintSender, Read, Verdict};
use store::{Batch, BatchId, Error, Hint, Key, Memory, Page, Result, Row, Scan, Schema, Write};
use watcher::planted::{Bug, is_planted};

use crate::damage;
use crate::dice::Dice;
use crate::gate::Gate;
use crate::world::{Actor, World};

/// A memory that shows the world every applied batch.
#[derive(Clone)]
pub(crate) struct Observed {
    memory: Memory,
    world: World,
    actor: Arc<Actor>,
    gate: Gate,
    switchboard: Switchboard,
    lanes: usize,
}

impl Observed {
    pub(crate) fn new(
        memory: Memory,
        world: World,
        actor: Arc<Actor>,
        gate: Gate,
        switchboard: Switchboard,
        lanes: usize,
    ) -> Self {
        Self { memory, world, actor, gate, switchboard, lanes }
    }

    /// Every call comes through here. An endless loop that lets no time pass hangs here.
    async fn enter(&self) {
        if self.world.is_spinning(&self.actor) {
            std::future::pending::<()>().await;
        }
        self.gate.pass().await;
    }
}

#[async_trait]
impl Read for Observed {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>> {
        self.enter().await;
        let rows = self.memory.get(keys).await;
        self.gate.pass().await;
        rows
    }

    async fn scan(&self, scan: &Scan) -> Result<Page> {
        self.enter().await;
        let page = self.memory.scan(&damage::damaged_scan(scan)).await;
        self.gate.pass().await;
        page
    }
}

#[async_trait]
impl Engine for Observed {
    fn name(&self) -> &'static str {
        "observed memory"
    }

    fn schema(&self) -> &Schema {
        self.memory.schema()
    }

    async fn snapshot(&self) -> Result<Box<dyn Read>> {
        self.gate.pass().await;
        self.memory.snapshot().await
    }

    async fn apply(&self, group: &Group) -> Result<Vec<Verdict>, ApplyError> {
        self.enter().await;
        let group = &damage::damaged(group);
        let verdicts = self.memory.apply(group).await?;
        for (batch, verdict) in group.batches.iter().zip(&verdicts) {
            match verdict {
                Verdict::Applied => self.world.committed(&self.actor, batch),
                Verdict::Conflict(keys) => self.world.refused(&self.actor, keys),
            }
        }
        self.switchboard.announce(&self.actor.name, group);
        self.gate.pass().await;
        Ok(verdicts)
    }

    async fn resolve(&self, group: &Group) -> Result<bool> {
        self.gate.pass().await;
        Ok(self.memory.resolve(group).await? && !is_planted(Bug::ForgottenCommit))
    }

    async fn applied(&self, batch: BatchId) -> Result<bool> {
        self.gate.pass().await;
        self.memory.applied(batch).await
    }

    fn lanes(&self) -> usize {
        self.lanes
    }

    fn send_hints_to(&self, hints: HintSender) {
        self.switchboard.add(&self.actor.name, hints);
    }

    async fn verify(&self, found: &mut (dyn FnMut(Error) + Send)) -> Result<BTreeMap<&'static str, u64>> {
        self.memory.verify(found).await
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}

/// Carries hints from one process to the others, or loses them.
#[derive(Clone)]
pub(crate) struct Switchboard {
    dice: Arc<Dice>,
    /// Lost hints in thousandths.
    lost: Arc<AtomicU64>,
    listeners: Arc<Mutex<BTreeMap<String, HintSender>>>,
}

impl Switchboard {
    pub(crate) fn new(seed: u64, lost: u64) -> Self {
        let (dice, lost) = (Arc::new(Dice::of(seed, "hints")), Arc::new(AtomicU64::new(lost)));
        Self { dice, lost, listeners: Arc::default() }
    }

    fn add(&self, actor: &str, hints: HintSender) {
        self.listeners.lock().insert(actor.to_owned(), hints);
    }

    pub(crate) fn lose_all(&self) {
        self.lost.store(1000, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self, actor: &str) {
        self.listeners.lock().remove(actor);
    }

    fn announce(&self, from: &str, group: &Group) {
        let writes = group.batches.iter().flat_map(Batch::writes);
        let written = writes.filter(|(_, write)| !matches!(write, Write::Delete));
        let hints: BTreeSet<Hint> =
            written.map(|(key, _)| Hint::Changed { table: key.table().name, shard: key.shard() }).collect();
        let listeners = self.listeners.lock();
        for (_, hear) in listeners.iter().filter(|(name, _)| *name != from) {
            if !self.dice.thousandths(self.lost.load(Ordering::Relaxed)) {
                hear.send(hints.iter().cloned().collect());
            }
        }
    }
}
