//! The handle on topics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use store::{Read, Store};

use crate::codec::decode_offset;
use crate::in_store::StoreLog;
#[cfg(feature = "kafka")]
use crate::kafka::KafkaLog;
use crate::log::{Log, Routed, Trimmed};
use crate::message::{Message, MessageId, Page, ReadLimit, partition_of, validate_append};
use crate::offsets::{Lag, Position};
use crate::options::KafkaOptions;
use crate::spec::{Description, TopicSpec, validate_consumer_name, validate_topic_name};
use crate::tables::{OFFSETS, PartitionKeys};
use crate::{Error, Result};

/// Partitioned logs. Cheap to clone; all clones share connections and caches.
///
/// - [`append`](Self::append) is durable when it answers; messages of one key keep the order in
///   which one caller appended them.
/// - [`read`](Self::read) sees every message that was acknowledged before it began.
/// - Offsets of consumers are committed in the caller's own batch: see [`Position`].
#[derive(Clone)]
pub struct Topics {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    log: Arc<dyn Log>,
    /// A cache of the number of partitions, which never changes.
    partitions: Mutex<BTreeMap<String, u32>>,
}

impl Topics {
    /// Topics in the store, which must have been opened with [`tables`](crate::tables). Must be
    /// used on a tokio runtime, where appends are grouped.
    #[must_use]
    pub fn in_store(store: &Store) -> Self {
        Self::over(store, Arc::new(StoreLog::new(store)))
    }

    /// Topics in Kafka; the offsets of their consumers are in the store. Fails if Kafka does not
    /// answer within [`KafkaOptions::connect_timeout`].
    #[cfg(feature = "kafka")]
    pub async fn in_kafka(store: &Store, options: KafkaOptions) -> Result<Self> {
        Ok(Self::over(store, Arc::new(KafkaLog::open(options).await?)))
    }

    /// Topics at an address: `store`, or `kafka://HOST:PORT,HOST:PORT` with these other options.
    pub async fn open(url: &str, store: &Store, kafka: KafkaOptions) -> Result<Self> {
        if url == "store" {
            return Ok(Self::in_store(store));
        }
        let options = kafka.at(url)?;
        #[cfg(feature = "kafka")]
        return Self::in_kafka(store, options).await;
        #[cfg(not(feature = "kafka"))]
        {
            drop(options);
            Err(Error::NotCompiledIn { log: "kafka" })
        }
    }

    /// Topics in another log.
    #[must_use]
    pub fn over(store: &Store, log: Arc<dyn Log>) -> Self {
        Self { inner: Arc::new(Inner { store: store.clone(), log, partitions: Mutex::default() }) }
    }

    /// `store` or `kafka`.
    #[must_use]
    pub fn log_name(&self) -> &'static str {
        self.inner.log.name()
    }

    /// Creates a topic, or sets the retention of an existing one; another number of partitions is
    /// refused with [`Error::PartitionsDiffer`].
    pub async fn create(&self, spec: &TopicSpec) -> Result<()> {
        spec.validate()?;
        self.inner.log.create(spec).await?;
        self.inner.partitions.lock().insert(spec.name.clone(), spec.partitions);
        Ok(())
    }

    pub async fn list(&self) -> Result<Vec<TopicSpec>> {
        self.inner.log.list().await
    }

    pub async fn describe(&self, topic: &str) -> Result<Description> {
        validate_topic_name(topic)?;
        let spec = self.inner.log.spec(topic).await?;
        let partitions = self.inner.log.partitions(topic, spec.partitions).await?;
        Ok(Description { spec, partitions })
    }

    /// Appends messages, each to the partition of its key, and returns their ids when they are
    /// durable.
    ///
    /// Messages of one call keep their order within a partition. Concurrent calls are written
    /// together. A call has at most [`APPEND_MESSAGES_MAX`](crate::limits::APPEND_MESSAGES_MAX)
    /// messages and [`APPEND_BYTES_MAX`](crate::limits::APPEND_BYTES_MAX) bytes.
    ///
    /// After an error the caller retries all of them or none: [`Error`] says what may be in the
    /// log. Dropping the future does not withdraw the messages.
    pub async fn append(&self, topic: &str, messages: Vec<Message>) -> Result<Vec<MessageId>> {
        let partitions = self.partition_count(topic).await?;
        self.append_routed(topic, messages, |message| partition_of(&message.key, partitions)).await
    }

    /// Appends messages to one partition, independent of their keys.
    pub async fn append_to(
        &self,
        topic: &str,
        partition: u32,
        messages: Vec<Message>,
    ) -> Result<Vec<MessageId>> {
        self.require_partition(topic, partition).await?;
        self.append_routed(topic, messages, |_| partition).await
    }

    async fn append_routed(
        &self,
        topic: &str,
        messages: Vec<Message>,
        partition: impl Fn(&Message) -> u32,
    ) -> Result<Vec<MessageId>> {
        validate_append(topic, &messages)?;
        if messages.is_empty() {
            return Ok(Vec::new());
        }
        let routed = messages.into_iter().map(|message| Routed { partition: partition(&message), message });
        self.inner.log.append(topic, routed.collect()).await
    }

    /// Messages of one partition from an offset. At the end of the log the page is empty, after
    /// waiting for [`ReadLimit::wait`].
    ///
    /// [`Error::OffsetOutOfRange`] means that messages from this offset were trimmed, or that the
    /// offset is beyond the end.
    pub async fn read(&self, topic: &str, partition: u32, offset: i64, limit: ReadLimit) -> Result<Page> {
        self.require_partition(topic, partition).await?;
        self.inner.log.read(topic, partition, offset, limit.clamped()).await
    }

    /// The offset of the first message with this time or a later one; the end of the log if there
    /// is none. If times do not grow, no such message is before it.
    pub async fn offset_at(&self, topic: &str, partition: u32, time: i64) -> Result<i64> {
        self.require_partition(topic, partition).await?;
        self.inner.log.offset_at(topic, partition, time.max(0)).await
    }

    /// Deletes the messages that exceed the retention at the time `now`, oldest first, in bounded
    /// commits. It may be interrupted and repeated, also by several processes.
    ///
    /// The log in the store applies retention only here, so it must be called repeatedly. Kafka
    /// applies retention itself; there this call only does at once what is due by time.
    pub async fn trim(&self, topic: &str, now: i64) -> Result<Trimmed> {
        self.partition_count(topic).await?;
        self.inner.log.trim(topic, now).await
    }

    /// The offset of a consumer group in a partition, which must exist.
    pub async fn position(&self, consumer: &str, topic: &str, partition: u32) -> Result<Position> {
        validate_consumer_name(consumer)?;
        self.require_partition(topic, partition).await?;
        let key = PartitionKeys::new(topic, partition).consumer(self.log_name(), consumer);
        let row = self.inner.store.get_one(&key).await?;
        let (offset, version) = match &row {
            Some(row) => (stored_offset(row)?, row.version),
            None => (0, 0),
        };
        Ok(Position { key: Arc::new(key), offset, version })
    }

    /// The lag of a consumer group, by partition.
    pub async fn lag(&self, consumer: &str, topic: &str) -> Result<Vec<Lag>> {
        validate_consumer_name(consumer)?;
        let count = self.partition_count(topic).await?;
        let keys: Vec<_> =
            (0..count).map(|p| PartitionKeys::new(topic, p).consumer(self.log_name(), consumer)).collect();
        // Offsets are read before ends: a consumer that advances meanwhile is never ahead of the
        // end.
        let rows = self.inner.store.get(&keys).await?;
        let partitions = self.inner.log.partitions(topic, count).await?;
        partitions
            .iter()
            .zip(rows)
            .map(|(info, row)| {
                let offset = row.as_ref().map(stored_offset).transpose()?.unwrap_or(0);
                let messages = info.end.saturating_sub(offset.max(info.first)).max(0).cast_unsigned();
                Ok(Lag { partition: info.partition, offset, end: info.end, messages })
            })
            .collect()
    }

    /// The consumer groups that committed an offset in this topic.
    pub async fn consumers(&self, topic: &str) -> Result<BTreeSet<String>> {
        let mut consumers = BTreeSet::new();
        for partition in 0..self.partition_count(topic).await? {
            let mut next = Some(PartitionKeys::new(topic, partition).consumers(self.log_name()));
            while let Some(scan) = next.take() {
                let page = self.inner.store.scan(&scan).await?;
                for row in &page.rows {
                    consumers.insert(OFFSETS.parts(&row.key)?.4);
                }
                next = page.next.map(|key| scan.after(key));
            }
        }
        Ok(consumers)
    }

    /// Finishes pending appends, and releases connections. The store stays open.
    pub async fn close(&self) -> Result<()> {
        self.inner.log.close().await
    }

    /// Fails with [`Error::UnknownTopic`].
    pub async fn partition_count(&self, topic: &str) -> Result<u32> {
        let known = self.inner.partitions.lock().get(topic).copied();
        if let Some(partitions) = known {
            return Ok(partitions);
        }
        validate_topic_name(topic)?;
        let partitions = self.inner.log.spec(topic).await?.partitions;
        self.inner.partitions.lock().insert(topic.to_owned(), partitions);
        Ok(partitions)
    }

    async fn require_partition(&self, topic: &str, partition: u32) -> Result<()> {
        let partitions = self.partition_count(topic).await?;
        if partition < partitions {
            return Ok(());
        }
        Err(Error::UnknownPartition { topic: topic.to_owned(), partition, partitions })
    }
}

fn stored_offset(row: &store::Row) -> Result<i64> {
    decode_offset(&row.value).map_err(|detail| Error::DamagedRow { key: row.key.to_string(), detail })
}
