//! Torg's side of the topics benchmark.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use store::{Schema, Store, StoreOptions, StoreUrl};
use tokio::sync::mpsc;
use topics::{KafkaOptions, Message, ReadLimit, Retention, TopicSpec, Topics};

use super::{Load, PAGE_MESSAGES, READERS};
use crate::data::{Numbers, looked_at_all, offer_id};
use crate::measure::{Measure, join};
use crate::resting;

/// Where the topic is not removed with its folder, it stays; its messages expire.
const RETENTION: Duration = Duration::from_secs(3600);
/// The longest wait of a reader for a message that must come.
const TAIL_WAIT: Duration = Duration::from_secs(10);

pub(super) struct Ours {
    store: Store,
    shared: Arc<Shared>,
}

struct Shared {
    topics: Topics,
    topic: String,
    load: Load,
    seeds: AtomicU64,
}

impl Ours {
    pub(super) async fn open(
        url: &StoreUrl,
        options: &StoreOptions,
        topics: &str,
        load: Load,
    ) -> anyhow::Result<Self> {
        let store = Store::open(url, Schema::new(1, topics::tables())?, options).await?;
        let topics = Topics::open(topics, &store, KafkaOptions::default()).await?;
        let topic = format!("torg-bench-{}-{}", std::process::id(), now());
        topics
            .create(&TopicSpec::new(&topic, load.partitions).retention(Retention::of_time(RETENTION)))
            .await?;
        Ok(Self { store, shared: Arc::new(Shared { topics, topic, load, seeds: AtomicU64::new(1) }) })
    }

    pub(super) fn load(&self) -> &Load {
        &self.shared.load
    }

    pub(super) fn log_name(&self) -> &'static str {
        self.shared.topics.log_name()
    }

    /// All callers append, with this many messages per call.
    pub(super) async fn appends(&self, messages: u64, time: Duration) -> anyhow::Result<Measure> {
        let callers = (0..self.load().callers).map(|_| {
            let shared = Arc::clone(&self.shared);
            tokio::spawn(async move {
                let mut numbers = Numbers::new(shared.seeds.fetch_add(1, Ordering::Relaxed));
                let begin = Instant::now();
                let mut measure = Measure::default();
                while begin.elapsed() < time {
                    let start = Instant::now();
                    let call = (0..messages).map(|_| shared.message(numbers.next())).collect();
                    shared.topics.append(&shared.topic, call).await?;
                    measure.note(start, messages);
                }
                measure.elapsed = begin.elapsed();
                Ok(measure)
            })
        });
        join(callers.collect()).await
    }

    /// Readers catch up with the whole topic, partition after partition, and start again at the
    /// end.
    pub(super) async fn reads(&self, time: Duration) -> anyhow::Result<Measure> {
        let readers = (0..READERS).map(|reader| {
            let shared = Arc::clone(&self.shared);
            tokio::spawn(async move {
                let begin = Instant::now();
                let mut measure = Measure::default();
                let own = (reader..shared.load.partitions).step_by(READERS as usize).cycle();
                'all: for partition in own {
                    let mut next = 0;
                    loop {
                        if begin.elapsed() >= time {
                            break 'all;
                        }
                        let count = shared.read(partition, &mut next).await?;
                        measure.count += count;
                        if count == 0 {
                            break;
                        }
                    }
                }
                measure.elapsed = begin.elapsed();
                Ok(measure)
            })
        });
        join(readers.collect()).await
    }

    /// Appends one message after the other, each when a waiting reader has seen the one before it,
    /// and measures until the reader sees it.
    pub(super) async fn tail(&self, time: Duration) -> anyhow::Result<Measure> {
        let (sent, mut starts) = mpsc::channel::<Instant>(1);
        let (seen, mut answers) = mpsc::channel::<()>(1);
        let shared = Arc::clone(&self.shared);
        let partitions = shared.topics.describe(&shared.topic).await?.partitions;
        let mut next = partitions.first().context("a topic has a partition")?.end;
        let reader = tokio::spawn(async move {
            let limit = ReadLimit::default().waiting(TAIL_WAIT);
            let mut measure = Measure::default();
            while let Some(start) = starts.recv().await {
                let page = shared.topics.read(&shared.topic, 0, next, limit).await?;
                anyhow::ensure!(page.messages.len() == 1, "a message did not come");
                measure.note(start, 1);
                next = page.next;
                if seen.send(()).await.is_err() {
                    break;
                }
            }
            Ok(measure)
        });
        let begin = Instant::now();
        let mut numbers = Numbers::new(self.shared.seeds.fetch_add(1, Ordering::Relaxed));
        while begin.elapsed() < time {
            // The reader waits before the message exists.
            let start = Instant::now();
            if sent.send(start).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
            let message = self.shared.message(numbers.next());
            self.shared.topics.append_to(&self.shared.topic, 0, vec![message]).await?;
            if answers.recv().await.is_none() {
                break;
            }
        }
        drop(sent);
        let mut measure = reader.await??;
        measure.elapsed = begin.elapsed();
        Ok(measure)
    }

    /// Waits until the engine's background threads are idle.
    pub(super) async fn settle(&self) {
        resting::until_settled(&self.store).await;
    }

    pub(super) async fn close(self) -> anyhow::Result<()> {
        self.shared.topics.close().await?;
        Ok(self.store.close().await?)
    }
}

impl Shared {
    fn message(&self, number: u64) -> Message {
        Message::new(offer_id(number).to_vec(), self.load.payloads.pick(number), now())
    }

    /// Reads one page, checks every payload and returns the number of messages.
    async fn read(&self, partition: u32, next: &mut i64) -> anyhow::Result<u64> {
        let page =
            self.topics.read(&self.topic, partition, *next, ReadLimit::messages(PAGE_MESSAGES)).await?;
        let whole = page.messages.iter().all(|m| looked_at_all(&m.message.payload, self.load.payload_bytes));
        anyhow::ensure!(whole, "a message is not as it was appended");
        *next = page.next;
        Ok(page.messages.len() as u64)
    }
}

/// Milliseconds since 1970.
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_millis() as i64)
}
