//! Administration of Kafka: topics, their retention, offsets by time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rdkafka::admin::{
    AdminClient, AdminOptions, AlterConfig, ConfigSource, NewTopic, ResourceSpecifier, TopicReplication,
};
use rdkafka::config::FromClientConfigAndContext;
use rdkafka::consumer::Consumer as _;
use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};
use rdkafka::metadata::MetadataTopic;
use rdkafka::{Offset, TopicPartitionList};
use tokio::time::Instant;

use super::client::{Client, Consumer, Context};
use super::limits::SETTLE_PAUSE;
use crate::options::KafkaOptions;
use crate::spec::{Retention, TopicSpec};
use crate::{Error, Result};

const RETENTION_TIME: &str = "retention.ms";
const RETENTION_BYTES: &str = "retention.bytes";
/// Topics in one describe request.
const DESCRIBED_MAX: usize = 200;

pub(super) struct Admin {
    options: KafkaOptions,
    client: Arc<Client>,
    commands: AdminClient<Context>,
}

struct Known {
    name: String,
    partitions: u32,
    /// Every partition has a leader.
    settled: bool,
}

/// Waits for the first answer of a broker.
pub(super) async fn greet(client: &Client, patience: Duration) -> Result<()> {
    let ask = |consumer: &Consumer, timeout: Duration| {
        consumer.fetch_metadata(Some("torg.greeting"), timeout).map(|_| ())
    };
    client.ask("", patience, ask).await
}

impl Admin {
    pub(super) fn start(options: &KafkaOptions, client: Arc<Client>) -> Result<Self> {
        let context = Context::default();
        let commands = AdminClient::from_config_and_context(&options.admin(), context.clone())
            .map_err(|error| context.explain("", &error))?;
        Ok(Self { options: options.clone(), client, commands })
    }

    fn full(&self, topic: &str) -> String {
        format!("{}{topic}", self.options.prefix)
    }

    fn patience(&self) -> AdminOptions {
        let patience = Some(self.options.patience);
        AdminOptions::new().request_timeout(patience).operation_timeout(patience)
    }

    fn explain(&self, topic: &str, error: &KafkaError) -> Error {
        self.client.context.explain(topic, error)
    }

    /// The error of the answer about one topic.
    fn refused(&self, topic: &str, code: Code) -> Error {
        self.explain(topic, &KafkaError::AdminOp(code))
    }

    pub(super) async fn create(&self, spec: &TopicSpec) -> Result<()> {
        let known = self.known(&spec.name).await?;
        if known.is_none() && self.try_create(spec).await? {
            return self.settle(spec).await;
        }
        self.settle(spec).await?;
        let existing = self.retention(std::slice::from_ref(&spec.name)).await?.pop().unwrap_or_default();
        if existing.time_ms() == spec.retention.time_ms() && existing.bytes == spec.retention.bytes {
            return Ok(());
        }
        self.change_retention(spec).await
    }

    /// `false` if the topic exists.
    async fn try_create(&self, spec: &TopicSpec) -> Result<bool> {
        let name = self.full(&spec.name);
        let replication = self.options.replication.map_or(-1, i32::from);
        let [time, bytes] = retention_settings(&spec.retention);
        let topic = NewTopic::new(&name, spec.partitions.cast_signed(), TopicReplication::Fixed(replication))
            .set(RETENTION_TIME, &time)
            .set(RETENTION_BYTES, &bytes)
            .set("cleanup.policy", "delete")
            // The producer sets the time, as in the log in the store.
            .set("message.timestamp.type", "CreateTime")
            .set("message.timestamp.after.max.ms", "9223372036854775807");
        let answers = self.commands.create_topics([&topic], &self.patience()).await;
        match answers.map_err(|error| self.explain(&spec.name, &error))?.pop() {
            Some(Err((_, Code::TopicAlreadyExists))) => Ok(false),
            Some(Err((_, code))) => Err(self.refused(&spec.name, code)),
            Some(Ok(_)) | None => Ok(true),
        }
    }

    /// Waits until the new topic is usable, and checks its number of partitions.
    async fn settle(&self, spec: &TopicSpec) -> Result<()> {
        let until = Instant::now() + self.options.patience;
        loop {
            let known = self.known(&spec.name).await?;
            match known {
                Some(known) if known.partitions != spec.partitions => {
                    let (existing, wanted) = (known.partitions, spec.partitions);
                    return Err(Error::PartitionsDiffer { topic: spec.name.clone(), existing, wanted });
                }
                Some(known) if known.settled => return Ok(()),
                _ if Instant::now() >= until => {
                    let detail = format!("the new topic {} is not served by any broker", spec.name);
                    return Err(Error::Unavailable { detail });
                }
                _ => tokio::time::sleep(SETTLE_PAUSE).await,
            }
        }
    }

    pub(super) async fn spec(&self, topic: &str) -> Result<Option<TopicSpec>> {
        let Some(known) = self.known(topic).await? else { return Ok(None) };
        let retention = self.retention(&[topic.to_owned()]).await?.pop().unwrap_or_default();
        Ok(Some(TopicSpec { name: topic.to_owned(), partitions: known.partitions, retention }))
    }

    pub(super) async fn list(&self) -> Result<Vec<TopicSpec>> {
        let prefix = self.options.prefix.clone();
        let ask = move |consumer: &Consumer, timeout: Duration| {
            let all = consumer.fetch_metadata(None, timeout)?;
            let ours = all.topics().iter().filter(|topic| !topic.name().starts_with("__"));
            let ours = ours.filter_map(|topic| known(topic.name().strip_prefix(&*prefix)?, topic));
            Ok(ours.collect::<Vec<_>>())
        };
        let mut found = self.client.ask("", self.options.patience, ask).await?;
        found.sort_by(|a, b| a.name.cmp(&b.name));
        let names: Vec<String> = found.iter().map(|known| known.name.clone()).collect();
        let retentions = self.retention(&names).await?;
        let spec = |(known, retention): (Known, Retention)| TopicSpec {
            name: known.name,
            partitions: known.partitions,
            retention,
        };
        Ok(found.into_iter().zip(retentions).map(spec).collect())
    }

    async fn known(&self, topic: &str) -> Result<Option<Known>> {
        let (name, topic) = (self.full(topic), topic.to_owned());
        let asked = topic.clone();
        let ask = move |consumer: &Consumer, timeout: Duration| {
            let metadata = consumer.fetch_metadata(Some(&name), timeout)?;
            let found = metadata.topics().iter().find(|found| found.name() == name);
            match found.and_then(MetadataTopic::error).map(Code::from) {
                None => Ok(found.and_then(|found| known(&topic, found))),
                Some(Code::UnknownTopicOrPartition | Code::UnknownTopic) => Ok(None),
                Some(code) => Err(KafkaError::MetadataFetch(code)),
            }
        };
        self.client.ask(&asked, self.options.patience, ask).await
    }

    /// In the order of the topics.
    async fn retention(&self, topics: &[String]) -> Result<Vec<Retention>> {
        let mut retentions = Vec::with_capacity(topics.len());
        for topics in topics.chunks(DESCRIBED_MAX) {
            let settings = self.settings(topics).await?;
            retentions.extend(topics.iter().map(|topic| {
                let setting = |name| settings.get(topic)?.get(name)?.0.parse::<i64>().ok();
                let limited = |value: i64| (value >= 0).then_some(value);
                let time = setting(RETENTION_TIME).and_then(limited);
                let bytes = setting(RETENTION_BYTES).and_then(limited);
                Retention::from_ms(time, bytes.map(i64::cast_unsigned))
            }));
        }
        Ok(retentions)
    }

    /// By topic and name: the value, and whether it was set for the topic.
    async fn settings(
        &self,
        topics: &[String],
    ) -> Result<BTreeMap<String, BTreeMap<String, (String, bool)>>> {
        let names: Vec<String> = topics.iter().map(|topic| self.full(topic)).collect();
        let asked: Vec<_> = names.iter().map(|name| ResourceSpecifier::Topic(name)).collect();
        let about = topics.first().map_or("", String::as_str);
        let answers = self.commands.describe_configs(&asked, &self.patience()).await;
        let mut settings = BTreeMap::new();
        for (topic, answer) in topics.iter().zip(answers.map_err(|error| self.explain(about, &error))?) {
            let resource = answer.map_err(|code| self.refused(topic, code))?;
            let entries = resource.entries.into_iter().filter_map(|entry| {
                Some((entry.name, (entry.value?, entry.source == ConfigSource::DynamicTopic)))
            });
            settings.insert(topic.clone(), entries.collect());
        }
        Ok(settings)
    }

    /// Settings are replaced as a whole, so those of others are kept.
    async fn change_retention(&self, spec: &TopicSpec) -> Result<()> {
        let name = self.full(&spec.name);
        let mut all = self.settings(std::slice::from_ref(&spec.name)).await?;
        let mut own: BTreeMap<String, String> = all
            .remove(&spec.name)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|(name, (value, is_own))| is_own.then_some((name, value)))
            .collect();
        let [time, bytes] = retention_settings(&spec.retention);
        own.extend([(RETENTION_TIME.to_owned(), time), (RETENTION_BYTES.to_owned(), bytes)]);
        let change = AlterConfig::new(ResourceSpecifier::Topic(&name));
        let change = own.iter().fold(change, |change, (name, value)| change.set(name, value));
        let answers = self.commands.alter_configs([&change], &self.patience()).await;
        match answers.map_err(|error| self.explain(&spec.name, &error))?.pop() {
            Some(Err((_, code))) => Err(self.refused(&spec.name, code)),
            Some(Ok(_)) | None => Ok(()),
        }
    }

    /// By partition, the offset of the first message with this time or a later one.
    pub(super) async fn offsets_at(
        &self,
        topic: &str,
        partitions: Vec<u32>,
        time: i64,
    ) -> Result<Vec<(u32, Option<i64>)>> {
        let name = self.full(topic);
        let ask = move |consumer: &Consumer, timeout: Duration| {
            let mut list = TopicPartitionList::new();
            for partition in &partitions {
                list.add_partition_offset(&name, partition.cast_signed(), Offset::Offset(time))?;
            }
            let found = consumer.offsets_for_times(list, timeout)?;
            let offset_of = |partition: &u32| {
                let found = found.find_partition(&name, partition.cast_signed());
                let found = found.ok_or(KafkaError::OffsetFetch(Code::UnknownPartition))?;
                found.error()?;
                let offset = if let Offset::Offset(offset) = found.offset() { Some(offset) } else { None };
                Ok((*partition, offset))
            };
            partitions.iter().map(offset_of).collect()
        };
        self.client.ask(topic, self.options.patience, ask).await
    }

    pub(super) async fn delete_before(&self, topic: &str, firsts: &[(u32, i64)]) -> Result<()> {
        if firsts.is_empty() {
            return Ok(());
        }
        let name = self.full(topic);
        let told = |error: &KafkaError| self.explain(topic, error);
        let mut list = TopicPartitionList::new();
        for (partition, first) in firsts {
            let (partition, first) = (partition.cast_signed(), Offset::Offset(*first));
            list.add_partition_offset(&name, partition, first).map_err(|error| told(&error))?;
        }
        let done =
            self.commands.delete_records(&list, &self.patience()).await.map_err(|error| told(&error))?;
        done.elements()
            .iter()
            .try_for_each(rdkafka::topic_partition_list::TopicPartitionListElem::error)
            .map_err(|error| told(&error))
    }
}

fn known(name: &str, topic: &MetadataTopic) -> Option<Known> {
    let partitions = topic.partitions();
    let settled = partitions.iter().all(|partition| partition.leader() >= 0 && partition.error().is_none());
    (!partitions.is_empty()).then(|| Known {
        name: name.to_owned(),
        partitions: partitions.len() as u32,
        settled,
    })
}

/// -1 is no limit.
fn retention_settings(retention: &Retention) -> [String; 2] {
    let bytes = retention.bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
    [retention.time_ms().unwrap_or(-1).to_string(), bytes.unwrap_or(-1).to_string()]
}
