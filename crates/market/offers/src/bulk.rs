//! Changes of many offers at once, for importers: the caller owns the commit and adds rows of its
//! own to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use catalog::Catalogue;
use store::{Batch, Key, Read as _};
use watcher::{Entity as _, Versioned};
use wire::torg::feeds::v1::OfferTroubles;
use wire::torg::offers::v1::{Offer, Source, Status, source};

use crate::call::Call;
use crate::entity::StoredOffer;
use crate::error::{Error, Result, damaged};
use crate::id::OfferId;
use crate::masks::UpdateMask;
use crate::moves::{Move, NotMoved};
use crate::offers::{Offers, parse};
use crate::tables::{EXTERNALS, OFFERS};
use crate::{time, troubles};

/// Reads and changes many offers of a seller at once.
///
/// The `prepare` methods compute what an offer becomes and store nothing;
/// [`save_many`](Self::save_many) adds prepared changes to a batch. The commit of that batch is in
/// conflict if one of the offers changed meanwhile: read and prepare again.
#[async_trait]
pub trait BulkChanges: Send + Sync {
    /// The catalogue by which offers are validated.
    fn catalogue(&self) -> &Arc<Catalogue>;

    /// The shard of the rows about a seller's offers.
    fn seller_shard(&self, seller: &str) -> u32;

    /// The offers that have these external ids, in the order of the ids. A banned offer keeps its
    /// external id, a removed one has none.
    async fn by_external_ids(
        &self,
        seller: &str,
        namespace: &str,
        external_ids: &[&str],
    ) -> Result<Vec<Option<OfferId>>>;

    /// Offers to change, by id. Those that left the active tables are missing.
    async fn load_many(&self, ids: &[OfferId]) -> Result<BTreeMap<OfferId, Versioned<StoredOffer>>>;

    /// A new offer with an id, as it is published. An invalid one is [`Error::Invalid`].
    fn prepare_new(&self, call: &Call, offer: Offer) -> Result<StoredOffer>;

    /// The offer with all that its seller sets replaced, and renewed. `None` if nothing changes.
    fn prepare_update(
        &self,
        call: &Call,
        stored: &StoredOffer,
        offer: &Offer,
        renewal: &Renewal,
    ) -> Result<Option<StoredOffer>>;

    /// The offer moved to another status.
    fn prepare_move(&self, call: &Call, stored: &StoredOffer, wanted: &Move) -> Result<StoredOffer>;

    /// The offer without its external id, as if its seller had typed it in.
    fn prepare_manual(&self, call: &Call, stored: &StoredOffer) -> StoredOffer;

    /// Adds changes to a batch, with one read for all of them.
    async fn save_many(&self, batch: &mut Batch, changes: &[BulkChange]) -> Result<()>;

    /// What is wrong at present with published offers of a namespace, by external id, those after
    /// `after`.
    async fn troubles(
        &self,
        seller: &str,
        namespace: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, OfferTroubles)>>;
}

/// A prepared change of an offer; `before` is `None` for a new offer.
pub struct BulkChange {
    pub before: Option<Versioned<StoredOffer>>,
    pub after: StoredOffer,
}

/// How an offer that its seller still has is kept from expiring.
pub struct Renewal {
    /// An active offer whose exposure ends within this time gets a new one.
    pub before_end: Duration,
    /// The move that an expired offer makes.
    pub when_expired: Move,
}

#[async_trait]
impl BulkChanges for Offers {
    fn catalogue(&self) -> &Arc<Catalogue> {
        Self::catalogue(self)
    }

    fn seller_shard(&self, seller: &str) -> u32 {
        self.shard_of_seller(seller)
    }

    async fn by_external_ids(
        &self,
        seller: &str,
        namespace: &str,
        external_ids: &[&str],
    ) -> Result<Vec<Option<OfferId>>> {
        let shard = self.shard_of_seller(seller);
        let keys: Vec<Key> =
            external_ids.iter().map(|id| EXTERNALS.key((shard, seller, namespace, *id))).collect();
        let rows = self.store().get(&keys).await?.into_iter();
        rows.map(|row| row.map(|row| parse(&String::from_utf8_lossy(&row.value))).transpose()).collect()
    }

    async fn load_many(&self, ids: &[OfferId]) -> Result<BTreeMap<OfferId, Versioned<StoredOffer>>> {
        let keys: Vec<Key> = ids.iter().map(|id| OFFERS.key((self.shard(*id), &*id.to_string()))).collect();
        let rows = self.store().get(&keys).await?.into_iter().flatten();
        rows.map(|row| {
            let stored = StoredOffer::decode(&row.value).map_err(|error| damaged(&row, error))?;
            Ok((stored.id, Versioned::known(stored, row.version)))
        })
        .collect()
    }

    fn prepare_new(&self, call: &Call, offer: Offer) -> Result<StoredOffer> {
        self.require_validated(&offer, &offer)?;
        self.fresh(call, self.new_id(), offer)
    }

    fn prepare_update(
        &self,
        call: &Call,
        stored: &StoredOffer,
        offer: &Offer,
        renewal: &Renewal,
    ) -> Result<Option<StoredOffer>> {
        let mut after = stored.clone();
        UpdateMask::all().apply(&mut after.offer, offer)?;
        self.renew(call, &mut after, renewal)?;
        if StoredOffer::changed_fields(stored, &after).is_empty() {
            return Ok(None);
        }
        self.require_validated(offer, &after.offer)?;
        after.offer.catalogue_version = self.catalogue().version();
        after.offer.obstacles.clear();
        after.offer.update_time = Some(time::from_time(self.now())).into();
        after.internal_mut().author = Some(call.author.clone()).into();
        Ok(Some(after))
    }

    fn prepare_move(&self, call: &Call, stored: &StoredOffer, wanted: &Move) -> Result<StoredOffer> {
        let (mut after, now) = (stored.clone(), self.now());
        wanted
            .apply(&mut after, &call.author, call.by, now, self.config().exposure)
            .map_err(|why| Error::NotMoved { id: stored.id, why })?;
        after.offer.update_time = Some(time::from_time(now)).into();
        Ok(after)
    }

    fn prepare_manual(&self, call: &Call, stored: &StoredOffer) -> StoredOffer {
        let mut after = stored.clone();
        after.offer.source =
            Some(Source { kind: Some(source::Manual::default().into()), ..Source::default() }).into();
        after.internal_mut().author = Some(call.author.clone()).into();
        after.offer.update_time = Some(time::from_time(self.now())).into();
        after
    }

    async fn save_many(&self, batch: &mut Batch, changes: &[BulkChange]) -> Result<()> {
        for change in changes.iter().filter(|change| change.before.is_none()) {
            self.require_unarchived(batch, &change.after);
        }
        let changes: Vec<_> = changes.iter().map(|change| (change.before.as_ref(), &change.after)).collect();
        self.watcher().save_many(batch, &changes).await?;
        Ok(())
    }

    async fn troubles(
        &self,
        seller: &str,
        namespace: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, OfferTroubles)>> {
        troubles::read(self, seller, namespace, after, limit).await
    }
}

impl Offers {
    /// Validates an offer, unless the importer has done so by the catalogue of this version and
    /// said it in `imported`.
    fn require_validated(&self, imported: &Offer, offer: &Offer) -> Result<()> {
        if imported.catalogue_version == self.catalogue().version() {
            return Ok(());
        }
        self.require_valid(offer)
    }

    fn renew(&self, call: &Call, stored: &mut StoredOffer, renewal: &Renewal) -> Result<()> {
        let (now, exposure) = (self.now(), self.config().exposure);
        match stored.status() {
            Status::STATUS_EXPIRED => {
                match renewal.when_expired.apply(stored, &call.author, call.by, now, exposure) {
                    Ok(()) | Err(NotMoved::BanStands) => Ok(()),
                    Err(why @ NotMoved::Forbidden(_)) => Err(Error::NotMoved { id: stored.id, why }),
                }
            }
            Status::STATUS_ACTIVE if stored.renew_at_ms(renewal.before_end) <= now.as_ms() => {
                stored.offer.expire_time = Some(time::from_time(now + exposure)).into();
                stored.offer.expire_warning_time = None.into();
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl StoredOffer {
    /// When the exposure of the offer ends in less than `before_end`, in milliseconds; `i64::MAX`
    /// if it never ends.
    #[must_use]
    pub fn renew_at_ms(&self, before_end: Duration) -> i64 {
        let before_end = i64::try_from(before_end.as_millis()).unwrap_or(i64::MAX);
        let end = self.offer.expire_time.as_option().map(time::to_ms);
        end.map_or(i64::MAX, |end| end.saturating_sub(before_end))
    }
}
