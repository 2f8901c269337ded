//! An offer as the watcher sees it, and all that must be saved with each of its changes: lists, counters, history.

use buffa::Message;
use bytes::Bytes;
use contract::torg::offers::v1::{Offer, Status};
use store::{Batch, Key, Scan};
use watcher::{Entity, Evolved, Fields, shard_of};

use crate::id::OfferId;
use crate::tables::{EXTERNALS, LEAVING, OFFERS};
use crate::{counters, fields, history, lists, status};

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

    fn follow_up(change: &Evolved<'_, Self>, batch: &mut Batch) {
        let places = |offer: Option<&Self>| offer.map(|offer| places(offer, change)).unwrap_or_default();
        lists::replace(batch, places(change.before), places(change.after));
        counters::follow(change, batch);
        history::follow(change, batch);
    }

    fn key(shard: u32, id: &OfferId) -> Key {
        OFFERS.key((shard, &*id.to_string()))
    }

    fn scan(shard: u32) -> Scan {
        OFFERS.prefix((shard,))
    }
}

/// Every row that says where an offer stands, with its value.
fn places(offer: &StoredOffer, change: &Evolved<'_, StoredOffer>) -> Vec<(Key, Bytes)> {
    let seller_shard = shard_of(&offer.offer.seller, change.shards);
    let mut places = lists::rows_of(offer, seller_shard);
    let id = offer.id.to_string();
    if let Some((namespace, external)) = lists::feed_of(&offer.offer) {
        let key = EXTERNALS.key((seller_shard, &*offer.offer.seller, namespace, external));
        places.push((key, Bytes::from(id.clone())));
    }
    if status::gets_archived(offer.status()) {
        let since_ms = offer.offer.status_time.as_option().map_or(0, crate::time::to_ms);
        let key = LEAVING.key((change.shard, status::name(offer.status()), since_ms, &*id));
        places.push((key, Bytes::new()));
    }
    places
}
