//! The store's engine as one process has it: the memory that all share, behind that process's gate,
//! under the eyes of the world.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use store::engine::{ApplyError, Engine, Group, HintSender, Read, Verdict};
use store::{Batch, BatchId, Error, Hint, Key, KeyValue, Memory, Page, Result, Row, Scan, Schema, Write};

use crate::simulation::bugs::Bug;
use crate::simulation::dice::Dice;
use crate::simulation::gate::Gate;
use crate::simulation::world::{Actor, World};

/// A memory whose every applied batch is shown to the world at the moment when it is applied.
#[derive(Clone)]
pub(crate) struct Observed {
    pub(crate) memory: Memory,
    pub(crate) world: World,
    pub(crate) actor: Actor,
    pub(crate) gate: Gate,
    pub(crate) hints: Switchboard,
    pub(crate) dice: Arc<Dice>,
    pub(crate) bug: Option<Bug>,
}

impl Observed {
    /// What is on its way when its process is killed arrives all the same, or does not.
    async fn arrive(&self) {
        if !self.gate.thaw().await && self.dice.percent(50) {
            std::future::pending::<()>().await;
        }
    }
}

#[async_trait]
impl Read for Observed {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>> {
        self.gate.pass().await;
        let is_newest = |key: &Key| {
            key.table().name == "task_deployments"
                && key.values().is_ok_and(|values| values.last() == Some(&KeyValue::I64(0)))
        };
        if keys.iter().any(is_newest) {
            self.world.reads_newest(&self.actor);
        }
        let rows = self.memory.get(keys).await;
        self.gate.pass().await;
        rows
    }

    async fn scan(&self, scan: &Scan) -> Result<Page> {
        self.gate.pass().await;
        let mut page = self.memory.scan(scan).await?;
        if scan.table().name == "ctl_changed" {
            self.world.looks_for_marks(&self.actor);
            if self.bug == Some(Bug::Unheard) {
                page.rows.retain(|row| !row.key.to_string().contains("input0"));
            }
        }
        self.gate.pass().await;
        Ok(page)
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
        self.arrive().await;
        let arrives = |batch: &Batch| Bug::tamper(self.bug, batch, &self.actor, &self.dice);
        let group = Group { batches: group.batches.iter().map(arrives).collect(), attempt: group.attempt };
        let verdicts = self.memory.apply(&group).await?;
        for (batch, verdict) in group.batches.iter().zip(&verdicts) {
            if matches!(verdict, Verdict::Applied) {
                self.world.note(format_args!("{}:{}", self.actor.name, Shown(batch)));
                self.world.committed(&self.actor, batch);
            }
        }
        self.hints.announce(&self.actor.name, &group);
        self.gate.pass().await;
        Ok(verdicts)
    }

    async fn resolve(&self, group: &Group) -> Result<bool> {
        self.gate.pass().await;
        self.memory.resolve(group).await
    }

    async fn applied(&self, batch: BatchId) -> Result<bool> {
        self.gate.pass().await;
        self.memory.applied(batch).await
    }

    fn lanes(&self) -> usize {
        self.memory.lanes()
    }

    fn send_hints_to(&self, hints: HintSender) {
        self.hints.add(&self.actor.name, hints);
    }

    async fn verify(&self, found: &mut (dyn FnMut(Error) + Send)) -> Result<BTreeMap<&'static str, u64>> {
        self.memory.verify(found).await
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}

/// A batch in one line: what it checks, and the tables and versions that it writes.
struct Shown<'a>(&'a Batch);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (key, version) in self.0.checks() {
            write!(f, " {key} is v{version};")?;
        }
        for (key, write) in self.0.writes() {
            match write {
                Write::Put { version, value } => write!(f, " {key} = v{version}, {} bytes;", value.len())?,
                Write::Delete => write!(f, " {key} deleted;")?,
                Write::Add(delta) => write!(f, " {key} += {delta};")?,
            }
        }
        Ok(())
    }
}

/// Carries hints from one process to the others, or loses them.
#[derive(Clone)]
pub(crate) struct Switchboard {
    dice: Arc<Dice>,
    /// So many of a hundred hints are lost.
    lost: u64,
    listeners: Arc<Mutex<BTreeMap<String, HintSender>>>,
}

impl Switchboard {
    pub(crate) fn new(seed: u64) -> Self {
        let dice = Dice::of(seed, "hints");
        let lost = [0, 20, 100][dice.within(0..3) as usize];
        Self { dice: Arc::new(dice), lost, listeners: Arc::default() }
    }

    fn add(&self, name: &str, hints: HintSender) {
        self.listeners.lock().unwrap().insert(name.to_owned(), hints);
    }

    /// Nobody listens under this name any more.
    pub(crate) fn remove(&self, name: &str) {
        self.listeners.lock().unwrap().remove(name);
    }

    fn announce(&self, from: &str, group: &Group) {
        let writes = group.batches.iter().flat_map(Batch::writes);
        let written = writes.filter(|(_, write)| !matches!(write, Write::Delete));
        let hint = |(key, _): &(Key, Write)| Hint::Changed { table: key.table().name, shard: key.shard() };
        let hints: BTreeSet<Hint> = written.map(hint).collect();
        for (_, read_events) in self.listeners.lock().unwrap().iter().filter(|(name, _)| *name != from) {
            if !self.dice.percent(self.lost) {
                read_events.send(hints.iter().cloned().collect());
            }
        }
    }
}
