//! Keeps prices up to date: by the changes of offers, and once by reading all of them.

use std::collections::BTreeMap;
use std::time::Duration;

use buffa::Message as _;
use offers::StoredOffer;
use store::{Batch, Read, Scan};
use tokio::sync::watch;
use topics::{Delivered, Message, Position, ReadLimit};
use watcher::Entity;
use wire::torg::offers::v1::Offer;

use super::PriceError;
use super::book::{Prices, Sighting};
use super::tables::{Mark, mark_key, read, write};
use crate::limits::PRICE_PAGE;

/// The consumer group in the topic.
pub const GROUP: &str = "stages.price";
/// The timeout of a poll.
const WAIT: Duration = Duration::from_secs(1);
/// The pause after a failure.
const REST: Duration = Duration::from_secs(2);

impl Prices {
    /// Follows one partition of the topic until `stop` turns true. The follower of the first one
    /// reads all offers before, once; `shards` is their number of shards.
    ///
    /// Every process may follow every partition: a change is applied once, in the commit that moves
    /// the offset.
    pub async fn follow(&self, partition: u32, shards: u32, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            let work = async {
                if partition == 0 {
                    self.fill(shards).await?;
                }
                self.follow_page(partition, WAIT).await
            };
            let failed = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => return,
                done = work => done.err(),
            };
            if let Some(error) = failed {
                tracing::warn!(partition, %error, "cannot apply changes to prices, retrying");
                tokio::select! {
                    biased;
                    _ = stop.wait_for(|stop| *stop) => return,
                    () = tokio::time::sleep(REST) => {}
                }
            }
        }
    }

    /// Applies the next changes of a partition in one commit, or waits briefly. Returns whether the
    /// offset moved: not without changes, and not after a conflict.
    pub async fn follow_page(&self, partition: u32, wait: Duration) -> Result<bool, PriceError> {
        let inner = &self.inner;
        let position = inner.topics.position(GROUP, &inner.topic, partition).await?;
        let limit = ReadLimit::messages(PRICE_PAGE).waiting(wait);
        let page = match inner.topics.read(&inner.topic, partition, position.offset(), limit).await {
            Err(topics::Error::OffsetOutOfRange { first, offset, .. }) if offset < first => {
                return self.pass_over(partition, &position, first).await;
            }
            page => page?,
        };
        if page.next == position.offset() {
            return Ok(false);
        }
        // Only the last change of an offer matters.
        let mut seen: BTreeMap<String, Sighting> = BTreeMap::new();
        for delivered in &page.messages {
            if let Some(sighting) = self.sighting(partition, delivered) {
                let known = seen.get(&sighting.id).map_or(0, |known| known.version);
                if known <= sighting.version {
                    seen.insert(sighting.id.clone(), sighting);
                }
            }
        }
        let seen: Vec<Sighting> = seen.into_values().collect();
        let mut batch = Batch::new();
        self.take_over(&mut batch, &seen).await?;
        let _ = position.commit_into(&mut batch, page.next);
        Ok(inner.store.commit(batch).await?.is_applied())
    }

    /// After changes were trimmed, reads all offers again.
    async fn pass_over(&self, partition: u32, position: &Position, first: i64) -> Result<bool, PriceError> {
        let offset = position.offset();
        // A new group misses nothing that the first reading does not find.
        if !position.is_new() {
            tracing::warn!(
                partition,
                from = offset,
                to = first,
                "changes of prices were trimmed: all offers are read again"
            );
        }
        let (_, version) = self.mark().await?;
        let mut batch = Batch::new();
        if version > 0 && !position.is_new() {
            batch.check(mark_key(), version).put(mark_key(), version + 1, write(&Mark::default()));
        }
        let _ = position.commit_into(&mut batch, first);
        Ok(self.inner.store.commit(batch).await?.is_applied())
    }

    /// The observation in a message; `None` for other messages and, so that it does not block the
    /// rest, an unreadable one.
    fn sighting(&self, partition: u32, Delivered { offset, message }: &Delivered) -> Option<Sighting> {
        if header(message, "kind") != StoredOffer::KIND {
            return None;
        }
        let read = || -> Result<Sighting, String> {
            let id = std::str::from_utf8(&message.key).map_err(|error| error.to_string())?;
            let version = header(message, "version").parse().map_err(|_| "it has no version".to_owned())?;
            if header(message, "removed") == "true" {
                return Ok(self.see(id, version, None));
            }
            let offer = Offer::decode_from_slice(&message.payload).map_err(|error| error.to_string())?;
            Ok(self.see(id, version, Some(&offer)))
        };
        let sighting = read();
        if let Err(error) = &sighting {
            tracing::error!(partition, offset, error, "a change is skipped in prices");
        }
        sighting.ok()
    }

    /// Reads all offers of the active tables once, with checkpoints: it may be interrupted, and
    /// called by several processes.
    pub async fn fill(&self, shards: u32) -> Result<(), PriceError> {
        loop {
            let (mark, version) = self.mark().await?;
            if mark.shard >= shards {
                return Ok(());
            }
            self.fill_shard(mark.shard).await?;
            let next = Mark { shard: mark.shard + 1 };
            let mut batch = Batch::new();
            batch.check(mark_key(), version).put(mark_key(), version + 1, write(&next));
            // On a conflict another process is ahead: read its mark next.
            let _ = self.inner.store.commit(batch).await?;
        }
    }

    async fn fill_shard(&self, shard: u32) -> Result<(), PriceError> {
        let all = StoredOffer::scan(shard).limit(PRICE_PAGE);
        let mut next = Some(all.clone());
        while let Some(scan) = next.take() {
            next = self.fill_page(&scan).await?.map(|key| all.clone().after(key));
        }
        Ok(())
    }

    /// Applies one page of offers; returns the start of the next one.
    async fn fill_page(&self, scan: &Scan) -> Result<Option<store::Key>, PriceError> {
        loop {
            let page = self.inner.store.scan(scan).await?;
            let (mut batch, mut seen) = (Batch::new(), Vec::new());
            for row in &page.rows {
                match StoredOffer::decode(&row.value) {
                    Ok(offer) => seen.push(self.see(&offer.offer.id, row.version, Some(&offer.offer))),
                    Err(error) => tracing::error!(key = %row.key, error, "an offer is skipped in prices"),
                }
                // Retried if the offer changes meanwhile, so that a newer change is not
                // overwritten.
                batch.check(row.key.clone(), row.version);
            }
            self.take_over(&mut batch, &seen).await?;
            if self.inner.store.commit(batch).await?.is_applied() {
                return Ok(page.next);
            }
        }
    }

    async fn mark(&self) -> Result<(Mark, u64), PriceError> {
        read(self.inner.store.get_one(&mark_key()).await?.as_ref())
    }
}

fn header<'a>(message: &'a Message, name: &str) -> &'a str {
    message.header_value(name).and_then(|value| std::str::from_utf8(value).ok()).unwrap_or_default()
}
