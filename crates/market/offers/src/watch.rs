//! Watching: all current offers, and then every change of them without a gap.
//!
//! Where the topic ends is read before the first current offer is: a change that a current offer has already may come again behind it, and no change is missing. Every event has the
//! place to go on from, after a crash of whoever watches as after one of Torg. An event may come twice; versions tell.

use std::time::Duration;

use buffa::{Message, MessageField};
use futures::stream::{self, BoxStream, SelectAll, StreamExt};
use store::Read;
use topics::{Delivered, ReadLimit};
use watcher::Time;
use wire::torg::offers::v1::{Author, Offer, OfferChange, Preset, Status, WatchPlace, author};

use crate::cabinet::{Filter, Place};
use crate::error::{Error, Result};
use crate::history::author_from_signature;
use crate::limits::WATCH_PAGE;
use crate::offers::{Offers, from_row, parse};
use crate::tables::OFFERS;
use crate::time;

/// How long a read of the topic waits for the next change; then whoever watches hears that there is none, with a newer place.
const WAIT: Duration = Duration::from_secs(10);

/// What is told to those who watch.
#[derive(Clone, Debug)]
pub enum Told {
    /// An offer as it is now.
    Current(Offer),
    /// All current offers were told; changes follow. Comes again when nothing changes for a while.
    CaughtUp,
    /// A change.
    Change(OfferChange),
}

/// How to begin.
#[derive(Clone, Debug)]
pub enum Begin {
    /// With all current offers.
    Current,
    /// With what changes from now on.
    Changes,
    /// Where an earlier watch ended.
    At(WatchPlace),
}

/// What is told, with the place to go on from.
pub type Stream = BoxStream<'static, Result<(Told, WatchPlace)>>;

/// A message of one partition, or that there was none for a while.
type Heard = (usize, Result<Option<Delivered>>);

impl Offers {
    /// Watches the offers of one seller, or all.
    pub async fn watch(&self, topic: &str, seller: Option<&str>, begin: Begin) -> Result<Stream> {
        let seller = seller.unwrap_or_default().to_owned();
        let place = match begin {
            Begin::At(place) if place.seller != seller => return Err(Error::OthersToken),
            Begin::At(place) => place,
            Begin::Current | Begin::Changes => {
                let description = self.topics().describe(topic).await.map_err(std::sync::Arc::new)?;
                let offsets = description.partitions.iter().map(|partition| partition.end).collect();
                let caught_up = matches!(begin, Begin::Changes);
                WatchPlace { offsets, caught_up, seller, ..WatchPlace::default() }
            }
        };
        let partitions = self.topics().partition_count(topic).await.map_err(std::sync::Arc::new)?;
        if place.offsets.len() != partitions as usize {
            return Err(Error::OthersToken);
        }
        let changes_from =
            WatchPlace { caught_up: true, offer: String::new(), shard: 0, created_ms: 0, ..place.clone() };
        let first = stream::iter([Ok((Told::CaughtUp, changes_from.clone()))]);
        let changes = self.changes(topic, changes_from).await?;
        let current = if place.caught_up { stream::empty().boxed() } else { self.current(place) };
        Ok(current.chain(first).chain(changes).boxed())
    }

    /// The current offers behind a place.
    fn current(&self, place: WatchPlace) -> Stream {
        let pages = stream::try_unfold(Some(place), {
            let offers = self.clone();
            move |place| {
                let offers = offers.clone();
                async move {
                    let Some(place) = place else { return Ok::<_, Error>(None) };
                    let (page, next) = if place.seller.is_empty() {
                        offers.current_of_all(&place).await?
                    } else {
                        offers.current_of_seller(&place).await?
                    };
                    Ok(Some((stream::iter(page.into_iter().map(Ok)), next)))
                }
            }
        });
        futures::TryStreamExt::try_flatten(pages).boxed()
    }

    async fn current_of_all(
        &self,
        place: &WatchPlace,
    ) -> Result<(Vec<(Told, WatchPlace)>, Option<WatchPlace>)> {
        let mut scan = OFFERS.prefix((place.shard,)).limit(WATCH_PAGE);
        if !place.offer.is_empty() {
            scan = scan.after(OFFERS.key((place.shard, &*place.offer)));
        }
        let page = self.store().scan(&scan).await?;
        let (mut told, mut last) = (Vec::new(), place.clone());
        for row in &page.rows {
            let offer = from_row(row)?;
            last = WatchPlace { offer: offer.id.clone(), ..last };
            if is_current(&offer) {
                told.push((Told::Current(offer), last.clone()));
            }
        }
        let next = match page.next {
            Some(_) => Some(last),
            None if place.shard.saturating_add(1) < self.shards() => {
                Some(WatchPlace { shard: place.shard + 1, offer: String::new(), ..last })
            }
            None => None,
        };
        Ok((told, next))
    }

    async fn current_of_seller(
        &self,
        place: &WatchPlace,
    ) -> Result<(Vec<(Told, WatchPlace)>, Option<WatchPlace>)> {
        let after = if place.offer.is_empty() {
            None
        } else {
            Some(Place { created_ms: place.created_ms, id: parse(&place.offer)? })
        };
        let page = self.list(&place.seller, Preset::All, &Filter::default(), after, WATCH_PAGE).await?;
        let at = |created_ms, offer| WatchPlace { created_ms, offer, ..place.clone() };
        let told = page.offers.into_iter().map(|offer| {
            let place = at(offer.create_time.as_option().map_or(0, time::to_ms), offer.id.clone());
            (Told::Current(offer), place)
        });
        let next = page.next.map(|Place { created_ms, id }| at(created_ms, id.to_string()));
        Ok((told.collect(), next))
    }

    /// Every change behind a place.
    async fn changes(&self, topic: &str, place: WatchPlace) -> Result<Stream> {
        let mut partitions = SelectAll::new();
        for (partition, offset) in place.offsets.iter().enumerate() {
            // Known at once, not only when the stream is read.
            let read = ReadLimit::messages(1);
            let first = self.topics().read(topic, partition as u32, *offset, read).await;
            first.map_err(too_old)?;
            partitions.push(self.messages(topic.to_owned(), partition, *offset));
        }
        let changes = stream::unfold((partitions, place), |(mut partitions, mut place)| async move {
            loop {
                let (partition, heard) = partitions.next().await?;
                let told = match heard {
                    Err(error) => Some(Err(error)),
                    Ok(None) => Some(Ok(Told::CaughtUp)),
                    Ok(Some(delivered)) => {
                        place.offsets[partition] = delivered.offset + 1;
                        let change = readable_change(partition, &delivered);
                        change
                            .filter(|change| concerns(change, &place.seller))
                            .map(|change| Ok(Told::Change(change)))
                    }
                };
                if let Some(told) = told {
                    let told = told.map(|told| (told, place.clone()));
                    return Some((told, (partitions, place)));
                }
            }
        });
        Ok(changes.boxed())
    }

    /// The messages of one partition; it never ends but with an error.
    fn messages(&self, topic: String, partition: usize, offset: i64) -> BoxStream<'static, Heard> {
        let offers = self.clone();
        let pages = stream::unfold(Some(offset), move |offset| {
            let (offers, topic) = (offers.clone(), topic.clone());
            async move {
                let read = ReadLimit::messages(WATCH_PAGE).waiting(WAIT);
                let page = offers.topics().read(&topic, partition as u32, offset?, read).await;
                let (heard, next) = match page {
                    Err(error) => (vec![Err(too_old(error))], None),
                    Ok(page) if page.messages.is_empty() => (vec![Ok(None)], Some(page.next)),
                    Ok(page) => (
                        page.messages.into_iter().map(|message| Ok(Some(message))).collect(),
                        Some(page.next),
                    ),
                };
                Some((stream::iter(heard.into_iter().map(move |heard| (partition, heard))), next))
            }
        });
        pages.flatten().boxed()
    }
}

/// Whether an offer is told of to those who begin with all current ones.
fn is_current(offer: &Offer) -> bool {
    !matches!(offer.status.as_known(), Some(Status::STATUS_REMOVED | Status::STATUS_ARCHIVED))
}

/// Whether a change is one of this seller's offers. Of one that left for the archive nothing is known any more; that it is archived was told before.
fn concerns(change: &OfferChange, seller: &str) -> bool {
    seller.is_empty() || change.offer.as_option().is_some_and(|offer| offer.seller == seller)
}

/// A message as a change. One that cannot be read must not end every watch for ever: it is told to those who operate, and the rest goes on.
fn readable_change(partition: usize, delivered: &Delivered) -> Option<OfferChange> {
    change(delivered).unwrap_or_else(|error| {
        tracing::error!(partition, offset = delivered.offset, %error, "a message of the topic of changes is left out");
        None
    })
}

/// A message of the topic as a change; `None` if it is of another kind.
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
        let offer = Offer::decode_from_slice(&message.payload).map_err(|error| damaged(error.to_string()))?;
        Some(Offer { version, keeping: None.into(), ..offer }).into()
    };
    let author = match (header("author"), header("signature")) {
        ("", signature) => author_from_signature(signature),
        (stage, _) => {
            Author { kind: author::Kind::KIND_STAGE.into(), name: stage.to_owned(), ..Author::default() }
        }
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
