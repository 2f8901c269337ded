//! Reads from Kafka.
//!
//! A *cursor* follows one partition: the library prefetches into its queue. A reader at the offset
//! of a cursor takes what was fetched; another one moves a cursor. Cursors belong to *lanes*: a
//! lane is one client, which can follow many partitions, but each only once. So several readers of
//! one partition at different offsets do not disturb each other as long as there are lanes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rdkafka::consumer::Consumer as _;
use rdkafka::consumer::base_consumer::PartitionQueue;
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode as Code};
use rdkafka::message::{BorrowedMessage, Headers as _, Message as _};
use rdkafka::{Offset, TopicPartitionList};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::client::{Client, Consumer, Context, blocking};
use super::limits::{CURSORS_MAX, LANES_MAX};
use crate::limits::LOOK_AGAIN;
use crate::message::{Delivered, Message, Page, ReadLimit};
use crate::options::KafkaOptions;
use crate::{Error, Result};

/// The limit of a seek, which the library does without the brokers.
const SEEK_TIMEOUT: Duration = Duration::from_secs(5);

/// The full name of a topic, and a partition.
pub(super) type Partition = (String, u32);

pub(super) struct Readers {
    options: KafkaOptions,
    pool: Mutex<Pool>,
    /// A cursor was returned.
    freed: Notify,
}

#[derive(Default)]
struct Pool {
    lanes: Vec<Arc<Client>>,
    idle: BTreeMap<Partition, Vec<Cursor>>,
    /// Lanes whose cursor of the partition is in use.
    busy: BTreeMap<Partition, Vec<usize>>,
    clock: u64,
}

/// A reader of a partition in one lane.
struct Cursor {
    lane: usize,
    /// `None` before it follows the partition.
    queue: Option<PartitionQueue<Context>>,
    filled: Arc<Notify>,
    /// The offset of the next message in the queue; `None` when the cursor must be set.
    next: Option<i64>,
    /// The queue reported that nothing follows `next`.
    at_end: bool,
    used: u64,
}

/// A cursor in use. It returns to the pool when dropped.
struct Lease {
    readers: Arc<Readers>,
    client: Arc<Client>,
    partition: Partition,
    cursor: Option<Cursor>,
}

enum Taken {
    Messages,
    OutOfRange,
    Failed(Error),
}

impl Readers {
    pub(super) fn new(options: &KafkaOptions, first_lane: Arc<Client>) -> Arc<Self> {
        let pool = Mutex::new(Pool { lanes: vec![first_lane], ..Pool::default() });
        Arc::new(Self { options: options.clone(), pool, freed: Notify::new() })
    }

    /// `None` when the offset is not in the log.
    pub(super) async fn read(
        self: &Arc<Self>,
        partition: Partition,
        offset: i64,
        limit: ReadLimit,
    ) -> Result<Option<Page>> {
        let started = Instant::now();
        let (wanted_until, patient_until) =
            (started + limit.wait, started + limit.wait.max(self.options.patience));
        let mut lease = self.lease(&partition, offset, patient_until).await?;
        if lease.cursor().next != Some(offset) {
            lease = blocking(move || lease.move_to(offset)).await??;
        }
        let mut page = Page { messages: Vec::new(), next: offset };
        loop {
            // Subscribed before the read, so that nothing is missed.
            let filled = Arc::clone(&lease.cursor().filled);
            let filled = filled.notified();
            match lease.take(&mut page, limit) {
                Taken::Messages if !page.messages.is_empty() => return Ok(Some(page)),
                Taken::Messages => {}
                Taken::OutOfRange => return Ok(None),
                Taken::Failed(error) if !error.is_passing() => return Err(error),
                Taken::Failed(error) => tracing::debug!(%error, "a fetch failed, reading continues"),
            }
            let now = Instant::now();
            if lease.cursor().at_end && now >= wanted_until {
                let suspicious = limit.wait.is_zero() || lease.client.context.is_worried();
                if !suspicious || lease.end().await? <= offset {
                    return Ok(Some(page));
                }
                // There is more, not fetched yet.
                lease.cursor().at_end = false;
            } else if now >= patient_until {
                return Err(lease.silence());
            }
            let at_end = lease.cursor().at_end;
            let until = if at_end { wanted_until } else { patient_until };
            let _ = timeout_at(until.min(now + LOOK_AGAIN), filled).await;
        }
    }

    /// A free cursor for this partition, preferably one at the offset.
    async fn lease(self: &Arc<Self>, partition: &Partition, offset: i64, until: Instant) -> Result<Lease> {
        loop {
            let freed = self.freed.notified();
            if let Some((client, cursor)) = self.pick(partition, offset)? {
                let (readers, partition) = (Arc::clone(self), partition.clone());
                return Ok(Lease { readers, client, partition, cursor: Some(cursor) });
            }
            if timeout_at(until, freed).await.is_err() {
                return Err(Error::Unavailable { detail: "too many readers of one partition".to_owned() });
            }
        }
    }

    fn pick(&self, partition: &Partition, offset: i64) -> Result<Option<(Arc<Client>, Cursor)>> {
        let mut pool = self.pool.lock();
        if pool.lanes.is_empty() {
            return Err(Error::Closed);
        }
        pool.clock += 1;
        let idle = pool.idle.get(partition).map_or(&[][..], Vec::as_slice);
        let exact = idle.iter().position(|cursor| cursor.next == Some(offset));
        let oldest = (0..idle.len()).min_by_key(|i| (idle[*i].next.is_some(), idle[*i].used));
        let known = idle.len() + pool.busy.get(partition).map_or(0, Vec::len);
        let cursor = match exact.or(oldest.filter(|_| known >= LANES_MAX)) {
            Some(at) => pool.idle.get_mut(partition).map(|idle| idle.swap_remove(at)),
            None => self.new_cursor(&mut pool, partition)?,
        };
        let Some(mut cursor) = cursor else { return Ok(None) };
        cursor.used = pool.clock;
        pool.busy.entry(partition.clone()).or_default().push(cursor.lane);
        Ok(Some((Arc::clone(&pool.lanes[cursor.lane]), cursor)))
    }

    /// A new cursor in the first lane that has none for this partition; `None` when all have one.
    fn new_cursor(&self, pool: &mut Pool, partition: &Partition) -> Result<Option<Cursor>> {
        let idle = pool.idle.get(partition).into_iter().flatten().map(|cursor| cursor.lane);
        let busy = pool.busy.get(partition).into_iter().flatten().copied();
        let taken: Vec<usize> = idle.chain(busy).collect();
        let Some(lane) = (0..LANES_MAX).find(|lane| !taken.contains(lane)) else { return Ok(None) };
        if lane == pool.lanes.len() {
            pool.lanes.push(Arc::new(Client::start(&self.options)?));
        }
        let filled = Arc::new(Notify::new());
        Ok(Some(Cursor { lane, queue: None, filled, next: None, at_end: false, used: 0 }))
    }

    fn give_back(&self, partition: &Partition, cursor: Cursor) {
        let mut pool = self.pool.lock();
        if let Some(busy) = pool.busy.get_mut(partition) {
            busy.retain(|lane| *lane != cursor.lane);
            if busy.is_empty() {
                pool.busy.remove(partition);
            }
        }
        // After `close` the lane is closed, and the cursor is dropped.
        let Some(client) = pool.lanes.get(cursor.lane).cloned() else { return };
        let lane = cursor.lane;
        pool.idle.entry(partition.clone()).or_default().push(cursor);
        let evicted = pool.evict(lane);
        drop(pool);
        self.freed.notify_waiters();
        if let (Some((partition, cursor)), Ok(runtime)) = (evicted, tokio::runtime::Handle::try_current()) {
            runtime.spawn_blocking(move || {
                drop(cursor.queue);
                unfollow(&client.consumer, &partition);
            });
        }
    }

    /// Drops all cursors and clients. Pending reads end normally; later ones are refused.
    pub(super) fn close(&self) {
        let mut pool = self.pool.lock();
        pool.idle.clear();
        pool.lanes.clear();
        drop(pool);
        self.freed.notify_waiters();
    }
}

impl Pool {
    /// Removes the least recently used cursor of a full lane.
    fn evict(&mut self, lane: usize) -> Option<(Partition, Cursor)> {
        let of_lane = |cursors: &Vec<Cursor>| cursors.iter().position(|cursor| cursor.lane == lane);
        let all = || {
            self.idle.iter().filter_map(|(partition, cursors)| Some((partition, cursors, of_lane(cursors)?)))
        };
        if all().count() <= CURSORS_MAX {
            return None;
        }
        let (partition, _, at) = all().min_by_key(|(_, cursors, at)| cursors[*at].used)?;
        let partition = partition.clone();
        let cursor = self.idle.get_mut(&partition)?.swap_remove(at);
        self.idle.retain(|_, cursors| !cursors.is_empty());
        Some((partition, cursor))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(cursor) = self.cursor.take() {
            self.readers.give_back(&self.partition, cursor);
        }
    }
}

impl Lease {
    fn cursor(&mut self) -> &mut Cursor {
        // Only `drop` takes it.
        self.cursor.as_mut().expect("a lease holds its cursor")
    }

    /// Blocks for a moment.
    fn move_to(mut self, offset: i64) -> Result<Self> {
        let (name, partition) = self.partition.clone();
        let consumer = Arc::clone(&self.client.consumer);
        let cursor = self.cursor();
        let follows = cursor.next.take().is_some();
        let sought = follows
            && consumer.seek(&name, partition.cast_signed(), Offset::Offset(offset), SEEK_TIMEOUT).is_ok();
        if !sought && let Err(error) = follow(&consumer, cursor, (&name, partition), offset) {
            return Err(self.client.context.explain(&name, &error));
        }
        let cursor = self.cursor();
        (cursor.next, cursor.at_end) = (Some(offset), false);
        Ok(self)
    }

    /// Takes fetched messages, up to the limit.
    fn take(&mut self, page: &mut Page, limit: ReadLimit) -> Taken {
        let client = Arc::clone(&self.client);
        let topic = self.partition.0.clone();
        let cursor = self.cursor();
        let mut bytes = 0;
        while page.messages.len() < limit.messages && (bytes < limit.bytes || page.messages.is_empty()) {
            let event = cursor.queue.as_ref().and_then(|queue| queue.poll(Duration::ZERO));
            match event {
                None => break,
                Some(Ok(fetched)) => {
                    client.context.is_well();
                    let offset = fetched.offset();
                    if offset < page.next {
                        continue;
                    }
                    let message = message_of(&fetched);
                    bytes += message.bytes();
                    page.messages.push(Delivered { offset, message });
                    page.next = offset + 1;
                    (cursor.next, cursor.at_end) = (Some(page.next), false);
                }
                Some(Err(KafkaError::PartitionEOF(_))) => {
                    client.context.is_well();
                    cursor.at_end = true;
                }
                Some(Err(error)) => {
                    let out_of_range = error.rdkafka_error_code() == Some(Code::AutoOffsetReset);
                    let error = client.context.explain(&topic, &error);
                    if out_of_range || !error.is_passing() {
                        // The library stopped fetching: the next read sets the cursor again.
                        cursor.next = None;
                    }
                    if page.messages.is_empty() {
                        return if out_of_range { Taken::OutOfRange } else { Taken::Failed(error) };
                    }
                    break;
                }
            }
        }
        Taken::Messages
    }

    /// The end of the partition, from the brokers.
    async fn end(&self) -> Result<i64> {
        let (name, partition) = self.partition.clone();
        let patience = self.readers.options.patience;
        let (_, end) = watermarks(&self.client, &name, partition, patience).await?;
        Ok(end)
    }

    fn silence(&self) -> Error {
        self.client.context.explain(&self.partition.0, &KafkaError::Global(Code::OperationTimedOut))
    }
}

/// Starts to fetch a partition into a queue of its own.
fn follow(
    consumer: &Arc<Consumer>,
    cursor: &mut Cursor,
    partition: (&str, u32),
    offset: i64,
) -> KafkaResult<()> {
    let (name, number) = partition;
    if cursor.queue.take().is_some() {
        unfollow(consumer, &(name.to_owned(), number));
    }
    // Before the assignment: otherwise the first messages would arrive in the common queue of the
    // client.
    let queue = consumer.split_partition_queue(name, number.cast_signed());
    let mut queue = queue.ok_or(KafkaError::MessageConsumption(Code::UnknownPartition))?;
    let filled = Arc::clone(&cursor.filled);
    queue.set_nonempty_callback(move || filled.notify_one());
    cursor.queue = Some(queue);
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(name, number.cast_signed(), Offset::Offset(offset))?;
    consumer.incremental_assign(&list)
}

fn unfollow(consumer: &Consumer, partition: &Partition) {
    let mut list = TopicPartitionList::new();
    list.add_partition(&partition.0, partition.1.cast_signed());
    if let Err(error) = consumer.incremental_unassign(&list) {
        tracing::debug!(%error, topic = partition.0, partition = partition.1, "was not followed");
    }
}

pub(super) async fn watermarks(
    client: &Client,
    name: &str,
    partition: u32,
    patience: Duration,
) -> Result<(i64, i64)> {
    let asked = name.to_owned();
    let ask = move |consumer: &Consumer, timeout: Duration| {
        consumer.fetch_watermarks(&asked, partition.cast_signed(), timeout)
    };
    client.ask(name, patience, ask).await
}

fn message_of(fetched: &BorrowedMessage<'_>) -> Message {
    let copy = |bytes: Option<&[u8]>| bytes.unwrap_or_default().to_vec().into();
    let headers = fetched.headers().map_or_else(Vec::new, |headers| {
        headers.iter().map(|header| (header.key.to_owned(), copy(header.value))).collect()
    });
    Message {
        key: copy(fetched.key()),
        headers,
        payload: copy(fetched.payload()),
        time: fetched.timestamp().to_millis().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_read_that_outlives_the_close_gives_its_cursor_back_without_harm() {
        // No broker has to answer.
        let options = KafkaOptions::default().at("kafka://127.0.0.1:1").unwrap();
        let readers = Readers::new(&options, Arc::new(Client::start(&options).unwrap()));
        let partition = ("t".to_owned(), 0);
        let lease = async || readers.lease(&partition, 0, Instant::now() + LOOK_AGAIN).await;
        let (first, second) = (lease().await.unwrap(), lease().await.unwrap());
        assert_eq!(readers.pool.lock().lanes.len(), 2, "each has a lane of its own");
        drop(first);
        readers.close();
        drop(second);
        assert!(readers.pool.lock().idle.is_empty() && readers.pool.lock().busy.is_empty());
        assert!(matches!(lease().await.err(), Some(Error::Closed)));
    }
}
