//! Writers from outside: they save, remove and create things, set states, and request visits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use store::{Batch, Store};
use tokio::time::{Instant, sleep};
use watcher::{Result, Versioned, Watcher};

use crate::dice::Dice;
use crate::gate::Gate;
use crate::instance::Ground;
use crate::stages::Kind;
use crate::tables::Role;
use crate::thing::{FIELDS, PRICE, SOURCE, TEXT, Thing};

/// Attempts at an operation.
const TRIES_MAX: usize = 20;

#[derive(Clone, Debug)]
enum Operation {
    /// Without a field nothing changes that a stage reads.
    Save {
        field: Option<usize>,
        value: i64,
    },
    Remove,
    SetState {
        stage: Kind,
        state: String,
    },
    Visit {
        stage: Kind,
    },
}

pub(crate) struct Writer {
    name: String,
    ground: Ground,
    store: Store,
    watcher: Watcher<Thing>,
    dice: Dice,
    ops: Arc<AtomicU64>,
}

impl Writer {
    pub(crate) async fn new(ground: Ground, name: String, ops: Arc<AtomicU64>) -> Self {
        let actor = ground.actor(&name, Role::Outside);
        let gate = Gate::default();
        let store = ground.store(&actor, &gate);
        let watcher = ground.watcher(&actor, &store, &gate).await;
        let dice = Dice::of(ground.scenario.seed, &name);
        Self { name, ground, store, watcher, dice, ops }
    }

    /// Writes until things calm down.
    pub(crate) async fn run(self) {
        let until = Instant::now() + self.ground.scenario.chaos;
        while Instant::now() < until {
            let id = format!("e{}", self.dice.within(0..self.ground.scenario.entities as u64));
            match self.disturbance() {
                Some((id, operation)) => self.fulfil(&id, &operation).await,
                None => self.fulfil(&id, &self.draw()).await,
            }
            sleep(self.dice.ms(1..self.ground.scenario.writer_pause.as_millis() as u64 + 2)).await;
        }
    }

    /// Changes everything once more, when nothing else happens.
    pub(crate) async fn last_words(self) {
        for entity in 0..self.ground.scenario.entities {
            let field = *self.dice.one_of(&[Some(SOURCE), Some(TEXT), Some(PRICE), None]);
            self.fulfil(&format!("e{entity}"), &Operation::Save { field, value: 1000 }).await;
            sleep(self.dice.ms(1..3000)).await;
        }
    }

    /// Now and then, something that concerns a visit under way.
    fn disturbance(&self) -> Option<(String, Operation)> {
        let visits = self.ground.world.visits();
        if visits.is_empty() || !self.dice.thousandths(300) {
            return None;
        }
        let (id, stage) = self.dice.one_of(&visits).clone();
        let stage = Kind::of(stage)?;
        let state = self.dice.within(200..300).to_string();
        let operation = if self.dice.thousandths(500) {
            Operation::Visit { stage }
        } else {
            Operation::SetState { stage, state }
        };
        Some((id, operation))
    }

    fn draw(&self) -> Operation {
        match self.dice.within(0..20) {
            0 | 1 => Operation::Remove,
            2 | 3 => {
                let stage = *self.dice.one_of(&[Kind::Count, Kind::Proud, Kind::Timer]);
                Operation::SetState { stage, state: self.dice.within(100..200).to_string() }
            }
            4 | 5 => Operation::Visit { stage: *self.dice.one_of(&Kind::ALL) },
            _ => Operation::Save {
                field: Some(*self.dice.one_of(&[SOURCE, SOURCE, TEXT, PRICE])),
                value: self.dice.number(0..100),
            },
        }
    }

    async fn fulfil(&self, id: &String, operation: &Operation) {
        let op = self.ops.fetch_add(1, Ordering::Relaxed) + 1;
        self.ground.world.event(format_args!("{} op {op} wants {operation:?} of {id}", self.name));
        for _ in 0..TRIES_MAX {
            match self.attempt(id, operation, op).await {
                Ok(true) => {
                    self.ground.world.event(format_args!("{} op {op} is done", self.name));
                    return;
                }
                Ok(false) => {}
                Err(error) => {
                    self.ground.world.event(format_args!("{} op {op}: {error}", self.name));
                    sleep(Duration::from_millis(50)).await;
                }
            }
        }
        self.ground.world.event(format_args!("{} gives up op {op}", self.name));
    }

    async fn attempt(&self, id: &String, operation: &Operation, op: u64) -> Result<bool> {
        let mut batch = Batch::new();
        let before = self.watcher.load(id).await?;
        match operation {
            Operation::Save { field, value } => {
                let new = || Thing { id: id.clone(), op, values: [0; FIELDS.len()] };
                let thing = before.as_ref().map_or_else(new, |found| found.entity.clone());
                let thing = field.map_or(thing.clone(), |field| thing.with(field, *value));
                let thing = Thing { op, ..thing };
                self.watcher.save(&mut batch, before.as_ref(), &thing).await?;
            }
            Operation::Remove => {
                let Some(found) = &before else { return Ok(true) };
                self.watcher.remove(&mut batch, found).await?;
            }
            Operation::SetState { stage, state } => {
                if !self.set_state(&mut batch, before.as_ref(), *stage, state).await? {
                    return Ok(true);
                }
            }
            Operation::Visit { stage } => {
                self.watcher.request_visit(id, stage.id()).await?;
                return Ok(true);
            }
        }
        Ok(self.store.commit(batch).await?.is_applied())
    }

    /// Only beside a thing that exists, and goes on to exist.
    async fn set_state(
        &self,
        batch: &mut Batch,
        before: Option<&Versioned<Thing>>,
        stage: Kind,
        state: &str,
    ) -> Result<bool> {
        let Some(found) = before else { return Ok(false) };
        let id = &found.entity.id;
        let seen = self.watcher.state(id, stage.id()).await?;
        self.watcher.set_state(batch, id, stage.id(), seen.version, state.to_owned()).await?;
        Ok(true)
    }
}
