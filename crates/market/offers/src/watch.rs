//! A stream of all current offers and then of every change, without a gap.
//!
//! The end of the topic is read before the first offer, so no change is missing; a change that is
//! part of a current offer may follow it. Every event has a cursor from which a watch resumes after
//! a crash of either side. An event may come twice: compare versions.

use std::time::Duration;

use buffa::MessageField;
use futures::stream::{self, BoxStream, SelectAll, StreamExt};
use store::Read;
use topics::{Delivered, ReadLimit};
use watcher::Time;
use wire::torg::offers::v1::{Offer, OfferChange, Preset, Status, WatchCursor};

use crate::cabinet::{Cursor, Filter};
use crate::error::{Error, Result};
use crate::history::{author_from_signature, of_stage};
use crate::limits::WATCH_PAGE;
use crate::offers::{Offers, from_row, parse};
use crate::tables::OFFERS;
use crate::{row, time};

/// How long a read of the topic waits for the next change before the watcher gets
/// [`WatchEvent::CaughtUp`] with a newer cursor.
const WAIT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
pub enum WatchEvent {
    Current(Offer),
    /// All current offers were sent; changes follow. Repeated while nothing changes.
    CaughtUp,
    Change(OfferChange),
}

/// Where a watch begins.
#[derive(Clone, Debug)]
pub enum WatchFrom {
    /// All current offers.
    Current,
    /// Changes from now on.
    Changes,
    /// The cursor of an earlier watch.
    Cursor(WatchCursor),
}

/// Events, each with the cursor behind it.
pub type WatchStream = BoxStream<'static, Result<(WatchEvent, WatchCursor)>>;

/// Current offers of a page, and the cursor of the next one.
type CurrentPage = (Vec<(WatchEvent, WatchCursor)>, Option<WatchCursor>);

/// A partition and its next message; `None` if there was none for a while.
type Received = (usize, Result<Option<Delivered>>);

impl Offers {
    /// Watches all offers, or those of one seller.
    pub async fn watch(&self, topic: &str, seller: Option<&str>, from: WatchFrom) -> Result<WatchStream> {
        let seller = seller.unwrap_or_default().to_owned();
        let cursor = match from {
            WatchFrom::Cursor(cursor) if cursor.seller != seller => return Err(Error::ForeignToken),
            WatchFrom::Cursor(cursor) => cursor,
            WatchFrom::Current | WatchFrom::Changes => {
                let description = self.topics().describe(topic).await.map_err(std::sync::Arc::new)?;
                let offsets = description.partitions.iter().map(|partition| partition.end).collect();
                let caught_up = matches!(from, WatchFrom::Changes);
                WatchCursor { offsets, caught_up, seller, ..WatchCursor::default() }
            }
        };
        let partitions = self.topics().partition_count(topic).await.map_err(std::sync::Arc::new)?;
        if cursor.offsets.len() != partitions as usize {
            return Err(Error::ForeignToken);
        }
        let changes_from =
            WatchCursor { caught_up: true, offer: String::new(), shard: 0, created_ms: 0, ..cursor.clone() };
        let first = stream::iter([Ok((WatchEvent::CaughtUp, changes_from.clone()))]);
        let changes = self.changes(topic, changes_from).await?;
        let current = if cursor.caught_up { stream::empty().boxed() } else { self.current(cursor) };
        Ok(current.chain(first).chain(changes).boxed())
    }

    /// The current offers behind a cursor.
    fn current(&self, cursor: WatchCursor) -> WatchStream {
        let pages = stream::try_unfold(Some(cursor), {
            let offers = self.clone();
            move |cursor| {
                let offers = offers.clone();
                async move {
                    let Some(cursor) = cursor else { return Ok::<_, Error>(None) };
                    let (page, next) = if cursor.seller.is_empty() {
                        offers.current_of_all(&cursor).await?
                    } else {
                        offers.current_of_seller(&cursor).await?
                    };
                    Ok(Some((stream::iter(page.into_iter().map(Ok)), next)))
                }
            }
        });
        futures::TryStreamExt::try_flatten(pages).boxed()
    }

    async fn current_of_all(&self, cursor: &WatchCursor) -> Result<CurrentPage> {
        let mut scan = OFFERS.prefix((cursor.shard,)).limit(WATCH_PAGE);
        if !cursor.offer.is_empty() {
            scan = scan.after(OFFERS.key((cursor.shard, &*cursor.offer)));
        }
        let page = self.store().scan(&scan).await?;
        let mut events = Vec::new();
        let mut last = cursor.clone();
        for row in &page.rows {
            let offer = from_row(row)?;
            last = WatchCursor { offer: offer.id.clone(), ..last };
            if is_current(&offer) {
                events.push((WatchEvent::Current(offer), last.clone()));
            }
        }
        let next = match page.next {
            Some(_) => Some(last),
            None if cursor.shard.saturating_add(1) < self.shards() => {
                Some(WatchCursor { shard: cursor.shard + 1, offer: String::new(), ..last })
            }
            None => None,
        };
        Ok((events, next))
    }

    async fn current_of_seller(&self, cursor: &WatchCursor) -> Result<CurrentPage> {
        let after = if cursor.offer.is_empty() {
            None
        } else {
            Some(Cursor { created_ms: cursor.created_ms, id: parse(&cursor.offer)? })
        };
        let page = self.list(&cursor.seller, Preset::All, &Filter::default(), after, WATCH_PAGE).await?;
        let at = |created_ms, offer| WatchCursor { created_ms, offer, ..cursor.clone() };
        let events = page.offers.into_iter().map(|offer| {
            let cursor = at(offer.create_time.as_option().map_or(0, time::to_ms), offer.id.clone());
            (WatchEvent::Current(offer), cursor)
        });
        let next = page.next.map(|Cursor { created_ms, id }| at(created_ms, id.to_string()));
        Ok((events.collect(), next))
    }

    /// The changes behind a cursor.
    async fn changes(&self, topic: &str, cursor: WatchCursor) -> Result<WatchStream> {
        let mut partitions = SelectAll::new();
        for (partition, offset) in cursor.offsets.iter().enumerate() {
            // An offset that is too old is an error of this call, not of the stream.
            let read = ReadLimit::messages(1);
            let first = self.topics().read(topic, partition as u32, *offset, read).await;
            first.map_err(too_old)?;
            partitions.push(self.messages(topic.to_owned(), partition, *offset));
        }
        let changes = stream::unfold((partitions, cursor), |(mut partitions, mut cursor)| async move {
            loop {
                let (partition, received) = partitions.next().await?;
                let event = match received {
                    Err(error) => Some(Err(error)),
                    Ok(None) => Some(Ok(WatchEvent::CaughtUp)),
                    Ok(Some(delivered)) => {
                        cursor.offsets[partition] = delivered.offset + 1;
                        let change = readable_change(partition, &delivered);
                        change
                            .filter(|change| concerns(change, &cursor.seller))
                            .map(|change| Ok(WatchEvent::Change(change)))
                    }
                };
                if let Some(event) = event {
                    let event = event.map(|event| (event, cursor.clone()));
                    return Some((event, (partitions, cursor)));
                }
            }
        });
        Ok(changes.boxed())
    }

    /// The messages of one partition. The stream ends only with an error.
    fn messages(&self, topic: String, partition: usize, offset: i64) -> BoxStream<'static, Received> {
        let offers = self.clone();
        let pages = stream::unfold(Some(offset), move |offset| {
            let (offers, topic) = (offers.clone(), topic.clone());
            async move {
                let read = ReadLimit::messages(WATCH_PAGE).waiting(WAIT);
                let page = offers.topics().read(&topic, partition as u32, offset?, read).await;
                let (received, next) = match page {
                    Err(error) => (vec![Err(too_old(error))], None),
                    Ok(page) if page.messages.is_empty() => (vec![Ok(None)], Some(page.next)),
                    Ok(page) => (
                        page.messages.into_iter().map(|message| Ok(Some(message))).collect(),
                        Some(page.next),
                    ),
                };
                Some((stream::iter(received.into_iter().map(move |received| (partition, received))), next))
            }
        });
        pages.flatten().boxed()
    }
}

fn is_current(offer: &Offer) -> bool {
    !matches!(offer.status.as_known(), Some(Status::STATUS_REMOVED | Status::STATUS_ARCHIVED))
}

/// Whether a change is of an offer of this seller. The move of a row to the archive carries no
/// offer; the change to `archived` came before it.
fn concerns(change: &OfferChange, seller: &str) -> bool {
    seller.is_empty() || change.offer.as_option().is_some_and(|offer| offer.seller == seller)
}

/// Decodes a message. One that is damaged is logged and skipped: it must not end every watch for
/// ever.
fn readable_change(partition: usize, delivered: &Delivered) -> Option<OfferChange> {
    change(delivered).unwrap_or_else(|error| {
        tracing::error!(partition, offset = delivered.offset, %error, "skipped a damaged message of the topic of changes");
        None
    })
}

/// Decodes a message of the topic; `None` if it is of another kind of entity.
fn change(Delivered { message, offset }: &Delivered) -> Result<Option<OfferChange>> {
    let header = |name| {
        message.header_value(name).and_then(|value| std::str::from_utf8(value).ok()).unwrap_or_default()
    };
    if header("kind") != "offer" {
        return Ok(None);
    }
    let damaged = |detail: String| Error::Damaged { place: format!("message {offset} of the topic"), detail };
    let id = std::str::from_utf8(&message.key).map_err(|error| damaged(error.to_string()))?.to_owned();
    let version: u64 = header("version").parse().map_err(|_| damaged("it has no version".to_owned()))?;
    let offer = if header("removed") == "true" {
        MessageField::none()
    } else {
        let (offer, _) = row::decode_bare(&message.payload).map_err(|error| damaged(error.to_string()))?;
        Some(Offer { version, ..offer }).into()
    };
    let author = match (header("author"), header("signature")) {
        ("", signature) => author_from_signature(signature),
        (stage, _) => of_stage(stage),
    };
    Ok(Some(OfferChange {
        id,
        version,
        offer,
        changed: header("changed").split(',').filter(|field| !field.is_empty()).map(str::to_owned).collect(),
        author: Some(author).into(),
        time: Some(time::from_time(Time::from_ms(message.time))).into(),
        ..OfferChange::default()
    }))
}

fn too_old(error: topics::Error) -> Error {
    match error {
        topics::Error::OffsetOutOfRange { .. } => Error::TokenTooOld,
        error => std::sync::Arc::new(error).into(),
    }
}
