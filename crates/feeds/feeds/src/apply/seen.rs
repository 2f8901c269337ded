//! What earlier loads saw of the offers of a feed.

use buffa::Message as _;
use offers::OfferId;
use store::{Key, Read as _, Row};
use wire::torg::feeds::v1::{OfferNotes, SeenOffer};

use crate::error::{Result, damaged};
use crate::feeds::Feeds;
use crate::name::FeedName;
use crate::tables::{FEED_NOTES, FEED_SEEN};

/// What is known of an external id of a feed.
pub(super) struct Known {
    pub(super) key: Key,
    /// What the last load saw of it that published it or found it published.
    pub(super) seen: Option<SeenOffer>,
    /// The offer that has this external id now.
    pub(super) offer: Option<OfferId>,
}

impl Known {
    /// Whether the offer with this fingerprint is the published one, unchanged, and needs no
    /// renewal yet.
    pub(super) fn is_same(&self, fingerprint: &[u8], now_ms: i64) -> bool {
        self.seen.as_ref().is_some_and(|seen| {
            self.offer.is_some_and(|id| id.to_string() == seen.offer)
                && !seen.fingerprint.is_empty()
                && seen.fingerprint == fingerprint
                && now_ms < seen.look_at_ms
        })
    }

    pub(super) fn has_notes(&self) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.noted)
    }
}

impl Feeds {
    /// Which of these offers, each an external id and a fingerprint, are published as they are, so
    /// that the reader may send them as unchanged. An offer that changes before its batch is
    /// applied is put off to the next load.
    pub async fn unchanged_since(&self, feed: &FeedName, offers: &[(&str, &[u8])]) -> Result<Vec<bool>> {
        let ids: Vec<&str> = offers.iter().map(|(id, _)| *id).collect();
        let known = self.known(feed, &ids).await?;
        let now_ms = self.now().as_ms();
        Ok(known.iter().zip(offers).map(|(known, (_, print))| known.is_same(print, now_ms)).collect())
    }

    /// Whether loads of a feed have published something that the feed still has.
    pub(crate) async fn has_published(&self, feed: &FeedName) -> Result<bool> {
        let first = FEED_SEEN.prefix((self.offers_shard(feed), &*feed.seller, &*feed.namespace)).limit(1);
        Ok(!self.store().scan(&first).await?.rows.is_empty())
    }

    pub(super) async fn known(&self, feed: &FeedName, external_ids: &[&str]) -> Result<Vec<Known>> {
        let FeedName { seller, namespace } = feed;
        let shard = self.offers_shard(feed);
        let keys: Vec<Key> =
            external_ids.iter().map(|id| FEED_SEEN.key((shard, &**seller, &**namespace, *id))).collect();
        let offers = self.offers().by_external_ids(seller, namespace, external_ids);
        let (rows, offers) = futures::future::join(self.store().get(&keys), offers).await;
        let (rows, offers) = (rows?, offers?);
        rows.into_iter()
            .zip(offers)
            .zip(&keys)
            .map(|((row, offer), key)| {
                let seen = row.as_ref().map(decode_seen).transpose()?;
                Ok(Known { key: key.clone(), seen, offer })
            })
            .collect()
    }

    /// What was reported about each of these offers when it was last compared; nothing for `None`.
    pub(super) async fn notes(
        &self,
        feed: &FeedName,
        external_ids: &[Option<&str>],
    ) -> Result<Vec<OfferNotes>> {
        let keys: Vec<Key> = external_ids.iter().flatten().map(|id| self.notes_key(feed, id)).collect();
        if keys.is_empty() {
            return Ok(vec![OfferNotes::default(); external_ids.len()]);
        }
        let mut rows = self.store().get(&keys).await?.into_iter();
        let notes = external_ids.iter().map(|id| match id.and_then(|_| rows.next().flatten()) {
            Some(row) => OfferNotes::decode_from_slice(&row.value).map_err(|error| damaged(&row, error)),
            None => Ok(OfferNotes::default()),
        });
        notes.collect()
    }

    pub(super) fn notes_key(&self, feed: &FeedName, external_id: &str) -> Key {
        FEED_NOTES.key((self.offers_shard(feed), &*feed.seller, &*feed.namespace, external_id))
    }

    /// Published offers of a feed by external id, those after a cursor.
    pub(super) async fn seen_after(
        &self,
        feed: &FeedName,
        cursor: &str,
        limit: usize,
    ) -> Result<Vec<(String, SeenOffer, Key)>> {
        let prefix = (self.offers_shard(feed), &*feed.seller, &*feed.namespace);
        let mut scan = FEED_SEEN.prefix(prefix).limit(limit);
        if !cursor.is_empty() {
            scan = scan.after(FEED_SEEN.key((prefix.0, prefix.1, prefix.2, cursor)));
        }
        let rows = self.store().scan(&scan).await?.rows;
        rows.into_iter()
            .map(|row| {
                let (_, _, _, external_id) = FEED_SEEN.parts(&row.key)?;
                Ok((external_id, decode_seen(&row)?, row.key))
            })
            .collect()
    }
}

fn decode_seen(row: &Row) -> Result<SeenOffer> {
    SeenOffer::decode_from_slice(&row.value).map_err(|error| damaged(row, error))
}
