//! Offers as their callers hold them: made, read, changed, moved.

use std::sync::{Arc, Mutex, PoisonError};

use buffa::Message;
use contract::torg::offers::v1::{Author, Keeping, Money, Offer, Status, StatusReason};
use rand::SeedableRng;
use rand::rngs::StdRng;
use store::{Batch, Read, Row, Store};
use watcher::{Entity, Found, Watcher, shard_of};

use crate::entity::StoredOffer;
use crate::error::{Error, Result};
use crate::id::OfferId;
use crate::limits::ATTEMPTS_MAX;
use crate::status::{Mover, may_move};
use crate::tables::ARCHIVE;
use crate::time;

/// All offers of a store. Cheap to clone.
#[derive(Clone)]
pub struct Offers {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    watcher: Watcher<StoredOffer>,
    shards: u32,
    random: Mutex<StdRng>,
}

/// A move to another status.
#[derive(Clone, Debug, Default)]
pub struct Move {
    /// Where to.
    pub to: Status,
    /// For programs.
    pub reason_code: String,
    /// For people.
    pub reason_text: String,
    /// What was paid, if it is sold. Without it, the price counts if it is fixed.
    pub paid: Option<Money>,
    /// The version that the caller saw, if that matters.
    pub version: Option<u64>,
}

impl Offers {
    /// Offers over a store that was opened with [`tables`](crate::tables) and those of the watcher. `seed` decides the ids.
    #[must_use]
    pub fn new(store: &Store, watcher: &Watcher<StoredOffer>, shards: u32, seed: u64) -> Self {
        let random = Mutex::new(StdRng::seed_from_u64(seed));
        let (store, watcher) = (store.clone(), watcher.clone());
        Self { inner: Arc::new(Inner { store, watcher, shards, random }) }
    }

    /// Publishes an offer: gives it an id, a status and times. What a caller cannot set is overwritten.
    pub async fn create(&self, author: &Author, offer: Offer) -> Result<Offer> {
        let now = time::from_time(self.inner.watcher.clock().now());
        for _ in 0..ATTEMPTS_MAX {
            let id = self.new_id();
            let keeping = Keeping { author: Some(author.clone()).into(), ..Keeping::default() };
            let offer = Offer {
                id: id.to_string(),
                status: Status::Active.into(),
                status_reason: None.into(),
                status_time: Some(now.clone()).into(),
                create_time: Some(now.clone()).into(),
                update_time: Some(now.clone()).into(),
                expire_time: None.into(),
                version: 0,
                keeping: Some(keeping).into(),
                ..offer.clone()
            };
            let mut batch = Batch::new();
            batch.check_absent(ARCHIVE.key((self.shard(id), &*id.to_string())));
            let stored = StoredOffer { id, offer };
            let version = self.inner.watcher.save(&mut batch, None, &stored).await?;
            // In conflict if the id is taken: the next one will not be.
            if self.inner.store.commit(batch).await?.is_applied() {
                return Ok(answer(stored, version));
            }
        }
        Err(Error::Contended(self.new_id()))
    }

    /// An offer, active or archived.
    pub async fn get(&self, id: OfferId) -> Result<Offer> {
        if let Some(found) = self.inner.watcher.load(&id).await? {
            return Ok(answer(found.entity, found.version));
        }
        let row = self.inner.store.get_one(&ARCHIVE.key((self.shard(id), &*id.to_string()))).await?;
        archived(&row.ok_or(Error::NotFound(id))?)
    }

    /// Changes what a seller sets. `change` may be called several times, for others may change the offer meanwhile.
    pub async fn update(
        &self,
        author: &Author,
        id: OfferId,
        version: Option<u64>,
        change: impl Fn(&mut Offer) -> Result<()>,
    ) -> Result<Offer> {
        self.rewrite(id, version, |offer| {
            let status = offer.status.as_known().unwrap_or_default();
            if matches!(status, Status::STATUS_REMOVED | Status::STATUS_ARCHIVED) {
                return Err(Error::Closed(id, status));
            }
            change(offer)?;
            keep(offer).author = Some(author.clone()).into();
            Ok(())
        })
        .await
    }

    /// Moves an offer to another status, if the table of moves allows it.
    pub async fn move_to(&self, author: &Author, by: Mover, id: OfferId, wanted: &Move) -> Result<Offer> {
        let now = time::from_time(self.inner.watcher.clock().now());
        self.rewrite(id, wanted.version, |offer| {
            let from = offer.status.as_known().unwrap_or_default();
            may_move(from, wanted.to, by).map_err(|why| Error::Forbidden { id, why })?;
            let banned_from = keep(offer).status_before_ban.as_known().unwrap_or_default();
            let is_banned = banned_from != Status::Unspecified;
            let may_lift = matches!(by, Mover::Moderation | Mover::Admin);
            if wanted.to == Status::Banned {
                keep(offer).status_before_ban = from.into();
            } else if is_banned && wanted.to != Status::Removed {
                if !may_lift {
                    return Err(Error::BanStands(id));
                }
                keep(offer).status_before_ban = Status::Unspecified.into();
            }
            if wanted.to == Status::Sold && !keep(offer).sold_counted {
                let paid = wanted.paid.clone().or_else(|| fixed_price(offer));
                let keeping = keep(offer);
                (keeping.sold_counted, keeping.paid) = (true, paid.into());
            }
            keep(offer).author = Some(author.clone()).into();
            offer.status = wanted.to.into();
            offer.status_time = Some(now.clone()).into();
            offer.status_reason = Some(StatusReason {
                code: wanted.reason_code.clone(),
                text: wanted.reason_text.clone(),
                author: Some(author.clone()).into(),
                ..StatusReason::default()
            })
            .into();
            Ok(())
        })
        .await
    }

    /// Reads, changes and saves an offer until nobody else came between.
    async fn rewrite(
        &self,
        id: OfferId,
        version: Option<u64>,
        change: impl Fn(&mut Offer) -> Result<()>,
    ) -> Result<Offer> {
        for _ in 0..ATTEMPTS_MAX {
            let Some(found) = self.inner.watcher.load(&id).await? else {
                // One that is archived says so.
                let offer = self.get(id).await?;
                return Err(Error::Closed(id, offer.status.as_known().unwrap_or_default()));
            };
            if let Some(expected) = version.filter(|expected| *expected != found.version) {
                return Err(Error::OtherVersion { id, expected, actual: found.version });
            }
            let mut after = found.entity.clone();
            change(&mut after.offer)?;
            if StoredOffer::changed_fields(&found.entity, &after).is_empty() {
                return Ok(answer(found.entity, found.version));
            }
            after.offer.update_time = Some(time::from_time(self.inner.watcher.clock().now())).into();
            let mut batch = Batch::new();
            let version = self.inner.watcher.save(&mut batch, Some(&found), &after).await?;
            if self.inner.store.commit(batch).await?.is_applied() {
                return Ok(answer(after, version));
            }
        }
        Err(Error::Contended(id))
    }

    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    pub(crate) fn shard_of_seller(&self, seller: &str) -> u32 {
        shard_of(seller, self.inner.shards)
    }

    pub(crate) fn shard(&self, id: OfferId) -> u32 {
        shard_of(&id.to_string(), self.inner.shards)
    }

    fn new_id(&self) -> OfferId {
        OfferId::random(&mut *self.inner.random.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What Torg keeps for itself beside an offer.
fn keep(offer: &mut Offer) -> &mut Keeping {
    offer.keeping.get_or_insert_default()
}

fn fixed_price(offer: &Offer) -> Option<Money> {
    use contract::torg::offers::v1::__buffa::oneof::price::Kind;
    match offer.price.as_option()?.kind.as_ref()? {
        Kind::Fixed(money) => Some((**money).clone()),
        Kind::Free(_) | Kind::Negotiable(_) | Kind::Range(_) => None,
    }
}

/// An offer as callers see it.
fn answer(stored: StoredOffer, version: u64) -> Offer {
    Offer { version, keeping: None.into(), ..stored.offer }
}

fn archived(row: &Row) -> Result<Offer> {
    let damaged =
        |error: buffa::DecodeError| Error::Damaged { place: row.key.to_string(), detail: error.to_string() };
    let offer = Offer::decode_from_slice(&row.value).map_err(damaged)?;
    Ok(Offer { version: row.version, keeping: None.into(), ..offer })
}

/// An offer that was found, for those who decide by it.
pub type FoundOffer = Found<StoredOffer>;
