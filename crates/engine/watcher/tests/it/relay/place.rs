//! A place where things can go wrong: an engine that counts and fails, rows that are written past
//! the watcher, and a stage that hears in its own manner.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use store::engine::{ApplyError, Engine, Group, Verdict};
use store::{
    Batch, BatchId, Error, Key, KeyValue, Memory, Page, Read, Row, Scan, Schema, Store, StoreOptions,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use topics::{TopicSpec, Topics};
use watcher::{
    Answer, Clock, Config, Entity, Fields, Interest, Saved, Setup, Stage, StageError, Subject, Watcher,
    shard_of,
};

use crate::common::{START, Thing};
use crate::relay::TOPIC;

/// An engine in memory that counts what is asked of it, and takes no commits while it is broken.
#[derive(Clone)]
pub(crate) struct Counted {
    memory: Memory,
    pub(crate) broken: Arc<AtomicBool>,
    pub(crate) refused: Arc<AtomicUsize>,
    scans: Arc<Mutex<BTreeMap<&'static str, usize>>>,
}

impl Counted {
    pub(crate) fn new() -> Self {
        let tables = watcher::tables().into_iter().chain(topics::tables());
        let memory = Memory::new(Schema::new(1, tables).unwrap());
        Self { memory, broken: Arc::default(), refused: Arc::default(), scans: Arc::default() }
    }

    pub(crate) fn store(&self) -> Store {
        Store::over(Arc::new(self.clone()), &StoreOptions::default())
    }

    pub(crate) fn scans_of(&self, table: &str) -> usize {
        self.scans.lock().unwrap().get(table).copied().unwrap_or(0)
    }
}

#[async_trait]
impl Read for Counted {
    async fn get(&self, keys: &[Key]) -> store::Result<Vec<Option<Row>>> {
        self.memory.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> store::Result<Page> {
        *self.scans.lock().unwrap().entry(scan.table().name).or_default() += 1;
        self.memory.scan(scan).await
    }
}

#[async_trait]
impl Engine for Counted {
    fn name(&self) -> &'static str {
        "counted memory"
    }

    fn schema(&self) -> &Schema {
        self.memory.schema()
    }

    async fn snapshot(&self) -> store::Result<Box<dyn Read>> {
        self.memory.snapshot().await
    }

    async fn apply(&self, group: &Group) -> Result<Vec<Verdict>, ApplyError> {
        if self.broken.load(Ordering::Relaxed) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(Error::Refused { detail: "broken".to_owned() }.into());
        }
        self.memory.apply(group).await
    }

    async fn resolve(&self, group: &Group) -> store::Result<bool> {
        self.memory.resolve(group).await
    }

    async fn applied(&self, batch: BatchId) -> store::Result<bool> {
        self.memory.applied(batch).await
    }

    async fn verify(
        &self,
        found: &mut (dyn FnMut(Error) + Send),
    ) -> store::Result<BTreeMap<&'static str, u64>> {
        self.memory.verify(found).await
    }

    async fn close(&self) -> store::Result<()> {
        Ok(())
    }
}

/// A watcher at work, with its topic.
pub(crate) struct AtWork {
    pub(crate) watcher: Watcher<Thing>,
    pub(crate) topics: Topics,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl AtWork {
    pub(crate) async fn start(store: &Store, shards: u32, stages: Vec<Arc<dyn Stage<Thing>>>) -> Self {
        let topics = Topics::in_store(store);
        topics.create(&TopicSpec::new(TOPIC, 4)).await.unwrap();
        Self::start_with(store, topics, shards, stages, "one").await
    }

    pub(crate) async fn start_with(
        store: &Store,
        topics: Topics,
        shards: u32,
        stages: Vec<Arc<dyn Stage<Thing>>>,
        instance: &str,
    ) -> Self {
        let (clock, config) = (Clock::starting_at(START), Config { shards, ..Config::default() });
        let watcher =
            Watcher::open(store, Setup { topic: Some((&topics, TOPIC)), clock, config, stages, seed: 1 })
                .await
                .unwrap();
        let stop = watch::Sender::new(false);
        let (at_work, instance, stopped) = (watcher.clone(), instance.to_owned(), stop.subscribe());
        let task = tokio::spawn(async move { at_work.run(instance, stopped).await.unwrap() });
        Self { watcher, topics, stop, task }
    }

    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        self.task.await.unwrap();
    }
}

/// A change as it stands in the outbox and in `watcher_saved`.
pub(crate) struct Written<'a> {
    pub(crate) shards: u32,
    pub(crate) author: &'a str,
    pub(crate) at: i64,
    pub(crate) entity: &'a str,
    pub(crate) version: i64,
}

impl Written<'_> {
    fn shard(&self) -> KeyValue {
        KeyValue::U32(shard_of(self.entity, self.shards))
    }

    fn behind(&self) -> [KeyValue; 3] {
        let at = KeyValue::I64(START.as_ms() + self.at);
        [at, KeyValue::Text(self.entity.to_owned()), KeyValue::I64(self.version)]
    }

    pub(crate) fn outbox_key(&self, store: &Store) -> Key {
        let mut values = vec![self.shard(), KeyValue::Text(Thing::KIND.to_owned())];
        values.extend(self.behind());
        Key::encode(store.schema().table("watcher_outbox").unwrap(), &values)
    }

    pub(crate) fn saved_key(&self, store: &Store) -> Key {
        let mut values = vec![self.shard(), KeyValue::Text(Thing::KIND.to_owned())];
        values.push(KeyValue::Text(self.author.to_owned()));
        values.extend(self.behind());
        Key::encode(store.schema().table("watcher_saved").unwrap(), &values)
    }

    /// The row's value, with this content.
    pub(crate) fn value(&self, content: &[u8]) -> Vec<u8> {
        [field(1, content), field(3, self.author.as_bytes())].concat()
    }

    fn sound(&self) -> Vec<u8> {
        self.value(&Thing::new(self.entity, self.version).encode())
    }

    /// Puts a sound change into the outbox.
    pub(crate) async fn leave(&self, store: &Store) {
        set(store, self.outbox_key(store), self.sound()).await;
    }

    /// Puts a sound change into `watcher_saved`.
    pub(crate) async fn save(&self, store: &Store) {
        set(store, self.saved_key(store), self.sound()).await;
    }
}

/// A field of bytes of a message.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let (mut field, mut length) = (vec![number << 3 | 2], bytes.len());
    while length > 0x7f {
        field.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    field.push(u8::try_from(length).unwrap());
    field.extend(bytes);
    field
}

pub(crate) async fn set(store: &Store, key: Key, value: Vec<u8>) {
    let mut batch = Batch::new();
    batch.set(key, value);
    assert!(store.commit(batch).await.unwrap().is_applied());
}

pub(crate) async fn count(store: &Store, table: &str) -> usize {
    store.scan(&store.schema().table(table).unwrap().scan()).await.unwrap().rows.len()
}

/// How a stage hears of its changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Manner {
    #[default]
    Hears,
    Takes(Duration),
    HangsOver(&'static str),
    Hangs,
    /// It hangs, also when it is to visit an entity.
    Dead,
    Fails,
}

/// A stage that makes no changes itself.
pub(crate) struct Listener {
    pub(crate) id: &'static str,
    pub(crate) manner: Mutex<Manner>,
    /// The changes of each call.
    pub(crate) calls: Mutex<Vec<Vec<(String, u64)>>>,
    pub(crate) heard: Mutex<Vec<(String, u64)>>,
}

impl Listener {
    pub(crate) fn new(id: &'static str, manner: Manner) -> Arc<Self> {
        Arc::new(Self { id, manner: Mutex::new(manner), calls: Mutex::default(), heard: Mutex::default() })
    }

    pub(crate) fn set(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    pub(crate) fn heard(&self) -> Vec<(String, u64)> {
        self.heard.lock().unwrap().clone()
    }

    /// How often it was told of that entity.
    pub(crate) fn told_of(&self, entity: &str) -> usize {
        self.calls.lock().unwrap().iter().flatten().filter(|(told, _)| told == entity).count()
    }
}

#[async_trait]
impl Stage<Thing> for Listener {
    fn id(&self) -> &str {
        self.id
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["price"]))
    }

    async fn process(&self, _: &Subject<Thing>) -> Result<Answer<Thing>, StageError> {
        let manner = self.manner.lock().unwrap().clone();
        if manner == Manner::Dead {
            std::future::pending::<()>().await;
        }
        Ok(Answer::untouched())
    }

    fn wants_saved(&self) -> bool {
        true
    }

    async fn on_saved(&self, saved: &Saved<Thing>) -> Result<(), StageError> {
        let manner = self.manner.lock().unwrap().clone();
        match manner {
            Manner::Fails => return Err(StageError::Passing("not now".to_owned())),
            Manner::Takes(time) => tokio::time::sleep(time).await,
            Manner::Hangs | Manner::Dead => std::future::pending().await,
            Manner::HangsOver(entity) if entity == saved.entity.id => std::future::pending().await,
            Manner::Hears | Manner::HangsOver(_) => {}
        }
        self.heard.lock().unwrap().push((saved.entity.id.clone(), saved.version));
        Ok(())
    }

    async fn on_saved_many(&self, saved: &[Saved<Thing>]) -> Vec<Result<(), StageError>> {
        let call = saved.iter().map(|saved| (saved.entity.id.clone(), saved.version)).collect();
        self.calls.lock().unwrap().push(call);
        futures::future::join_all(saved.iter().map(|saved| self.on_saved(saved))).await
    }
}
