//! Reads: pages by offset, waiting for new messages, and the search for an offset by time.

use store::{Hint, Hints, Read, Row};
use tokio::time::{Instant, timeout_at};

use super::{StoreLog, bounds};
use crate::codec::decode_message;
use crate::limits::LOOK_AGAIN;
use crate::log::out_of_range;
use crate::message::{Delivered, Message, Page, ReadLimit};
use crate::tables::{HEADS, PartitionKeys};
use crate::{Error, Result};

impl StoreLog {
    pub(super) async fn read_page(
        &self,
        keys: &PartitionKeys,
        offset: i64,
        limit: ReadLimit,
    ) -> Result<Page> {
        let until = Instant::now() + limit.wait;
        // Subscribed before the first read, so that no hint is missed.
        let mut hints = (!limit.wait.is_zero()).then(|| self.store.hints());
        loop {
            let page = self.look(keys, offset, limit).await?;
            let Some(hints) = hints.as_mut().filter(|_| page.messages.is_empty()) else { return Ok(page) };
            if Instant::now() >= until {
                return Ok(page);
            }
            wait_for_hint(hints, keys.shard, until.min(Instant::now() + LOOK_AGAIN)).await;
        }
    }

    /// The stored messages. Two reads of the latest state may be inconsistent: a batch that is
    /// being applied may be visible in one table and not yet in another. A snapshot is consistent
    /// and decides.
    async fn look(&self, keys: &PartitionKeys, offset: i64, limit: ReadLimit) -> Result<Page> {
        if let Some(page) = look_into(&self.store, keys, offset, limit).await? {
            return Ok(page);
        }
        let snapshot = self.store.snapshot().await?;
        look_into(&snapshot, keys, offset, limit).await?.ok_or_else(|| missing(keys, offset))
    }

    /// Messages carry the newest time so far, which only grows: a binary search finds the offset.
    pub(super) async fn find_time(&self, keys: &PartitionKeys, time: i64) -> Result<i64> {
        let snapshot = self.store.snapshot().await?;
        let info = bounds(&snapshot, keys).await?;
        let (mut low, mut high) = (info.first, info.end);
        while low < high {
            let middle = low + (high - low) / 2;
            let row = snapshot.get_one(&keys.message(middle)).await?;
            let row = row.ok_or_else(|| missing(keys, middle))?;
            if decode(keys, middle, &row)?.1 >= time {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low)
    }
}

/// `None` if a message is missing.
async fn look_into(
    view: &dyn Read,
    keys: &PartitionKeys,
    offset: i64,
    limit: ReadLimit,
) -> Result<Option<Page>> {
    let rows = view.scan(&keys.messages_from(offset).limit(limit.messages)).await?.rows;
    if rows.first().is_some_and(|row| row.key == keys.message(offset)) {
        return page_of(keys, offset, &rows, limit).map(Some);
    }
    let info = bounds(view, keys).await?;
    if offset < info.first || offset > info.end {
        return Err(out_of_range(&keys.topic, offset, &info));
    }
    Ok((offset == info.end).then(|| Page { messages: Vec::new(), next: offset }))
}

pub(super) fn decode(keys: &PartitionKeys, offset: i64, row: &Row) -> Result<(Message, i64)> {
    decode_message(&row.value, keys.seed(offset)).map_err(|detail| Error::DamagedMessage {
        topic: keys.topic.clone(),
        partition: keys.partition,
        offset,
        detail,
    })
}

fn missing(keys: &PartitionKeys, offset: i64) -> Error {
    let (topic, partition) = (keys.topic.clone(), keys.partition);
    Error::DamagedMessage { topic, partition, offset, detail: "it is missing" }
}

/// Rows up to the limit of bytes. A gap ends the page: the next read reports it.
fn page_of(keys: &PartitionKeys, offset: i64, rows: &[Row], limit: ReadLimit) -> Result<Page> {
    let mut page = Page { messages: Vec::with_capacity(rows.len()), next: offset };
    let mut bytes = 0;
    for row in rows {
        let offset = page.next;
        bytes += row.value.len();
        if row.key != keys.message(offset) || (bytes > limit.bytes && !page.messages.is_empty()) {
            break;
        }
        let (message, _) = decode(keys, offset, row)?;
        page.messages.push(Delivered { offset, message });
        page.next = offset + 1;
    }
    Ok(page)
}

/// Returns when the partition was written, or it is time to poll.
async fn wait_for_hint(hints: &mut Hints, shard: u32, until: Instant) {
    let head_changed = async {
        loop {
            match hints.next().await {
                Some(Hint::Changed { table, shard: changed }) => {
                    if table == HEADS.def().name && changed == shard {
                        return;
                    }
                }
                Some(Hint::Put(_)) => {}
                Some(Hint::Anything) => return,
                // The store is closed: the next read reports it.
                None => std::future::pending().await,
            }
        }
    };
    // In both cases the caller reads again.
    let _ = timeout_at(until, head_changed).await;
}
