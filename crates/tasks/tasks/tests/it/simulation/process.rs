//! Processes: each with its own store over the shared memory, its own place for runs, and its own
//! bad luck.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use clock::Clock;
use ctl::Ctl;
use store::{Faults, Faulty, Memory, Store, StoreOptions};
use tasks::{Setup, Tasks};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

use crate::common;
use crate::simulation::bugs::Bug;
use crate::simulation::dice::{Dice, seed_of};
use crate::simulation::engine::{Observed, Switchboard};
use crate::simulation::gate::Gate;
use crate::simulation::places::Place;
use crate::simulation::world::{Actor, World};

pub(crate) const LEASE: Duration = Duration::from_secs(3);
/// A commit that waits longer than this for its turn is withdrawn.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(6);
/// What stores suffer until it is calm.
const FAULTS: Faults = Faults {
    spurious_conflict: 15,
    error_not_applied: 15,
    error_but_applied: 20,
    unknown_not_applied: 10,
    read_error: 5,
    delay: 15,
    delay_max: Duration::from_secs(2),
};

/// What all share.
#[derive(Clone)]
pub(crate) struct Ground {
    pub(crate) seed: u64,
    pub(crate) world: World,
    pub(crate) clock: Clock,
    pub(crate) bug: Option<Bug>,
    memory: Memory,
    hints: Switchboard,
    /// The engines of all that ever lived.
    engines: Arc<Mutex<Vec<Faulty<Observed>>>>,
}

impl Ground {
    pub(crate) fn new(seed: u64, bug: Option<Bug>) -> Self {
        Self {
            seed,
            world: World::new(),
            clock: Clock::starting_at(common::START),
            bug,
            memory: Memory::new(common::schema()),
            hints: Switchboard::new(seed),
            engines: Arc::default(),
        }
    }

    /// What all stores have.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    fn store(&self, actor: &Actor, gate: &Gate) -> Store {
        let dice = |what: &str| seed_of(self.seed, &format!("{} {what}", actor.name));
        let observed = Observed {
            memory: self.memory.clone(),
            world: self.world.clone(),
            actor: actor.clone(),
            gate: gate.clone(),
            hints: self.hints.clone(),
            dice: Arc::new(Dice::of(dice("engine"), "")),
            bug: self.bug,
        };
        let faults = if self.world.is_calm() { Faults::default() } else { FAULTS };
        let engine = Faulty::new(observed, dice("faults"), faults);
        let (world, name) = (self.world.clone(), actor.name.clone());
        engine.listen(move |fault| {
            world.note(format_args!("{name} suffers: {fault}"));
            world.count(&format!("fault: {fault}"));
        });
        self.engines.lock().unwrap().push(engine.clone());
        let options = StoreOptions {
            id_seed: Some(dice("ids")),
            queue_timeout: QUEUE_TIMEOUT,
            ..StoreOptions::default()
        };
        Store::over(Arc::new(engine), &options)
    }

    /// Opens the tasks for an actor, as soon as the store allows it.
    pub(crate) async fn open(&self, actor: &Actor, gate: &Gate) -> Tasks {
        let store = self.store(actor, gate);
        let dice = Arc::new(Dice::of(self.seed, &format!("{} runs", actor.name)));
        let place = Place {
            name: actor.place.clone(),
            world: self.world.clone(),
            clock: self.clock.clone(),
            gate: gate.clone(),
            dice,
            bug: self.bug,
            seed: self.seed,
        };
        loop {
            let setup = Setup {
                store: &store,
                ctl: Ctl::new(store.clone(), self.clock.clone(), ctl::Settings::default()),
                topic: None,
                clock: self.clock.clone(),
                executor: Arc::new(place.clone()),
                place: actor.place.clone(),
                variables: Arc::new(|_| None),
                webhook: None,
                lease_time: LEASE,
                seed: seed_of(self.seed, &format!("{} watcher", actor.name)),
            };
            match Tasks::open(setup).await {
                Ok(tasks) => return tasks,
                Err(error) => self.world.note(format_args!("{} cannot open: {error}", actor.name)),
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Nothing goes wrong any more.
    pub(crate) fn calm(&self) {
        self.world.queries().calm = true;
        self.world.note(format_args!("it is calm"));
        self.engines.lock().unwrap().iter().for_each(|engine| engine.set_faults(Faults::default()));
    }
}

/// A running process.
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) gate: Gate,
    ground: Ground,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Process {
    pub(crate) fn start(ground: &Ground, place: &str, life: u32) -> Self {
        let actor = Actor { name: format!("{place}-{life}"), place: place.to_owned() };
        let (name, gate, stop) = (actor.name.clone(), Gate::default(), watch::Sender::new(false));
        ground.world.note(format_args!("{name} starts"));
        let task = tokio::spawn(leader(ground.clone(), actor, gate.clone(), stop.subscribe()));
        Self { name, gate, ground: ground.clone(), stop, task }
    }

    /// Ends in order, if it can in this time.
    async fn stop(mut self, patience: Duration) {
        self.stop.send_replace(true);
        let ended = tokio::time::timeout(patience, &mut self.task).await.is_ok();
        self.ground.world.note(format_args!("{} stopped: {ended}", self.name));
    }
}

impl Drop for Process {
    /// As `kill -9`: nothing is given back, and only what is on its way to the store may still
    /// arrive.
    fn drop(&mut self) {
        self.gate.kill();
        self.task.abort();
        self.ground.hints.remove(&self.name);
        self.ground.world.note(format_args!("{} is gone", self.name));
    }
}

async fn leader(ground: Ground, actor: Actor, gate: Gate, stop: watch::Receiver<bool>) {
    let tasks = ground.open(&actor, &gate).await;
    tasks.run(actor.name.clone(), stop).await.unwrap();
}

/// Keeps a place filled until things calm down: processes are killed, freeze, are stopped and come
/// back. The last one is left running.
pub(crate) async fn fill_place(ground: Ground, place: String, until: Instant) -> Process {
    let dice = Dice::of(ground.seed, &format!("{place} fate"));
    for life in 1.. {
        let process = Process::start(&ground, &place, life);
        match fate(&ground, &process, &dice, until).await {
            Fate::Survives => return process,
            Fate::Killed => drop(process),
            Fate::Stopped => process.stop(3 * LEASE).await,
        }
        // Now and then longer than any run may take, and longer than others wait for the place.
        let away = if dice.percent(15) { dice.ms(40_000..160_000) } else { dice.ms(0..6000) };
        sleep_until((Instant::now() + away).min(until)).await;
    }
    unreachable!("there is always another life")
}

enum Fate {
    Survives,
    Killed,
    Stopped,
}

async fn fate(ground: &Ground, process: &Process, dice: &Dice, until: Instant) -> Fate {
    loop {
        sleep_until((Instant::now() + dice.ms(500..25_000)).min(until)).await;
        if Instant::now() >= until {
            return Fate::Survives;
        }
        match dice.within(0..10) {
            0..4 => {
                ground.world.count("kills");
                return Fate::Killed;
            }
            4 => return Fate::Stopped,
            _ => {
                let time = if dice.percent(10) { dice.ms(20_000..120_000) } else { dice.ms(500..9000) };
                ground.world.note(format_args!("{} freezes for {time:?}", process.name));
                ground.world.count("freezes");
                let gate = process.gate.clone();
                let frozen = tokio::spawn(async move { gate.freeze(time).await });
                if dice.percent(70) {
                    frozen.await.unwrap();
                }
            }
        }
    }
}
