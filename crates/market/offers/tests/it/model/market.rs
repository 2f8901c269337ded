//! A marketplace in which everything happens within seconds, with all that goes on by itself.

use std::sync::Arc;
use std::time::Duration;

use offers::chores::Chore;
use offers::{Config, Dependencies, Offers, OpinionTopics, StoredOffer};
use stages::Expiry;
use store::{Faults, Faulty, Memory, Store, StoreOptions};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use topics::{TopicSpec, Topics};
use watcher::planted::share_one_task;
use watcher::{Clock, Setup, Time, Watcher};

use crate::model::dice::{Dice, seed_of};
use crate::model::plan::{Engine, Plan};
use crate::support::{catalogue, open, schema};

/// The topic of changes.
pub(crate) const TOPIC: &str = "offers";
/// Partitions of every topic.
pub(crate) const PARTITIONS: u32 = 3;
/// How long an offer is shown.
const EXPOSURE: Duration = Duration::from_secs(2);
/// How long a removed offer stays in the active tables.
pub(crate) const REMOVED: Duration = Duration::from_secs(1);
const SHARDS: u32 = 6;
const START_MS: i64 = 1_700_000_000_000;
const CATEGORIES: &str = r#"
[category.goods]
name = { en = "Goods" }
[category.bikes]
parent = "goods"
name = { en = "Bikes" }
[category.toys]
parent = "goods"
name = { en = "Toys" }
[category.homes]
name = { en = "Homes" }
"#;

/// A marketplace, with two processes: one that serves calls, and one that reads the topic.
pub(crate) struct Market {
    pub(crate) offers: Offers,
    pub(crate) topics: Topics,
    pub(crate) opinions: OpinionTopics,
    pub(crate) store: Store,
    /// What the consumer of the topic has.
    pub(crate) consumers: (Store, Topics),
    pub(crate) clock: Clock,
    engine: Option<Faulty>,
    running: Vec<(watch::Sender<bool>, JoinHandle<()>)>,
    _folder: Option<tempfile::TempDir>,
}

impl Market {
    /// An empty one; `None` if this machine lacks what the engine needs.
    pub(crate) async fn open(plan: &Plan) -> Option<Self> {
        let mut folder = None;
        let (store, consumer_store, engine) = match plan.engine {
            Engine::Memory => {
                let engine = Faulty::new(Memory::new(schema()), plan.seed, Faults::default());
                (over(&engine, plan, "store"), over(&engine, plan, "consumer's store"), Some(engine))
            }
            Engine::Fjall => {
                let made = folder.insert(tempfile::tempdir().unwrap());
                let store = open(&format!("fjall:{}", made.path().join("store").display())).await;
                (store.clone(), store, None)
            }
            Engine::Postgres => {
                let store = open(&testkit::postgres()?.fresh_database()).await;
                (store.clone(), store, None)
            }
        };
        let (topics, clock) = (Topics::in_store(&store), Clock::starting_at(Time::from_ms(START_MS)));
        let opinions =
            OpinionTopics { topic: "opinions".to_owned(), dead_letters: "opinions.dead".to_owned() };
        for topic in [TOPIC, &opinions.topic, &opinions.dead_letters] {
            topics.create(&TopicSpec::new(topic, PARTITIONS)).await.unwrap();
        }
        let offers = offers(plan, &store, &topics, &clock).await;
        let consumers = (consumer_store.clone(), Topics::in_store(&consumer_store));
        let running = Vec::new();
        Some(Self { offers, topics, opinions, store, consumers, clock, engine, running, _folder: folder })
    }

    /// From now on everything goes on by itself, and faults happen.
    pub(crate) fn begin(&mut self, plan: &Plan) {
        if plan.engine == Engine::Memory {
            share_one_task();
        }
        self.set_faults(plan.faults);
        let watcher = self.offers.watcher().clone();
        self.spawn(async move |stop| watcher.run("market".to_owned(), stop).await.unwrap());
        for partition in 0..PARTITIONS {
            let (offers, opinions) = (self.offers.clone(), self.opinions.clone());
            self.spawn(async move |stop| offers.consume_opinions(&opinions, partition, stop).await);
        }
        for worker in ["here", "there"] {
            let offers = self.offers.clone();
            self.spawn(async move |stop| offers.run_chores(worker, stop).await);
        }
        let (offers, dice, pause) =
            (self.offers.clone(), Dice::of(plan.seed, "archivist"), plan.archive_pause);
        self.spawn(async move |stop| archive_often(offers, dice, pause, stop).await);
    }

    /// Runs something until the market closes. Everybody hears of that alone: a watch channel wakes
    /// those who share it in any order.
    fn spawn<F>(&mut self, run: impl FnOnce(watch::Receiver<bool>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let stop = watch::Sender::new(false);
        let task = tokio::spawn(run(stop.subscribe()));
        self.running.push((stop, task));
    }

    /// What the store suffers from now on, if it is one that suffers.
    pub(crate) fn set_faults(&self, faults: Faults) {
        self.engine.iter().for_each(|engine| engine.set_faults(faults));
    }

    /// How many faults happened.
    pub(crate) fn fault_count(&self) -> u64 {
        self.engine.iter().map(|engine| engine.counts().values().sum::<u64>()).sum()
    }

    /// Ends all that goes on by itself.
    pub(crate) async fn close(self) {
        for (stop, task) in self.running {
            stop.send_replace(true);
            task.await.unwrap();
        }
    }
}

/// Somebody who wants old offers out of the way sooner than the chore does.
async fn archive_often(offers: Offers, mut dice: Dice, pause: Duration, stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        tokio::time::sleep(dice.ms(0..pause.as_millis() as u64)).await;
        // An error of the store; the next time it goes on.
        let _ = offers.run_chore(Chore::Archive).await;
    }
}

async fn offers(plan: &Plan, store: &Store, topics: &Topics, clock: &Clock) -> Offers {
    let setup = Setup {
        topic: Some((topics, TOPIC)),
        clock: clock.clone(),
        config: watcher::Config { shards: SHARDS, ..watcher::Config::default() },
        stages: vec![Arc::new(Expiry::new(Duration::ZERO))],
        seed: seed_of(plan.seed, "watcher"),
    };
    let watcher: Watcher<StoredOffer> = Watcher::open(store, setup).await.unwrap();
    let config = Config { exposure: EXPOSURE, archive_removed_after: REMOVED, ..Config::default() };
    let (store, topics, catalogue) = (store.clone(), topics.clone(), catalogue(CATEGORIES));
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&seed_of(plan.seed, "ids").to_le_bytes());
    Offers::new(Dependencies { store, topics, watcher, catalogue, config }, seed)
}

fn over(engine: &Faulty, plan: &Plan, name: &str) -> Store {
    let options = StoreOptions { id_seed: Some(seed_of(plan.seed, name)), ..StoreOptions::default() };
    Store::over(Arc::new(engine.clone()), &options)
}
