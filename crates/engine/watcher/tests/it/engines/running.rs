//! A watcher at work, and how a test waits for what it does.

use std::sync::Arc;
use std::time::Duration;

use store::{Batch, KeyValue, Store};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use topics::Topics;
use watcher::{
    Clock, Config, Entity, Setup, Stage, StageLimits, StageReport, Time, Versioned, VisitStatus, Waits,
    Watcher,
};

use crate::common::Thing;
use crate::waiting::{eventually, rows};

/// Few shards, and failures that are tried again soon.
pub(crate) fn config() -> Config {
    let (pause, pause_max) = (Duration::from_millis(20), Duration::from_millis(100));
    let stages = StageLimits { attempts_max: 3, pause, pause_max, ..StageLimits::default() };
    Config { shards: 4, lease_time: Duration::from_secs(3), stages, ..Config::default() }
}

pub(crate) type Stages = Vec<Arc<dyn Stage<Thing>>>;

/// A watcher that serves nothing: whoever asks and orders may be any process.
pub(crate) async fn bystander(store: &Store, stages: Stages) -> Watcher<Thing> {
    Watcher::open(store, Setup { config: config(), stages, seed: 1, ..Setup::default() }).await.unwrap()
}

/// Saves entities that are not there yet, in one batch.
pub(crate) async fn save_new<E: Entity>(store: &Store, watcher: &Watcher<E>, entities: &[E]) {
    let mut batch = Batch::new();
    for entity in entities {
        watcher.save(&mut batch, None, entity).await.unwrap();
    }
    assert!(store.commit(batch).await.unwrap().is_applied());
}

/// A watcher at work.
pub(crate) struct Running<E: Entity = Thing> {
    pub(crate) store: Store,
    pub(crate) watcher: Watcher<E>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl<E: Entity> Running<E> {
    pub(crate) async fn start_at(
        store: Store,
        topic: Option<(&Topics, &str)>,
        clock: Clock,
        config: Config,
        stages: Vec<Arc<dyn Stage<E>>>,
        instance: &str,
    ) -> Self {
        let watcher = Watcher::open(&store, Setup { topic, clock, config, stages, seed: 1 }).await.unwrap();
        let stop = watch::Sender::new(false);
        let (at_work, instance, stopped) = (watcher.clone(), instance.to_owned(), stop.subscribe());
        let task = tokio::spawn(async move { at_work.run(instance, stopped).await.unwrap() });
        Self { store, watcher, stop, task }
    }

    /// Stops in an orderly way and gives the store back.
    pub(crate) async fn stop(self) -> Store {
        self.stop.send_replace(true);
        self.task.await.unwrap();
        self.store
    }

    /// Changes an entity, or makes it, from outside. Returns its version.
    pub(crate) async fn change_entity(&self, id: &E::Id, change: impl Fn(Option<E>) -> E) -> u64 {
        loop {
            let before = self.watcher.load(id).await.unwrap();
            let after = change(before.as_ref().map(|found| found.entity.clone()));
            let mut batch = Batch::new();
            let version = self.watcher.save(&mut batch, before.as_ref(), &after).await.unwrap();
            if self.store.commit(batch).await.unwrap().is_applied() {
                return version;
            }
        }
    }

    pub(crate) async fn report(&self, stage: &str) -> StageReport {
        self.watcher.report(stage).await.unwrap()
    }

    /// Waits until nothing is queued for any stage.
    pub(crate) async fn eventually_idle(&self) {
        eventually("nothing is queued", async || self.queued().await.is_empty().then_some(())).await;
    }

    /// All that is queued: stage, time, entity. The system stage has no name.
    pub(crate) async fn queued(&self) -> Vec<(String, Time, String)> {
        let mut queued = Vec::new();
        for row in rows(&self.store, "watcher_queues").await {
            match <[KeyValue; 6]>::try_from(row.key.values().unwrap()).unwrap() {
                // What is parked waits for nothing.
                [_, _, KeyValue::U32(3), ..] => {}
                [.., KeyValue::Text(stage), KeyValue::I64(visit), KeyValue::Text(entity)] => {
                    queued.push((stage, Time::from_ms(visit), entity));
                }
                other => panic!("{other:?}"),
            }
        }
        queued
    }
}

impl Running<Thing> {
    /// One that works alone, without a topic.
    pub(crate) async fn start(store: Store, stages: Stages) -> Self {
        Self::start_with(store, None, config(), stages, "one").await
    }

    pub(crate) async fn start_with(
        store: Store,
        topic: Option<(&Topics, &str)>,
        config: Config,
        stages: Stages,
        instance: &str,
    ) -> Self {
        Self::start_at(store, topic, Clock::system(), config, stages, instance).await
    }

    /// Saves an entity as it is given, whatever is there. Returns its version.
    pub(crate) async fn save(&self, thing: &Thing) -> u64 {
        self.change(&thing.id, |_| thing.clone()).await
    }

    /// Changes an entity, or makes it, from outside.
    pub(crate) async fn change(&self, id: &str, change: impl Fn(Option<Thing>) -> Thing) -> u64 {
        self.change_entity(&id.to_owned(), change).await
    }

    pub(crate) async fn find(&self, id: &str) -> Option<Versioned<Thing>> {
        self.watcher.load(&id.to_owned()).await.unwrap()
    }

    pub(crate) async fn thing(&self, id: &str) -> Thing {
        self.find(id).await.unwrap().entity
    }

    pub(crate) async fn title(&self, id: &str) -> String {
        self.thing(id).await.title
    }

    pub(crate) async fn eventually_titled(&self, id: &str, title: &str) {
        let look = async || (self.title(id).await == title).then_some(());
        eventually(&format!("the title of {id} is {title:?}"), look).await;
    }

    pub(crate) async fn state(&self, id: &str, stage: &str) -> String {
        let state = self.watcher.state(&id.to_owned(), stage).await.unwrap();
        String::from_utf8(state.bytes.to_vec()).unwrap()
    }

    /// Where an entity stands with a stage.
    pub(crate) async fn standing(&self, id: &str, stage: &str) -> VisitStatus {
        standing(&self.watcher, id, stage).await
    }

    /// Waits until it is said that an entity waits for a stage in this way.
    pub(crate) async fn eventually_waits(&self, id: &str, stage: &str, expected: impl Fn(&Waits) -> bool) {
        let look = async || expected(&self.standing(id, stage).await.waits).then_some(());
        eventually(&format!("{id} waits for {stage} as expected"), look).await;
    }
}

/// Where an entity stands with a stage, as this watcher says.
pub(crate) async fn standing(watcher: &Watcher<Thing>, id: &str, stage: &str) -> VisitStatus {
    watcher.explain(&id.to_owned()).await.unwrap().stages.remove(stage).unwrap()
}
