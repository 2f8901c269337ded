//! A process that runs the watcher: its own store over the shared memory, its own clock, stages and
//! faults.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use store::{Faults, Faulty, Memory, Store, StoreOptions};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use topics::Topics;
use watcher::{Setup, Watcher};

use crate::dice::{Dice, seed_of};
use crate::engine::{Observed, Switchboard};
use crate::gate::Gate;
use crate::scenario::Scenario;
use crate::stages::stages;
use crate::tables::Role;
use crate::thing::Thing;
use crate::world::{Actor, World};

/// Where every change is exported to.
pub(crate) const TOPIC: &str = "things";
/// A commit that waits longer for its turn is withdrawn.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(6);

/// What all processes share.
#[derive(Clone)]
pub(crate) struct Ground {
    pub(crate) scenario: Scenario,
    pub(crate) world: World,
    pub(crate) memory: Memory,
    pub(crate) switchboard: Switchboard,
    /// The engines of all processes that ever ran.
    pub(crate) engines: Arc<Mutex<Vec<Faulty<Observed>>>>,
}

impl Ground {
    pub(crate) fn store(&self, actor: &Arc<Actor>, gate: &Gate) -> Store {
        let Scenario { seed, faults, lanes, .. } = self.scenario;
        let observed = Observed::new(
            self.memory.clone(),
            self.world.clone(),
            Arc::clone(actor),
            gate.clone(),
            self.switchboard.clone(),
            lanes,
        );
        let faults = if self.world.is_calm() { Faults::default() } else { faults };
        let engine = Faulty::new(observed, seed_of(seed, &format!("{} faults", actor.name)), faults);
        let (world, name) = (self.world.clone(), actor.name.clone());
        engine.listen(move |fault| world.fault(&format!("store: {fault}"), &name, format_args!("")));
        self.engines.lock().push(engine.clone());
        let id_seed = Some(seed_of(seed, &actor.name));
        let options = StoreOptions { id_seed, queue_timeout: QUEUE_TIMEOUT, ..StoreOptions::default() };
        Store::over(Arc::new(engine), &options)
    }

    /// An actor whose clock has an error.
    pub(crate) fn actor(&self, name: &str, role: Role) -> Arc<Actor> {
        let Scenario { seed, skew_ms, .. } = self.scenario;
        let skew = Dice::of(seed, &format!("{name} clock")).number(-skew_ms..skew_ms + 1);
        Arc::new(Actor { name: name.to_owned(), role, clock: self.world.clock(skew) })
    }

    /// Opens a watcher, as soon as the store allows it.
    pub(crate) async fn watcher(&self, actor: &Actor, store: &Store, gate: &Gate) -> Watcher<Thing> {
        let Scenario { seed, config, .. } = &self.scenario;
        let topics = Topics::in_store(store);
        loop {
            let stages = stages(&self.scenario, &self.world, actor, gate);
            let (clock, seed) = (actor.clock.clone(), seed_of(*seed, &format!("{} watcher", actor.name)));
            match Watcher::open(
                store,
                Setup { topic: Some((&topics, TOPIC)), clock, config: config.clone(), stages, seed },
            )
            .await
            {
                Ok(watcher) => return watcher,
                Err(error) => self.world.event(format_args!("{} cannot open: {error}", actor.name)),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    pub(crate) fn end_faults(&self) {
        self.world.calm();
        for engine in self.engines.lock().iter() {
            engine.set_faults(Faults::default());
        }
    }
}

pub(crate) struct Instance {
    pub(crate) name: String,
    pub(crate) gate: Gate,
    ground: Ground,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Instance {
    pub(crate) fn start(ground: &Ground, name: String) -> Self {
        ground.world.event(format_args!("{name} starts"));
        let (gate, stop) = (Gate::default(), watch::Sender::new(false));
        let actor = ground.actor(&name, Role::Instance);
        let task = tokio::spawn(live(ground.clone(), actor, gate.clone(), stop.subscribe()));
        Self { name, gate, ground: ground.clone(), stop, task }
    }

    /// Ends at once; only what is on its way to the store may still arrive.
    pub(crate) fn crash(self) {
        self.ground.world.fault("crash", &self.name, format_args!(""));
    }

    /// Ends in order, if it can in this time.
    pub(crate) async fn stop(mut self, patience: Duration) -> bool {
        self.ground.world.event(format_args!("{} is asked to stop", self.name));
        self.stop.send_replace(true);
        let ended = tokio::time::timeout(patience, &mut self.task).await.is_ok();
        self.ground.world.event(format_args!("{} stopped: {ended}", self.name));
        ended
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.task.abort();
        self.ground.switchboard.remove(&self.name);
    }
}

async fn live(ground: Ground, actor: Arc<Actor>, gate: Gate, stop: watch::Receiver<bool>) {
    let store = ground.store(&actor, &gate);
    let watcher = ground.watcher(&actor, &store, &gate).await;
    watcher.run(actor.name.clone(), stop).await.unwrap_or_else(|error| panic!("{error}"));
}
