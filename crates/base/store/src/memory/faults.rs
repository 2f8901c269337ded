//! Fault injection: an engine that misbehaves in every way that a real one may, repeatably.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::Memory;
use crate::batch::BatchId;
use crate::engine::{ApplyError, Engine, HintSender, Read};
use crate::group::{Group, Verdict};
use crate::key::Key;
use crate::row::Row;
use crate::scan::{Page, Scan};
use crate::table::Schema;
use crate::{Error, Result};

/// The rate of each fault, in thousandths.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// A batch is refused although its checks hold.
    pub spurious_conflict: u32,
    /// A commit fails and is not applied, and the caller is told so.
    pub error_not_applied: u32,
    /// A commit is applied, and its outcome is unknown.
    pub error_but_applied: u32,
    /// A commit is not applied, and its outcome is unknown.
    pub unknown_not_applied: u32,
    pub read_error: u32,
    /// A commit or read takes up to `delay_max`; otherwise up to a hundredth of it.
    pub delay: u32,
    /// Zero disables all delays.
    pub delay_max: Duration,
}

/// Injected faults by name.
pub type FaultCounts = BTreeMap<&'static str, u64>;

/// An engine with faults, by default around a [`Memory`]. The same seed and calls give the same
/// faults.
///
/// A commit in flight completes even if the store that sent it is dropped, like the last packet of
/// a killed process.
#[derive(Clone)]
pub struct Faulty<E = Memory> {
    engine: E,
    dice: Arc<Mutex<Dice>>,
}

struct Dice {
    rng: StdRng,
    faults: Faults,
    counts: FaultCounts,
    listener: Option<Listener>,
}

type Listener = Box<dyn Fn(&'static str) + Send>;

impl Dice {
    fn roll(&mut self, name: &'static str, thousandths: u32) -> bool {
        let hit = thousandths > 0 && self.rng.random_range(0..1000) < thousandths;
        if hit {
            *self.counts.entry(name).or_default() += 1;
            self.listener.iter().for_each(|listener| listener(name));
        }
        hit
    }

    fn delay(&mut self) -> Duration {
        let longest = self.faults.delay_max.as_micros() as u64;
        if longest == 0 {
            return Duration::ZERO;
        }
        let (slow, usual) = (longest, longest / 100);
        let most = if self.roll("delay", self.faults.delay) { slow } else { usual };
        Duration::from_micros(self.rng.random_range(0..=most))
    }
}

/// The faults of one commit, decided before it starts.
struct Fate {
    before: Duration,
    after: Duration,
    refused: Vec<bool>,
    not_applied: bool,
    but_applied: bool,
    unknown_not_applied: bool,
}

impl<E: Engine + Clone + 'static> Faulty<E> {
    /// Wraps an engine. The inner engine sees what really happens, when it happens.
    #[must_use]
    pub fn new(engine: E, seed: u64, faults: Faults) -> Self {
        let dice =
            Dice { rng: StdRng::seed_from_u64(seed), faults, counts: FaultCounts::new(), listener: None };
        Self { engine, dice: Arc::new(Mutex::new(dice)) }
    }

    /// `Faults::default()` injects none.
    pub fn set_faults(&self, faults: Faults) {
        self.dice.lock().faults = faults;
    }

    /// Calls `listener` with the name of every later fault when it is decided. The listener must
    /// not call the engine.
    pub fn listen(&self, listener: impl Fn(&'static str) + Send + 'static) {
        self.dice.lock().listener = Some(Box::new(listener));
    }

    #[must_use]
    pub fn counts(&self) -> FaultCounts {
        self.dice.lock().counts.clone()
    }

    fn fate(&self, group: &Group) -> Fate {
        let mut dice = self.dice.lock();
        let faults = dice.faults;
        Fate {
            before: dice.delay(),
            after: dice.delay(),
            refused: group
                .batches
                .iter()
                .map(|b| !b.checks().is_empty() && dice.roll("spurious conflict", faults.spurious_conflict))
                .collect(),
            not_applied: dice.roll("error, not applied", faults.error_not_applied),
            but_applied: dice.roll("error, but applied", faults.error_but_applied),
            unknown_not_applied: dice.roll("unknown, not applied", faults.unknown_not_applied),
        }
    }

    async fn read_fault(&self) -> Result<()> {
        let (delay, fails) = {
            let mut dice = self.dice.lock();
            let rate = dice.faults.read_error;
            (dice.delay(), dice.roll("read error", rate))
        };
        pause(delay).await;
        if fails { Err(Error::unavailable("simulated read error")) } else { Ok(()) }
    }

    async fn suffer(self, group: Group, fate: Fate) -> Result<Vec<Verdict>, ApplyError> {
        pause(fate.before).await;
        if fate.not_applied {
            return Err(Error::unavailable("simulated error, not applied").into());
        }
        let refuse = |verdicts: Vec<Verdict>| with_spurious_conflicts(&group, &fate.refused, verdicts);
        if fate.unknown_not_applied {
            let error = Error::unavailable("simulated error, outcome unknown");
            return Err(ApplyError::Unknown { verdicts: refuse(Vec::new()), error });
        }
        let kept = group.batches.iter().zip(&fate.refused).filter(|(_, refused)| !**refused);
        let kept = Group { batches: kept.map(|(batch, _)| batch.clone()).collect(), attempt: group.attempt };
        let verdicts = refuse(self.engine.apply(&kept).await?);
        pause(fate.after).await;
        if fate.but_applied {
            return Err(ApplyError::Unknown {
                verdicts,
                error: Error::unavailable("simulated error, but applied"),
            });
        }
        Ok(verdicts)
    }
}

/// Inserts the conflicts of refused batches between the verdicts of the others.
fn with_spurious_conflicts(group: &Group, refused: &[bool], verdicts: Vec<Verdict>) -> Vec<Verdict> {
    let mut verdicts = verdicts.into_iter();
    let verdict_of = |(batch, refused): (&crate::Batch, &bool)| {
        let conflict = || Verdict::Conflict(batch.checks().iter().map(|(key, _)| key.clone()).collect());
        if *refused { conflict() } else { verdicts.next().unwrap_or_else(conflict) }
    };
    group.batches.iter().zip(refused).map(verdict_of).collect()
}

async fn pause(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}

#[async_trait]
impl<E: Engine + Clone + 'static> Read for Faulty<E> {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>> {
        self.read_fault().await?;
        self.engine.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Page> {
        self.read_fault().await?;
        self.engine.scan(scan).await
    }
}

#[async_trait]
impl<E: Engine + Clone + 'static> Engine for Faulty<E> {
    fn name(&self) -> &'static str {
        "memory with faults"
    }

    fn schema(&self) -> &Schema {
        self.engine.schema()
    }

    async fn snapshot(&self) -> Result<Box<dyn Read>> {
        self.read_fault().await?;
        self.engine.snapshot().await
    }

    async fn apply(&self, group: &Group) -> Result<Vec<Verdict>, ApplyError> {
        let fate = self.fate(group);
        let commit = tokio::spawn(self.clone().suffer(group.clone(), fate));
        match commit.await {
            Ok(answer) => answer,
            Err(stopped) => Err(Error::unavailable(stopped).into()),
        }
    }

    async fn resolve(&self, group: &Group) -> Result<bool> {
        self.read_fault().await?;
        self.engine.resolve(group).await
    }

    async fn applied(&self, batch: BatchId) -> Result<bool> {
        self.read_fault().await?;
        self.engine.applied(batch).await
    }

    fn lanes(&self) -> usize {
        self.engine.lanes()
    }

    fn send_hints_to(&self, hints: HintSender) {
        self.engine.send_hints_to(hints);
    }

    async fn verify(&self, found: &mut (dyn FnMut(Error) + Send)) -> Result<BTreeMap<&'static str, u64>> {
        self.engine.verify(found).await
    }

    async fn close(&self) -> Result<()> {
        self.engine.close().await
    }
}
