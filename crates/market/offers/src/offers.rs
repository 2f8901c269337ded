//! Offers as their callers hold them: made, read, changed, moved.

use std::sync::{Arc, Mutex, PoisonError};

use buffa::Message;
use catalog::Catalogue;
use rand::SeedableRng;
use rand::rngs::StdRng;
use store::{Batch, Key, Outcome, Read, Row, Store};
use topics::Topics;
use watcher::{Entity, Fields, Versioned, Time, Watcher, shard_of};
use wire::torg::offers::v1::{Offer, Source, Status, source};

use crate::call::{Call, Ticket, is_of_a_call};
use crate::config::Config;
use crate::entity::{StoredOffer, external_key};
use crate::error::{Error, Result, damaged};
use crate::fields::BY_SELLERS;
use crate::id::OfferId;
use crate::limits::{ATTEMPTS_MAX, OFFER_BYTES_MAX, READ_KEYS_MAX};
use crate::moves::{Move, keep};
use crate::tables::{ARCHIVE, OFFERS};
use crate::validation::violations;
use crate::{lists, time};

/// All offers of a store. Cheap to clone.
#[derive(Clone)]
pub struct Offers {
    inner: Arc<Inner>,
}

struct Inner {
    parts: Parts,
    random: Mutex<StdRng>,
}

/// What offers are made of.
pub struct Parts {
    /// Where they are kept: opened with [`tables`](crate::tables), and those of the watcher and of topics.
    pub store: Store,
    /// Where changes go and opinions come from.
    pub topics: Topics,
    /// What makes them evolve.
    pub watcher: Watcher<StoredOffer>,
    /// What they are checked by.
    pub catalogue: Arc<Catalogue>,
    /// How long things last.
    pub config: Config,
}

/// Which offer is to be changed: by its id, or as it was found a moment ago, which saves a read.
pub enum Target {
    /// By its id.
    Id(OfferId),
    /// As it was found.
    Found(Box<Versioned<StoredOffer>>),
}

impl From<OfferId> for Target {
    fn from(id: OfferId) -> Self {
        Self::Id(id)
    }
}

impl From<Versioned<StoredOffer>> for Target {
    fn from(found: Versioned<StoredOffer>) -> Self {
        Self::Found(Box::new(found))
    }
}

impl Target {
    fn id(&self) -> OfferId {
        match self {
            Self::Id(id) => *id,
            Self::Found(found) => found.entity.id,
        }
    }

    fn found(self) -> Option<Versioned<StoredOffer>> {
        match self {
            Self::Id(_) => None,
            Self::Found(found) => Some(*found),
        }
    }
}

impl Offers {
    /// Offers over a store; `seed` decides the ids of new ones, and must not be guessed by anybody.
    #[must_use]
    pub fn new(parts: Parts, seed: [u8; 32]) -> Self {
        let random = Mutex::new(StdRng::from_seed(seed));
        Self { inner: Arc::new(Inner { parts, random }) }
    }

    /// Publishes an offer: gives it an id, a status and times. What a caller cannot set is overwritten.
    pub async fn create(&self, call: &Call, offer: &Offer) -> Result<Offer> {
        self.require_valid(offer)?;
        for _ in 0..ATTEMPTS_MAX {
            let ticket = self.ticket(call).await?;
            if let Ticket::Done(id) = &ticket {
                return self.get(parse(id)?).await;
            }
            let stored = self.fresh(call, self.new_id(), offer.clone())?;
            let mut batch = Batch::new();
            ticket.done(&mut batch, &stored.offer.id);
            if let Some(offer) = self.insert(batch, stored).await? {
                return Ok(offer);
            }
        }
        Err(Error::Contended(self.new_id()))
    }

    /// An offer as it is when it is published.
    pub(crate) fn fresh(&self, call: &Call, id: OfferId, offer: Offer) -> Result<StoredOffer> {
        let (now, source) = (self.now(), offer.source.clone().into_option().unwrap_or_else(typed_in));
        let mut offer = Offer {
            id: id.to_string(),
            status: Status::Active.into(),
            status_reason: None.into(),
            status_time: Some(time::from_time(now)).into(),
            create_time: Some(time::from_time(now)).into(),
            update_time: Some(time::from_time(now)).into(),
            expire_time: Some(time::from_time(now + self.config().exposure)).into(),
            version: 0,
            keeping: None.into(),
            source: source.into(),
            predicted_price: None.into(),
            photo_order: Vec::new(),
            expire_warning_time: None.into(),
            catalogue_version: self.catalogue().version(),
            obstacles: Vec::new(),
            ..offer
        };
        keep(&mut offer).author = Some(call.author.clone()).into();
        require_fit(id, &offer)?;
        Ok(StoredOffer { id, offer })
    }

    /// Saves a new offer with what the batch has already; `None` if its id is taken, or something else that the batch checks is different by now.
    pub(crate) async fn insert(&self, mut batch: Batch, stored: StoredOffer) -> Result<Option<Offer>> {
        self.require_unarchived(&mut batch, &stored);
        let version = Box::pin(self.watcher().save(&mut batch, None, &stored)).await?;
        match self.store().commit(batch).await? {
            Outcome::Applied => Ok(Some(answer(stored, version))),
            Outcome::Conflict(keys) => self.why_in_conflict(&keys, &stored).await.map(|()| None),
        }
    }

    /// A new offer must not have the id of an archived one.
    pub(crate) fn require_unarchived(&self, batch: &mut Batch, stored: &StoredOffer) {
        batch.check_absent(ARCHIVE.key((self.shard(stored.id), &*stored.offer.id)));
    }

    /// An offer, active or archived.
    pub async fn get(&self, id: OfferId) -> Result<Offer> {
        self.get_many(&[id]).await?.pop().flatten().ok_or(Error::NotFound(id))
    }

    /// Offers of any number of ids, in their order; `None` for those that are not there.
    pub async fn get_many(&self, ids: &[OfferId]) -> Result<Vec<Option<Offer>>> {
        let mut offers = Vec::with_capacity(ids.len());
        for ids in ids.chunks(READ_KEYS_MAX) {
            offers.extend(self.get_some(ids).await?);
        }
        Ok(offers)
    }

    async fn get_some(&self, ids: &[OfferId]) -> Result<Vec<Option<Offer>>> {
        let keys: Vec<Key> = ids.iter().map(|id| OFFERS.key((self.shard(*id), &*id.to_string()))).collect();
        let mut rows = self.store().get(&keys).await?;
        // An offer that moves to the archive is in one of the two tables at any time, and this is the order in which it moves.
        let missing: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].is_none()).collect();
        if !missing.is_empty() {
            let archived = |at: &usize| ARCHIVE.key((self.shard(ids[*at]), &*ids[*at].to_string()));
            let keys: Vec<Key> = missing.iter().map(archived).collect();
            for (at, row) in missing.into_iter().zip(self.store().get(&keys).await?) {
                rows[at] = row;
            }
        }
        rows.iter().map(|row| row.as_ref().map(from_row).transpose()).collect()
    }

    /// An offer of the active tables, of which these fields are to be changed.
    pub async fn find(&self, id: OfferId, fields: &Fields) -> Result<Versioned<StoredOffer>> {
        match self.watcher().load_to_change(&id, fields).await? {
            Some(found) => Ok(found),
            None => Err(self.why_not_active(id).await?),
        }
    }

    /// Changes what a seller sets. `change` may be called several times, for others may change the offer meanwhile.
    pub async fn update(
        &self,
        call: &Call,
        target: impl Into<Target>,
        version: Option<u64>,
        change: impl Fn(&mut Offer) -> Result<()>,
    ) -> Result<Offer> {
        let target = target.into();
        let id = target.id();
        self.rewrite(call, target, &BY_SELLERS, version, |offer| {
            let status = offer.status.as_known().unwrap_or_default();
            if matches!(status, Status::STATUS_REMOVED | Status::STATUS_ARCHIVED) {
                return Err(Error::Closed(id, status));
            }
            change(offer)?;
            self.require_valid(offer)?;
            offer.catalogue_version = self.catalogue().version();
            offer.obstacles.clear();
            keep(offer).author = Some(call.author.clone()).into();
            Ok(())
        })
        .await
    }

    /// Moves an offer to another status, if the rules allow it.
    pub async fn move_to(
        &self,
        call: &Call,
        target: impl Into<Target>,
        version: Option<u64>,
        wanted: &Move,
    ) -> Result<Offer> {
        let (target, now, exposure) = (target.into(), self.now(), self.config().exposure);
        let id = target.id();
        self.rewrite(call, target, &Fields::all(), version, |offer| {
            let moved = wanted.apply(offer, &call.author, call.by, now, exposure);
            moved.map_err(|why| Error::NotMoved { id, why })
        })
        .await
    }

    /// Reads, changes and saves an offer until nobody else came between. `fields` are those that the change is about.
    async fn rewrite(
        &self,
        call: &Call,
        target: Target,
        fields: &Fields,
        version: Option<u64>,
        change: impl Fn(&mut Offer) -> Result<()>,
    ) -> Result<Offer> {
        let id = target.id();
        let mut found = target.found();
        for _ in 0..ATTEMPTS_MAX {
            let loaded = match found.take() {
                Some(found) => Some(found),
                None => self.watcher().load_to_change(&id, fields).await?,
            };
            // After the offer: one that shows what this very call did must not be taken for one that somebody else changed.
            let ticket = self.ticket(call).await?;
            if let Ticket::Done(id) = &ticket {
                return self.get(parse(id)?).await;
            }
            let Some(found) = loaded else { return Err(self.why_not_active(id).await?) };
            if let Some(expected) = version.filter(|expected| *expected != found.version) {
                return Err(Error::OtherVersion { id, expected, actual: found.version });
            }
            let mut after = found.entity.clone();
            change(&mut after.offer)?;
            if StoredOffer::changed_fields(&found.entity, &after).is_empty() {
                return Ok(answer(found.entity, found.version));
            }
            let mut batch = Batch::new();
            ticket.done(&mut batch, &after.offer.id);
            if let Some(offer) = self.save(batch, &found, after).await? {
                return Ok(offer);
            }
        }
        Err(Error::Contended(id))
    }

    /// Saves a change with what the batch has already; `None` if something is different by now.
    pub(crate) async fn save(
        &self,
        mut batch: Batch,
        found: &Versioned<StoredOffer>,
        mut after: StoredOffer,
    ) -> Result<Option<Offer>> {
        after.offer.update_time = Some(time::from_time(self.now())).into();
        require_fit(after.id, &after.offer)?;
        let version = Box::pin(self.watcher().save(&mut batch, Some(found), &after)).await?;
        match self.store().commit(batch).await? {
            Outcome::Applied => Ok(Some(answer(after, version))),
            Outcome::Conflict(keys) => self.why_in_conflict(&keys, &after).await.map(|()| None),
        }
    }

    /// Commits a batch that others have filled for these offers; `false` if something that it was made from changed meanwhile.
    pub async fn commit(&self, batch: Batch) -> Result<bool> {
        Ok(self.store().commit(batch).await?.is_applied())
    }

    /// Why an offer is not in the active tables.
    async fn why_not_active(&self, id: OfferId) -> Result<Error> {
        let offer = self.get(id).await?;
        Ok(Error::Closed(id, offer.status.as_known().unwrap_or_default()))
    }

    /// Refuses an offer that cannot be saved because of another one. If the same call was done meanwhile, that one is its own.
    async fn why_in_conflict(&self, keys: &[Key], offer: &StoredOffer) -> Result<()> {
        if keys.iter().any(is_of_a_call) {
            return Ok(());
        }
        self.require_external_free(offer).await
    }

    /// Refuses an offer whose id in its feed another offer has.
    async fn require_external_free(&self, offer: &StoredOffer) -> Result<()> {
        let Some(key) = external_key(&offer.offer, self.shard_of_seller(&offer.offer.seller)) else {
            return Ok(());
        };
        let row = self.store().get_one(&key).await?;
        match (row, lists::feed_of(&offer.offer)) {
            (Some(row), Some((namespace, external))) if row.value != offer.offer.id.as_bytes() => {
                let (namespace, external) = (namespace.to_owned(), external.to_owned());
                let other = String::from_utf8_lossy(&row.value).into_owned();
                Err(Error::ExternalTaken { namespace, external, other })
            }
            _ => Ok(()),
        }
    }

    /// Refuses an offer that the catalogue, or what holds for every offer, does not allow: with all that is wrong at once.
    pub(crate) fn require_valid(&self, offer: &Offer) -> Result<()> {
        let violations = violations(self.catalogue(), offer);
        if violations.is_empty() { Ok(()) } else { Err(Error::Invalid(violations)) }
    }

    /// What these offers are checked by.
    #[must_use]
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.inner.parts.catalogue
    }

    /// How long things last.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.inner.parts.config
    }

    /// What makes these offers evolve.
    #[must_use]
    pub fn watcher(&self) -> Watcher<StoredOffer> {
        self.inner.parts.watcher.clone()
    }

    /// Where they are kept.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.inner.parts.store
    }

    pub(crate) fn topics(&self) -> &Topics {
        &self.inner.parts.topics
    }

    pub(crate) fn now(&self) -> Time {
        self.watcher().clock().now()
    }

    pub(crate) fn shards(&self) -> u32 {
        self.watcher().shards()
    }

    pub(crate) fn shard_of_seller(&self, seller: &str) -> u32 {
        shard_of(seller, self.shards())
    }

    pub(crate) fn shard(&self, id: OfferId) -> u32 {
        shard_of(&id.to_string(), self.shards())
    }

    pub(crate) fn new_id(&self) -> OfferId {
        OfferId::random(&mut *self.inner.random.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Where an offer comes from of which nothing else is said.
fn typed_in() -> Source {
    Source { kind: Some(source::Manual::default().into()), ..Source::default() }
}

/// An id that Torg wrote itself.
pub(crate) fn parse(id: &str) -> Result<OfferId> {
    id.parse()
        .map_err(|error: crate::WrongId| Error::Damaged { place: id.to_owned(), detail: error.to_string() })
}

fn require_fit(id: OfferId, offer: &Offer) -> Result<()> {
    let bytes = offer.encoded_len() as usize;
    if bytes > OFFER_BYTES_MAX { Err(Error::TooLarge { id, bytes, max: OFFER_BYTES_MAX }) } else { Ok(()) }
}

/// An offer as callers see it.
pub(crate) fn answer(stored: StoredOffer, version: u64) -> Offer {
    Offer { version, keeping: None.into(), ..stored.offer }
}

/// An offer of either table, as callers see it.
pub(crate) fn from_row(row: &Row) -> Result<Offer> {
    let offer = Offer::decode_from_slice(&row.value).map_err(|error| damaged(row, error))?;
    Ok(Offer { version: row.version, keeping: None.into(), ..offer })
}
