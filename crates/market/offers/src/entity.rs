//! An offer as the watcher sees it, and all that must be saved with each of its changes: lists, counters, history.

use buffa::Message;
use bytes::Bytes;
use store::{Batch, Key, Scan};
use watcher::{Entity, Evolved, Fields, shard_of};
use wire::torg::offers::v1::{Offer, Status};

use crate::id::OfferId;
use crate::tables::{EXTERNALS, LEAVING, OFFERS};
use crate::{counters, fields, history, lists, status, troubles};

/// An offer, by its id.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredOffer {
    /// The id, which its fields repeat as text.
    pub id: OfferId,
    /// Everything else.
    pub offer: Offer,
}

impl StoredOffer {
    /// The offer's status.
    #[must_use]
    pub fn status(&self) -> Status {
        self.offer.status.as_known().unwrap_or_default()
    }

    /// When it was made, in milliseconds.
    #[must_use]
    pub fn created_ms(&self) -> i64 {
        self.offer.create_time.as_option().map_or(0, crate::time::to_ms)
    }
}

impl Entity for StoredOffer {
    type Id = OfferId;
    const KIND: &'static str = "offer";

    fn id(&self) -> OfferId {
        self.id
    }

    fn encode(&self) -> Bytes {
        self.offer.encode_to_vec().into()
    }

    fn decode(bytes: &Bytes) -> Result<Self, String> {
        let offer = Offer::decode_from_slice(bytes).map_err(|error| error.to_string())?;
        let id = offer.id.parse().map_err(|error| format!("id {:?}: {error}", offer.id))?;
        Ok(Self { id, offer })
    }

    fn changed_fields(before: &Self, after: &Self) -> Fields {
        fields::changed(&before.offer, &after.offer)
    }

    fn take_fields(&mut self, fields: &Fields, from: &Self) {
        fields::take(&mut self.offer, fields, &from.offer);
    }

    /// Once an offer is archived, its row moves to the archive; its lists, counts and history are what they were.
    fn follow_up(change: &Evolved<'_, Self>, batch: &mut Batch) {
        let leaving = |offer: Option<&Self>| offer.map(|offer| leaving(offer, change)).unwrap_or_default();
        lists::replace(batch, leaving(change.before), leaving(change.after));
        if is_move_to_archive(change) {
            return;
        }
        let listed = |offer: Option<&Self>| {
            offer.map(|offer| lists::rows_of(offer, seller_shard(offer, change))).unwrap_or_default()
        };
        if !lists::are_as_before(change.before, change.after) {
            lists::replace(batch, listed(change.before), listed(change.after));
        }
        follow_external(change, batch);
        troubles::follow(change, batch);
        counters::follow(change, batch);
        history::follow(change, batch);
    }

    fn signature(&self) -> String {
        let keeping = self.offer.keeping.as_option();
        keeping.and_then(|keeping| keeping.author.as_option()).map(history::signature).unwrap_or_default()
    }

    fn key(shard: u32, id: &OfferId) -> Key {
        OFFERS.key((shard, &*id.to_string()))
    }

    fn scan(shard: u32) -> Scan {
        OFFERS.prefix((shard,))
    }

    fn random_id(random: u64) -> Option<OfferId> {
        Some(OfferId::numbered(random))
    }
}

/// Whether an offer that is archived leaves the active tables.
fn is_move_to_archive(change: &Evolved<'_, StoredOffer>) -> bool {
    change.after.is_none() && change.before.is_some_and(|before| before.status() == Status::Archived)
}

/// The row under which an offer waits to be archived, or to leave once it is.
fn leaving(offer: &StoredOffer, change: &Evolved<'_, StoredOffer>) -> Vec<(Key, Bytes)> {
    if !status::leaves(offer.status()) {
        return Vec::new();
    }
    let since_ms = offer.offer.status_time.as_option().map_or(0, crate::time::to_ms);
    let key = LEAVING.key((change.shard, status::name(offer.status()), since_ms, &*offer.id.to_string()));
    vec![(key, Bytes::new())]
}

pub(crate) fn seller_shard(offer: &StoredOffer, change: &Evolved<'_, StoredOffer>) -> u32 {
    shard_of(&offer.offer.seller, change.shards)
}

/// An offer of a feed is known by its id there, one at a time: a change that takes an id which another offer has is in conflict.
fn follow_external(change: &Evolved<'_, StoredOffer>, batch: &mut Batch) {
    let key = |offer: &StoredOffer| external_key(&offer.offer, seller_shard(offer, change));
    let (before, after) = (change.before.and_then(key), change.after.and_then(key));
    if before == after {
        return;
    }
    if let Some(key) = before {
        batch.delete(key);
    }
    if let (Some(key), Some(offer)) = (after, change.after) {
        batch.check_absent(key.clone()).put(key, 1, offer.id.to_string());
    }
}

/// Where an offer stands by its id in a feed, unless it was removed.
pub(crate) fn external_key(offer: &Offer, seller_shard: u32) -> Option<Key> {
    let gone = matches!(offer.status.as_known(), Some(Status::STATUS_REMOVED | Status::STATUS_ARCHIVED));
    let (namespace, external) = lists::feed_of(offer).filter(|_| !gone)?;
    Some(EXTERNALS.key((seller_shard, &*offer.seller, namespace, external)))
}
