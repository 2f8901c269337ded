//! A topic that is slow: what is appended waits at a gate.

use std::sync::Arc;

use async_trait::async_trait;
use store::Store;
use tokio::sync::Semaphore;
use topics::{Log, MessageId, Page, PartitionInfo, ReadLimit, Result, Routed, TopicSpec, Topics, Trimmed};

/// A log that hands everything on to other topics, appends only when the gate lets it.
pub(crate) struct Held {
    topics: Topics,
    /// Each permit is for one append.
    gate: Arc<Semaphore>,
    /// A permit for each append that has come to the gate, and one for each that is through.
    pub(crate) came: Semaphore,
    pub(crate) went: Semaphore,
}

impl Held {
    pub(crate) fn new(topics: &Topics, gate: &Arc<Semaphore>) -> Arc<Self> {
        let (came, went) = (Semaphore::new(0), Semaphore::new(0));
        Arc::new(Self { topics: topics.clone(), gate: Arc::clone(gate), came, went })
    }

    pub(crate) fn topics(self: &Arc<Self>, store: &Store) -> Topics {
        Topics::over(store, self.clone())
    }
}

#[async_trait]
impl Log for Held {
    fn name(&self) -> &'static str {
        self.topics.log_name()
    }

    async fn create(&self, spec: &TopicSpec) -> Result<()> {
        self.topics.create(spec).await
    }

    async fn spec(&self, topic: &str) -> Result<TopicSpec> {
        Ok(self.topics.describe(topic).await?.spec)
    }

    async fn list(&self) -> Result<Vec<TopicSpec>> {
        self.topics.list().await
    }

    async fn partitions(&self, topic: &str, _: u32) -> Result<Vec<PartitionInfo>> {
        Ok(self.topics.describe(topic).await?.partitions)
    }

    async fn append(&self, topic: &str, messages: Vec<Routed>) -> Result<Vec<MessageId>> {
        self.came.add_permits(1);
        self.gate.acquire().await.unwrap().forget();
        let places =
            self.topics.append(topic, messages.into_iter().map(|placed| placed.message).collect()).await;
        self.went.add_permits(1);
        places
    }

    async fn read(&self, topic: &str, partition: u32, offset: i64, limit: ReadLimit) -> Result<Page> {
        self.topics.read(topic, partition, offset, limit).await
    }

    async fn offset_at(&self, topic: &str, partition: u32, time: i64) -> Result<i64> {
        self.topics.offset_at(topic, partition, time).await
    }

    async fn trim(&self, topic: &str, now: i64) -> Result<Trimmed> {
        self.topics.trim(topic, now).await
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}
