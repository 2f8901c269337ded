//! The log in Kafka, through librdkafka.
//!
//! The library is built from source together with OpenSSL, so that only a compiler, `make` and
//! `perl` are needed, and nothing at run time. (Its cmake build needs the headers of libcurl in
//! this version, so its own build is used.)
//!
//! Differences to the log in the store:
//! - An `append` that fails may have appended some of its messages.
//! - Offsets have gaps where other producers use transactions or the topic is compacted.
//! - The number of bytes in a partition is unknown, and retention by size is left to the brokers,
//!   which delete whole segments in their own time. They apply retention by time too; `trim` only
//!   does it at once.
//! - The brokers own the number of partitions: adding some with Kafka's own tools moves keys to
//!   other partitions.

mod admin;
mod client;
mod config;
mod limits;
mod produce;
mod read;

use std::sync::Arc;

use async_trait::async_trait;

use self::admin::Admin;
use self::client::Client;
use self::produce::Producer;
use self::read::{Readers, watermarks};
use crate::log::{Log, Routed, Trimmed, out_of_range};
use crate::message::{MessageId, Page, ReadLimit};
use crate::options::KafkaOptions;
use crate::spec::{PartitionInfo, TopicSpec};
use crate::{Error, Result};

pub(crate) struct KafkaLog {
    options: KafkaOptions,
    client: Arc<Client>,
    admin: Admin,
    producer: Producer,
    readers: Arc<Readers>,
}

impl KafkaLog {
    pub(crate) async fn open(options: KafkaOptions) -> Result<Self> {
        options.validate()?;
        let client = Arc::new(Client::start(&options)?);
        admin::greet(&client, options.connect_timeout).await?;
        Ok(Self {
            admin: Admin::start(&options, Arc::clone(&client))?,
            producer: Producer::start(&options)?,
            readers: Readers::new(&options, Arc::clone(&client)),
            client,
            options,
        })
    }

    fn full(&self, topic: &str) -> String {
        format!("{}{topic}", self.options.prefix)
    }

    async fn info(&self, topic: &str, partition: u32) -> Result<PartitionInfo> {
        let (first, end) =
            watermarks(&self.client, &self.full(topic), partition, self.options.patience).await?;
        Ok(PartitionInfo { partition, first, end, bytes: None })
    }
}

#[async_trait]
impl Log for KafkaLog {
    fn name(&self) -> &'static str {
        "kafka"
    }

    async fn create(&self, spec: &TopicSpec) -> Result<()> {
        self.admin.create(spec).await
    }

    async fn spec(&self, topic: &str) -> Result<TopicSpec> {
        let found = self.admin.spec(topic).await?;
        found.ok_or_else(|| Error::UnknownTopic { topic: topic.to_owned() })
    }

    async fn list(&self) -> Result<Vec<TopicSpec>> {
        self.admin.list().await
    }

    async fn partitions(&self, topic: &str, partitions: u32) -> Result<Vec<PartitionInfo>> {
        futures::future::try_join_all((0..partitions).map(|partition| self.info(topic, partition))).await
    }

    async fn append(&self, topic: &str, messages: Vec<Routed>) -> Result<Vec<MessageId>> {
        self.producer.append(&self.full(topic), &messages).await
    }

    async fn read(&self, topic: &str, partition: u32, offset: i64, limit: ReadLimit) -> Result<Page> {
        // The library gives negative offsets meanings of its own.
        if offset >= 0
            && let Some(page) = self.readers.read((self.full(topic), partition), offset, limit).await?
        {
            return Ok(page);
        }
        Err(out_of_range(topic, offset, &self.info(topic, partition).await?))
    }

    async fn offset_at(&self, topic: &str, partition: u32, time: i64) -> Result<i64> {
        let found = self.admin.offsets_at(topic, vec![partition], time).await?;
        match found.first() {
            Some((_, Some(offset))) => Ok(*offset),
            _ => Ok(self.info(topic, partition).await?.end),
        }
    }

    async fn trim(&self, topic: &str, now: i64) -> Result<Trimmed> {
        let spec = self.spec(topic).await?;
        let Some(keep) = spec.retention.time_ms() else { return Ok(Trimmed::default()) };
        let before = self.partitions(topic, spec.partitions).await?;
        let oldest = now.saturating_sub(keep).max(0);
        let found = self.admin.offsets_at(topic, (0..spec.partitions).collect(), oldest).await?;
        let mut firsts = Vec::new();
        let mut trimmed = Trimmed::default();
        for (info, (partition, offset)) in before.iter().zip(found) {
            let first = offset.unwrap_or(info.end);
            if first > info.first {
                trimmed.messages += (first - info.first).cast_unsigned();
                firsts.push((partition, first));
            }
        }
        self.admin.delete_before(topic, &firsts).await?;
        Ok(trimmed)
    }

    async fn close(&self) -> Result<()> {
        let flushed = self.producer.close().await;
        self.readers.close();
        flushed
    }
}
