//! What is known of the offers of a feed before a load says something of them.

use buffa::Message as _;
use bytes::Bytes;
use store::{Key, Read as _};
use wire::torg::feeds::v1::{OfferNotes, SeenOffer};

use super::progress::FeedName;
use crate::error::{Result, damaged};
use crate::id::OfferId;
use crate::offers::{Offers, parse};
use crate::tables::{EXTERNALS, FEED_NOTES, FEED_SEEN};

/// What is known of an external id of a feed.
pub(super) struct Known {
    /// Where it is kept what loads saw.
    pub(super) key: Key,
    /// What the last load saw of it that published it or found it published.
    pub(super) seen: Option<SeenOffer>,
    /// The offer that has this external id now.
    external: Option<Bytes>,
}

impl Known {
    /// The offer that has this external id now.
    pub(super) fn matched(&self) -> Result<Option<OfferId>> {
        self.external.as_ref().map(|id| parse(&String::from_utf8_lossy(id))).transpose()
    }

    /// What was seen, if it is of the offer that there is now, if that says the same by this fingerprint, and if nothing else is to be done about it.
    pub(super) fn same(&self, fingerprint: &[u8], now_ms: i64) -> Option<&SeenOffer> {
        self.seen.as_ref().filter(|seen| {
            self.external.as_ref().is_some_and(|id| id == seen.offer.as_bytes())
                && !seen.fingerprint.is_empty()
                && seen.fingerprint == fingerprint
                && now_ms < seen.look_at_ms
        })
    }
}

impl Offers {
    /// Which of these offers of a feed, each with its external id and its fingerprint, say what the ad store has them say already: whoever reads the feed may send them
    /// as unchanged. Should one of them change until then, it is put off to the next load.
    pub async fn unchanged_since(&self, feed: &FeedName, offers: &[(&str, &[u8])]) -> Result<Vec<bool>> {
        let (known, now) = (self.known(feed, offers.iter().map(|(id, _)| *id)).await?, self.now().as_ms());
        let known = known.into_iter().zip(offers);
        Ok(known.map(|(known, (_, fingerprint))| known.same(fingerprint, now).is_some()).collect())
    }

    /// Whether a load of a feed has published something that the feed still has.
    pub async fn has_published(&self, feed: &FeedName) -> Result<bool> {
        let shard = self.shard_of_seller(&feed.seller);
        let first = FEED_SEEN.prefix((shard, &*feed.seller, &*feed.namespace)).limit(1);
        Ok(!self.store().scan(&first).await?.rows.is_empty())
    }

    /// What is known of each of these external ids.
    pub(super) async fn known<'i>(
        &self,
        feed: &FeedName,
        externals: impl ExactSizeIterator<Item = &'i str> + Clone,
    ) -> Result<Vec<Known>> {
        let (shard, seller, namespace) =
            (self.shard_of_seller(&feed.seller), &*feed.seller, &*feed.namespace);
        let count = externals.len();
        let seen = externals.clone().map(|id| FEED_SEEN.key((shard, seller, namespace, id)));
        let offers = externals.map(|id| EXTERNALS.key((shard, seller, namespace, id)));
        let keys: Vec<Key> = seen.chain(offers).collect();
        let mut rows = self.store().get(&keys).await?;
        let offers = rows.split_off(count);
        let known = rows.into_iter().zip(offers).zip(keys).map(|((row, offer), key)| {
            let seen =
                row.map(|row| SeenOffer::decode_from_slice(&row.value).map_err(|error| damaged(&row, error)));
            Ok(Known { key, seen: seen.transpose()?, external: offer.map(|row| row.value) })
        });
        known.collect()
    }

    /// What was reported about each of these offers when it was looked at last; nothing about those that are not asked for.
    pub(super) async fn notes(
        &self,
        feed: &FeedName,
        externals: impl Iterator<Item = Option<&str>>,
    ) -> Result<Vec<OfferNotes>> {
        let externals: Vec<Option<&str>> = externals.collect();
        let keys: Vec<Key> = externals.iter().flatten().map(|id| self.notes_key(feed, id)).collect();
        if keys.is_empty() {
            return Ok(vec![OfferNotes::default(); externals.len()]);
        }
        let mut rows = self.store().get(&keys).await?.into_iter();
        let notes = externals.iter().map(|external| match external.and_then(|_| rows.next().flatten()) {
            Some(row) => OfferNotes::decode_from_slice(&row.value).map_err(|error| damaged(&row, error)),
            None => Ok(OfferNotes::default()),
        });
        notes.collect()
    }

    /// Where it is kept what was reported about an offer of a feed.
    pub(super) fn notes_key(&self, feed: &FeedName, external: &str) -> Key {
        FEED_NOTES.key((self.shard_of_seller(&feed.seller), &*feed.seller, &*feed.namespace, external))
    }
}
