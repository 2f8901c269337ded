//! What outlives a marketplace: its store, its topics, its clock, and the world around it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use fetch::{Client, Rules};
use photos::{Photos, files};
use store::{Memory, Schema, Store, StoreOptions};
use tokio::time::{Instant, sleep};
use topics::{Delivered, ReadLimit, TopicSpec, Topics};
use watcher::{Clock, Time};

use crate::site::Site;

/// The engines of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Memory,
    Fjall,
}

/// A day.
pub(crate) const DAY: Duration = Duration::from_secs(24 * 3600);
/// The topic of changes.
pub(crate) const TOPIC: &str = "offers";
/// The topic of events.
pub(crate) const EVENTS: &str = stages::limits::EVENTS_TOPIC;
/// Partitions of every topic.
pub(crate) const PARTITIONS: u32 = 3;
/// Shards of offers.
pub(crate) const SHARDS: u32 = 4;
const START_MS: i64 = 1_700_000_000_000;
/// How long a busy machine may take for what usually takes some milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(15);

/// Where marketplaces stand.
pub(crate) struct Ground {
    pub(crate) store: Store,
    pub(crate) topics: Topics,
    pub(crate) site: Site,
    pub(crate) photos: Photos,
    now_ms: Arc<AtomicI64>,
    _folder: tempfile::TempDir,
}

impl Ground {
    /// An empty one.
    pub(crate) async fn on(engine: Engine) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (store, site) = match engine {
            Engine::Memory => {
                (Store::over(Arc::new(Memory::new(schema())), &StoreOptions::default()), Site::in_memory())
            }
            Engine::Fjall => {
                let url = format!("fjall:{}", folder.path().join("store").display());
                let options = StoreOptions {
                    cache_bytes: 16 << 20,
                    free_bytes_min: 1 << 20,
                    ..StoreOptions::default()
                };
                let store = Store::open(&url.parse().unwrap(), schema(), &options).await.unwrap();
                (store, Site::on_loopback().await)
            }
        };
        let topics = Topics::in_store(&store);
        for topic in [TOPIC, EVENTS] {
            topics.create(&TopicSpec::new(topic, PARTITIONS)).await.unwrap();
        }
        let place = files::open(&format!("file:{}", folder.path().join("files").display())).unwrap();
        let photos = Photos::new(store.clone(), place, client(&site), photos::Config::default());
        Self { store, topics, site, photos, now_ms: Arc::new(AtomicI64::new(START_MS)), _folder: folder }
    }

    /// A client of the site.
    pub(crate) fn client(&self) -> Client {
        client(&self.site)
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, time: Duration) {
        self.now_ms.fetch_add(time.as_millis() as i64, Ordering::SeqCst);
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_ms(self.now_ms.load(Ordering::SeqCst))
    }

    pub(crate) fn clock(&self) -> Clock {
        let now_ms = Arc::clone(&self.now_ms);
        Clock::new(move || Time::from_ms(now_ms.load(Ordering::SeqCst)))
    }

    /// All messages of a topic, partition by partition.
    pub(crate) async fn messages(&self, topic: &str) -> Vec<Delivered> {
        let mut all = Vec::new();
        for info in self.topics.describe(topic).await.unwrap().partitions {
            let page = self.topics.read(topic, info.partition, info.first, ReadLimit::default()).await;
            all.extend(page.unwrap().messages);
        }
        all
    }
}

/// Waits until `look` finds something.
pub(crate) async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        sleep(LOOK_EVERY).await;
    }
}

fn client(site: &Site) -> Client {
    Client::over(Arc::new(site.clone()), Rules::default())
}

fn schema() -> Schema {
    let tables = watcher::tables().into_iter().chain(topics::tables()).chain(offers::tables());
    Schema::new(1, tables.chain(photos::tables()).chain(stages::price_tables())).unwrap()
}
