//! The log in the store.
//!
//! A message is one row. The next offset is in a small row of its own, the head, which every append
//! checks and writes: so offsets have no gaps, and two processes can append to one partition. The
//! beginning of the log is in another row, which only `trim` writes.

mod append;
mod read;
mod trim;

use std::collections::BTreeMap;

use async_trait::async_trait;
use parking_lot::Mutex;
use store::{Batch, Outcome, Read, Row, Store};

use self::append::Appender;
use crate::codec::{Damage, Head, Start, decode_head, decode_spec, decode_start, encode_spec};
use crate::log::{Log, Routed, Trimmed};
use crate::message::{MessageId, Page, ReadLimit};
use crate::spec::{PartitionInfo, TopicSpec};
use crate::tables::{PartitionKeys, SPECS, spec_key};
use crate::{Error, Result};

pub(crate) struct StoreLog {
    store: Store,
    /// By topic; `None` once the log is closed.
    appenders: Mutex<Option<BTreeMap<String, Appender>>>,
}

impl StoreLog {
    pub(crate) fn new(store: &Store) -> Self {
        Self { store: store.clone(), appenders: Mutex::new(Some(BTreeMap::new())) }
    }

    async fn load_spec(&self, topic: &str) -> Result<Option<(TopicSpec, u64)>> {
        let Some(row) = self.store.get_one(&spec_key(topic)).await? else { return Ok(None) };
        Ok(Some((spec_of(topic, &row)?, row.version)))
    }
}

#[async_trait]
impl Log for StoreLog {
    fn name(&self) -> &'static str {
        "store"
    }

    async fn create(&self, spec: &TopicSpec) -> Result<()> {
        loop {
            let existing = self.load_spec(&spec.name).await?;
            let version = match &existing {
                Some((existing, _)) if existing.partitions != spec.partitions => {
                    let (existing, wanted) = (existing.partitions, spec.partitions);
                    return Err(Error::PartitionsDiffer { topic: spec.name.clone(), existing, wanted });
                }
                Some((existing, _)) if existing == spec => return Ok(()),
                Some((_, version)) => *version,
                None => 0,
            };
            let mut batch = Batch::new();
            let key = spec_key(&spec.name);
            batch.check(key.clone(), version).put(key, version + 1, encode_spec(spec));
            // After a conflict another process has created or changed the topic: read it again.
            if self.store.commit(batch).await? == Outcome::Applied {
                return Ok(());
            }
        }
    }

    async fn spec(&self, topic: &str) -> Result<TopicSpec> {
        let found = self.load_spec(topic).await?;
        found.map(|(spec, _)| spec).ok_or_else(|| Error::UnknownTopic { topic: topic.to_owned() })
    }

    async fn list(&self) -> Result<Vec<TopicSpec>> {
        let mut specs = Vec::new();
        let mut next = Some(SPECS.scan());
        while let Some(scan) = next.take() {
            let page = self.store.scan(&scan).await?;
            for row in &page.rows {
                specs.push(spec_of(&SPECS.parts(&row.key)?.1, row)?);
            }
            next = page.next.map(|key| scan.after(key));
        }
        specs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(specs)
    }

    async fn partitions(&self, topic: &str, partitions: u32) -> Result<Vec<PartitionInfo>> {
        let all: Vec<_> = (0..partitions).map(|p| PartitionKeys::new(topic, p)).collect();
        let keys: Vec<_> = all.iter().flat_map(|keys| [keys.start(), keys.head()]).collect();
        let rows = self.store.get(&keys).await?;
        all.iter().zip(rows.chunks(2)).map(|(keys, rows)| partition_info(keys, rows)).collect()
    }

    async fn append(&self, topic: &str, messages: Vec<Routed>) -> Result<Vec<MessageId>> {
        let appender = {
            let mut appenders = self.appenders.lock();
            let appenders = appenders.as_mut().ok_or(Error::Closed)?;
            if let Some(appender) = appenders.get(topic) {
                appender.sender()
            } else {
                let appender = Appender::start(self.store.clone(), topic);
                appenders.entry(topic.to_owned()).or_insert(appender).sender()
            }
        };
        append::append(appender, messages).await
    }

    async fn read(&self, topic: &str, partition: u32, offset: i64, limit: ReadLimit) -> Result<Page> {
        self.read_page(&PartitionKeys::new(topic, partition), offset, limit).await
    }

    async fn offset_at(&self, topic: &str, partition: u32, time: i64) -> Result<i64> {
        self.find_time(&PartitionKeys::new(topic, partition), time).await
    }

    async fn trim(&self, topic: &str, now: i64) -> Result<Trimmed> {
        let spec = self.spec(topic).await?;
        self.trim_topic(&spec, now).await
    }

    async fn close(&self) -> Result<()> {
        let appenders = self.appenders.lock().take();
        for appender in appenders.into_iter().flat_map(BTreeMap::into_values) {
            appender.finish().await;
        }
        Ok(())
    }
}

fn damaged(row: &Row) -> impl FnOnce(Damage) -> Error {
    |detail| Error::DamagedRow { key: row.key.to_string(), detail }
}

fn spec_of(topic: &str, row: &Row) -> Result<TopicSpec> {
    decode_spec(topic, &row.value).map_err(damaged(row))
}

/// Absent in a partition that was never written.
fn head_of(row: Option<&Row>) -> Result<(Head, u64)> {
    let Some(row) = row else { return Ok((Head::default(), 0)) };
    Ok((decode_head(&row.value).map_err(damaged(row))?, row.version))
}

/// Absent in a partition that was never trimmed.
fn start_of(row: Option<&Row>) -> Result<(Start, u64)> {
    let Some(row) = row else { return Ok((Start::default(), 0)) };
    Ok((decode_start(&row.value).map_err(damaged(row))?, row.version))
}

async fn bounds(view: &dyn Read, keys: &PartitionKeys) -> Result<PartitionInfo> {
    partition_info(keys, &view.get(&[keys.start(), keys.head()]).await?)
}

/// Start and head may be of different moments.
fn partition_info(keys: &PartitionKeys, rows: &[Option<Row>]) -> Result<PartitionInfo> {
    let (start, _) = start_of(rows.first().and_then(Option::as_ref))?;
    let (head, _) = head_of(rows.get(1).and_then(Option::as_ref))?;
    Ok(PartitionInfo {
        partition: keys.partition,
        first: start.first,
        end: head.end.max(start.first),
        bytes: Some(head.bytes.saturating_sub(start.bytes)),
    })
}
