//! An entity for tests, a store in memory, stages made of closures, and a watcher at work.

mod stage;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use store::{Batch, Memory, Schema, Store, StoreOptions};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use watcher::{Clock, Config, Entity, Explanation, Fields, Setup, Stage, Time, Watcher};

pub(crate) use stage::{Doing, titled, visit_on};

/// A thing with a price and a title: `id price title`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thing {
    pub(crate) id: String,
    pub(crate) price: i64,
    pub(crate) title: String,
}

impl Thing {
    pub(crate) fn new(id: &str, price: i64) -> Self {
        Self { id: id.to_owned(), price, title: "a thing".to_owned() }
    }
}

impl Entity for Thing {
    type Id = String;
    const KIND: &'static str = "thing";

    fn id(&self) -> String {
        self.id.clone()
    }

    fn encode(&self) -> Bytes {
        format!("{} {} {}", self.id, self.price, self.title).into()
    }

    fn decode(bytes: &Bytes) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
        let mut parts = text.splitn(3, ' ');
        let mut next = || parts.next().ok_or("a part is missing");
        let (id, price, title) = (next()?.to_owned(), next()?, next()?.to_owned());
        Ok(Self { id, price: price.parse().map_err(|_| "the price is no number")?, title })
    }

    fn changed_fields(before: &Self, after: &Self) -> Fields {
        let mut fields = Fields::none();
        fields.extend((before.price != after.price).then_some("price"));
        fields.extend((before.title != after.title).then_some("title"));
        fields
    }

    fn take_fields(&mut self, fields: &Fields, from: &Self) {
        if fields.covers("price") {
            self.price = from.price;
        }
        if fields.covers("title") {
            self.title.clone_from(&from.title);
        }
    }
}

pub(crate) const START: Time = Time::from_ms(1_700_000_000_000);

pub(crate) fn memory() -> Store {
    let tables = watcher::tables().into_iter().chain(topics::tables());
    let schema = Schema::new(1, tables).unwrap();
    Store::over(Arc::new(Memory::new(schema)), &StoreOptions::default())
}

/// A watcher at work.
pub(crate) struct Running {
    pub(crate) store: Store,
    pub(crate) watcher: Watcher<Thing>,
    pub(crate) stop: watch::Sender<bool>,
    pub(crate) task: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn start(stages: Vec<Arc<dyn Stage<Thing>>>) -> Self {
        Self::start_with(config(), stages).await
    }

    pub(crate) async fn start_with(config: Config, stages: Vec<Arc<dyn Stage<Thing>>>) -> Self {
        Self::start_on(memory(), Clock::starting_at(START), config, stages, "one").await
    }

    pub(crate) async fn start_on(
        store: Store,
        clock: Clock,
        config: Config,
        stages: Vec<Arc<dyn Stage<Thing>>>,
        instance: &str,
    ) -> Self {
        let watcher = Watcher::open(&store, Setup { clock, config, stages, seed: 1, ..Setup::default() })
            .await
            .unwrap();
        let stop = watch::Sender::new(false);
        let (at_work, instance, stopped) = (watcher.clone(), instance.to_owned(), stop.subscribe());
        let task = tokio::spawn(async move { at_work.run(instance, stopped).await.unwrap() });
        Self { store, watcher, stop, task }
    }

    pub(crate) async fn save(&self, thing: &Thing) {
        loop {
            let before = self.watcher.load(&thing.id).await.unwrap();
            let mut batch = Batch::new();
            self.watcher.save(&mut batch, before.as_ref(), thing).await.unwrap();
            if self.store.commit(batch).await.unwrap().is_applied() {
                return;
            }
        }
    }

    pub(crate) async fn thing(&self, id: &str) -> (Thing, u64) {
        let found = self.watcher.load(&id.to_owned()).await.unwrap().unwrap();
        (found.entity, found.version)
    }

    /// Lets simulated time pass.
    pub(crate) async fn pass(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    pub(crate) async fn explain(&self, id: &str) -> Explanation {
        self.watcher.explain(&id.to_owned()).await.unwrap()
    }

    pub(crate) fn now(&self) -> Time {
        self.watcher.clock().now()
    }

    pub(crate) async fn stop(self) -> Store {
        self.stop.send_replace(true);
        self.task.await.unwrap();
        self.store
    }
}

pub(crate) fn config() -> Config {
    Config { shards: 4, ..Config::default() }
}

pub(crate) const SECOND: Duration = Duration::from_secs(1);
