//! Appends: one task for each topic gathers the messages of all callers of this process, and writes
//! them in one commit.
//!
//! The task caches the heads of the partitions, so that an append needs no read. If another process
//! appended meanwhile, the commit ends in a conflict; the heads are read again and the messages get
//! other offsets.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use store::{Batch, Outcome, Read, Store};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::head_of;
use crate::codec::{Head, encode_head, encode_message, encoded_bytes_max};
use crate::limits::{
    APPEND_CONFLICTS_MAX, APPEND_PAUSE_MAX, APPENDS_WAITING_MAX, GROUP_BYTES_FULL, GROUP_MESSAGES_FULL,
};
use crate::log::Routed;
use crate::message::MessageId;
use crate::tables::PartitionKeys;
use crate::{Error, Result};

/// The messages of one caller.
pub(super) struct Request {
    messages: Vec<Routed>,
    bytes: usize,
    reply: oneshot::Sender<Result<Vec<MessageId>>>,
}

/// Dropping it is like a crash: a commit in flight may succeed, queued messages are lost.
pub(super) struct Appender {
    requests: Option<mpsc::Sender<Request>>,
    task: JoinHandle<()>,
}

impl Drop for Appender {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(super) async fn append(
    appender: Option<mpsc::Sender<Request>>,
    messages: Vec<Routed>,
) -> Result<Vec<MessageId>> {
    let appender = appender.ok_or(Error::Closed)?;
    let (reply, answer) = oneshot::channel();
    let bytes = messages.iter().map(|routed| routed.message.bytes()).sum();
    appender.send(Request { messages, bytes, reply }).await.map_err(|_| Error::Closed)?;
    drop(appender);
    answer.await.map_err(|_| Error::Closed)?
}

impl Appender {
    pub(super) fn start(store: Store, topic: &str) -> Self {
        let (requests, waiting) = mpsc::channel(APPENDS_WAITING_MAX);
        let writer = Writer { store, topic: topic.to_owned(), partitions: BTreeMap::new() };
        Self { requests: Some(requests), task: tokio::spawn(writer.run(waiting)) }
    }

    /// `None` once it is finishing.
    pub(super) fn sender(&self) -> Option<mpsc::Sender<Request>> {
        self.requests.clone()
    }

    /// Lets the task write its queue, and ends it.
    pub(super) async fn finish(mut self) {
        drop(self.requests.take());
        if let Err(error) = (&mut self.task).await {
            tracing::error!(%error, "the writer of a topic panicked");
        }
    }
}

struct Writer {
    store: Store,
    topic: String,
    partitions: BTreeMap<u32, Partition>,
}

struct Partition {
    keys: PartitionKeys,
    /// Cached heads with the versions of their rows.
    head: Option<(Head, u64)>,
}

/// The batch of one commit, and the heads after it.
struct Plan {
    batch: Batch,
    heads: BTreeMap<u32, (Head, u64)>,
    ids: Vec<Vec<MessageId>>,
}

impl Writer {
    async fn run(mut self, mut waiting: mpsc::Receiver<Request>) {
        while let Some(first) = waiting.recv().await {
            let group = gather(first, &mut waiting).await;
            let answer = self.write(&group).await;
            if answer.is_err() {
                self.partitions.values_mut().for_each(|partition| partition.head = None);
            }
            reply_to_all(group, answer);
        }
    }

    /// Writes a group in one commit, with new offsets after each conflict.
    async fn write(&mut self, group: &[Request]) -> Result<Vec<Vec<MessageId>>> {
        for attempt in 0..APPEND_CONFLICTS_MAX {
            self.pause(attempt).await;
            self.load_heads(group).await?;
            let Plan { batch, heads, ids } = self.plan(group);
            if let Outcome::Conflict(_) = self.store.commit(batch).await? {
                for partition in heads.keys() {
                    self.partition(*partition).head = None;
                }
                continue;
            }
            for (partition, head) in heads {
                self.partition(partition).head = Some(head);
            }
            return Ok(ids);
        }
        Err(Error::Contended { topic: self.topic.clone(), attempts: APPEND_CONFLICTS_MAX })
    }

    /// One of several conflicting writers always wins, so the first retries need no pause.
    async fn pause(&self, attempt: u32) {
        if attempt > 2 {
            let pause = Duration::from_millis(1 << attempt.min(10)).min(APPEND_PAUSE_MAX);
            tracing::debug!(topic = %self.topic, attempt, ?pause, "conflict with other writers, retrying");
            tokio::time::sleep(pause).await;
        }
    }

    fn partition(&mut self, partition: u32) -> &mut Partition {
        let topic = &self.topic;
        let fresh = || Partition { keys: PartitionKeys::new(topic, partition), head: None };
        self.partitions.entry(partition).or_insert_with(fresh)
    }

    /// Reads missing heads.
    async fn load_heads(&mut self, group: &[Request]) -> Result<()> {
        let mut unknown = BTreeMap::new();
        for routed in group.iter().flat_map(|request| &request.messages) {
            let partition = self.partition(routed.partition);
            if partition.head.is_none() {
                unknown.entry(routed.partition).or_insert_with(|| partition.keys.head());
            }
        }
        if unknown.is_empty() {
            return Ok(());
        }
        let (numbers, keys): (Vec<u32>, Vec<_>) = unknown.into_iter().unzip();
        let rows = self.store.get(&keys).await?;
        for (number, row) in numbers.into_iter().zip(rows) {
            self.partition(number).head = Some(head_of(row.as_ref())?);
        }
        Ok(())
    }

    /// All messages are encoded into one buffer, of which each row has a slice: a message costs no
    /// allocation.
    fn plan(&mut self, group: &[Request]) -> Plan {
        let messages = || group.iter().flat_map(|request| &request.messages);
        let bytes_max = messages().map(|routed| encoded_bytes_max(&routed.message)).sum();
        let mut bytes = Vec::with_capacity(bytes_max);
        let mut rows = Vec::with_capacity(messages().count());
        let mut heads: BTreeMap<u32, (Head, u64)> = BTreeMap::new();
        let mut ids = Vec::with_capacity(group.len());
        for request in group {
            let mut of_request = Vec::with_capacity(request.messages.len());
            for Routed { partition, message } in &request.messages {
                let known = self.partition(*partition);
                let (head, _) = heads.entry(*partition).or_insert_with(|| known.head.unwrap_or_default());
                let (offset, start) = (head.end, bytes.len());
                head.newest = head.newest.max(message.time);
                encode_message(message, head.newest, known.keys.seed(offset), &mut bytes);
                head.bytes = head.bytes.wrapping_add((bytes.len() - start) as u64);
                head.end += 1;
                rows.push((known.keys.message(offset), start..bytes.len()));
                of_request.push(MessageId { partition: *partition, offset });
            }
            ids.push(of_request);
        }
        let bytes = Bytes::from(bytes);
        let mut batch = Batch::with_capacity(heads.len(), rows.len() + heads.len());
        for (key, range) in rows {
            batch.set(key, bytes.slice(range));
        }
        for (partition, (head, version)) in &mut heads {
            let key = self.partition(*partition).keys.head();
            batch.check(key.clone(), *version);
            *version += 1;
            batch.put(key, *version, encode_head(head));
        }
        Plan { batch, heads, ids }
    }
}

/// Queued requests, up to the limits of one commit. Callers that were answered together return one
/// by one: as long as more of them come, the others get a turn.
async fn gather(first: Request, waiting: &mut mpsc::Receiver<Request>) -> Vec<Request> {
    let (mut messages, mut bytes) = (first.messages.len(), first.bytes);
    let mut group = vec![first];
    loop {
        tokio::task::yield_now().await;
        let before = group.len();
        while messages < GROUP_MESSAGES_FULL && bytes < GROUP_BYTES_FULL {
            let Ok(next) = waiting.try_recv() else { break };
            messages += next.messages.len();
            bytes += next.bytes;
            group.push(next);
        }
        if group.len() == before {
            return group;
        }
    }
}

/// A caller that dropped its future does not get the answer.
fn reply_to_all(group: Vec<Request>, answer: Result<Vec<Vec<MessageId>>>) {
    match answer {
        Ok(ids) => {
            for (request, ids) in group.into_iter().zip(ids) {
                let _ = request.reply.send(Ok(ids));
            }
        }
        Err(error) => {
            for request in group {
                let _ = request.reply.send(Err(error.clone()));
            }
        }
    }
}
