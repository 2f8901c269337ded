//! The entity of the watcher that an offer is, and the rows that are saved with each of its
//! changes.

use bytes::Bytes;
use store::{Batch, Key, Scan};
use watcher::{ChangeContext, Entity, Fields, shard_of};
use wire::torg::offers::v1::{Author, Internal, Offer, Status};

use crate::id::OfferId;
use crate::tables::{EXTERNALS, LEAVING, OFFERS};
use crate::{counters, fields, history, lists, row, status, time, troubles};

/// An offer with the state that only Torg sees.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredOffer {
    /// The same id as in the offer's field.
    pub id: OfferId,
    pub offer: Offer,
    pub(crate) internal: Internal,
}

impl StoredOffer {
    /// An offer without internal state. A change that is made of it leaves the state of the stored
    /// offer as it is, except for a move to another status.
    #[must_use]
    pub fn new(id: OfferId, offer: Offer) -> Self {
        Self { id, offer, internal: Internal::default() }
    }

    #[must_use]
    pub fn status(&self) -> Status {
        self.offer.status.as_known().unwrap_or_default()
    }

    #[must_use]
    pub fn created_ms(&self) -> i64 {
        self.offer.create_time.as_option().map_or(0, time::to_ms)
    }

    pub(crate) fn status_ms(&self) -> i64 {
        self.offer.status_time.as_option().map_or(0, time::to_ms)
    }

    /// The state that neither answers nor topics have.
    pub(crate) fn internal_mut(&mut self) -> &mut Internal {
        &mut self.internal
    }

    /// Whether the offer is banned, or was banned before it was removed.
    pub(crate) fn has_ban(&self) -> bool {
        self.status_before_ban() != Status::Unspecified
    }

    pub(crate) fn status_before_ban(&self) -> Status {
        self.internal.status_before_ban.as_known().unwrap_or_default()
    }

    pub(crate) fn set_author(&mut self, author: &Author) {
        self.internal.author = Some(author.clone()).into();
    }
}

impl Entity for StoredOffer {
    type Id = OfferId;
    const KIND: &'static str = "offer";

    fn id(&self) -> OfferId {
        self.id
    }

    fn encode(&self) -> Bytes {
        row::encode(&self.offer, &self.internal)
    }

    fn decode(bytes: &Bytes) -> Result<Self, String> {
        let (offer, internal) = row::decode(bytes).map_err(|error| error.to_string())?;
        let id = offer.id.parse().map_err(|error| format!("id {:?}: {error}", offer.id))?;
        Ok(Self { id, offer, internal })
    }

    fn published(encoded: Bytes) -> Result<Bytes, String> {
        row::public(&encoded).map_err(|error| error.to_string())
    }

    fn changed_fields(before: &Self, after: &Self) -> Fields {
        fields::changed(&before.offer, &after.offer)
    }

    fn take_fields(&mut self, fields: &Fields, from: &Self) {
        fields::take(&mut self.offer, fields, &from.offer);
        if fields.covers("status") {
            let author = std::mem::take(&mut self.internal.author);
            self.internal = Internal { author, ..from.internal.clone() };
        }
    }

    /// The move of an archived offer's row to the archive changes none of its lists, counters and
    /// history.
    fn derived_rows(change: &ChangeContext<'_, Self>, batch: &mut Batch) {
        let leaving = |offer: Option<&Self>| offer.map(|offer| leaving(offer, change)).unwrap_or_default();
        lists::replace(batch, leaving(change.before), leaving(change.after));
        if is_move_to_archive(change) {
            return;
        }
        lists::follow(change, batch);
        follow_external(change, batch);
        troubles::follow(change, batch);
        counters::follow(change, batch);
        history::follow(change, batch);
    }

    fn author(&self) -> String {
        self.internal.author.as_option().map(history::signature).unwrap_or_default()
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

fn is_move_to_archive(change: &ChangeContext<'_, StoredOffer>) -> bool {
    change.after.is_none() && change.before.is_some_and(|before| before.status() == Status::Archived)
}

/// The row in the queue of the archive.
fn leaving(offer: &StoredOffer, change: &ChangeContext<'_, StoredOffer>) -> Vec<(Key, Bytes)> {
    if !status::leaves(offer.status()) {
        return Vec::new();
    }
    let status = status::name(offer.status());
    vec![(LEAVING.key((change.shard, status, offer.status_ms(), &*offer.id.to_string())), Bytes::new())]
}

pub(crate) fn seller_shard(offer: &StoredOffer, change: &ChangeContext<'_, StoredOffer>) -> u32 {
    shard_of(&offer.offer.seller, change.shards)
}

/// Writes the row of an offer's id in its feed. Two offers cannot have the same one: the second
/// change is in conflict.
fn follow_external(change: &ChangeContext<'_, StoredOffer>, batch: &mut Batch) {
    let key = |offer: &StoredOffer| external_key(&offer.offer, seller_shard(offer, change));
    let before = change.before.and_then(key);
    let after = change.after.and_then(key);
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

/// The row of an offer's id in its feed; removed and archived offers have none.
pub(crate) fn external_key(offer: &Offer, seller_shard: u32) -> Option<Key> {
    let gone = matches!(offer.status.as_known(), Some(Status::STATUS_REMOVED | Status::STATUS_ARCHIVED));
    let (namespace, external) = lists::feed_of(offer).filter(|_| !gone)?;
    Some(EXTERNALS.key((seller_shard, &*offer.seller, namespace, external)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_taken_over_with_the_internal_state_of_its_move() {
        let id = OfferId::numbered(1);
        let mut banned = StoredOffer::new(id, Offer { status: Status::Banned.into(), ..Offer::default() });
        banned.internal.status_before_ban = Status::Sold.into();
        banned.internal.sold_counted = true;
        let title = "bike".to_owned();
        let before = Offer { title, status: Status::Sold.into(), ..Offer::default() };
        let mut offer = StoredOffer::new(id, before);
        offer.take_fields(&Fields::of(["title"]), &banned);
        assert_eq!(offer.internal, Internal::default());
        offer.take_fields(&Fields::of(["status"]), &banned);
        assert_eq!((offer.status(), &offer.internal), (Status::Banned, &banned.internal));
    }
}
