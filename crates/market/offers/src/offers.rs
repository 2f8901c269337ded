//! The ad store: creates, reads, changes and moves offers.

use std::sync::Arc;

use buffa::Message;
use catalog::Catalogue;
use parking_lot::Mutex;
use rand::SeedableRng;
use rand::rngs::StdRng;
use store::{Batch, Key, Outcome, Read, Row, Store, Table};
use topics::Topics;
use watcher::{Fields, Time, Versioned, Watcher, shard_of};
use wire::torg::offers::v1::{Offer, Source, Status, source};

use crate::call::{Call, Ticket, is_of_call};
use crate::config::Config;
use crate::entity::{StoredOffer, external_key};
use crate::error::{Error, Result, damaged};
use crate::fields::BY_SELLERS;
use crate::id::OfferId;
use crate::limits::{ATTEMPTS_MAX, OFFER_BYTES_MAX, READ_KEYS_MAX};
use crate::moves::Move;
use crate::tables::{ARCHIVE, OFFERS};
use crate::validation::violations;
use crate::{lists, time};

/// The offers of a store. Cheap to clone.
#[derive(Clone)]
pub struct Offers {
    inner: Arc<Inner>,
}

struct Inner {
    parts: Dependencies,
    random: Mutex<StdRng>,
}

/// The services that [`Offers`] work with.
pub struct Dependencies {
    /// Opened with [`tables`](crate::tables), and those of the watcher and of topics.
    pub store: Store,
    /// The topics of changes and of opinions.
    pub topics: Topics,
    pub watcher: Watcher<StoredOffer>,
    pub catalogue: Arc<Catalogue>,
    pub config: Config,
}

/// The offer to change: its id, or the offer as it was just read, which saves a read.
pub struct Target {
    id: OfferId,
    found: Option<Box<Versioned<StoredOffer>>>,
}

impl From<OfferId> for Target {
    fn from(id: OfferId) -> Self {
        Self { id, found: None }
    }
}

impl From<Versioned<StoredOffer>> for Target {
    fn from(found: Versioned<StoredOffer>) -> Self {
        Self { id: found.entity.id, found: Some(Box::new(found)) }
    }
}

impl Offers {
    /// `seed` determines the ids of new offers and has to be secret.
    #[must_use]
    pub fn new(parts: Dependencies, seed: [u8; 32]) -> Self {
        let random = Mutex::new(StdRng::from_seed(seed));
        Self { inner: Arc::new(Inner { parts, random }) }
    }

    /// Publishes an offer with a new id. Fields that callers do not set are overwritten.
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

    /// A published offer, not yet saved.
    pub(crate) fn fresh(&self, call: &Call, id: OfferId, offer: Offer) -> Result<StoredOffer> {
        let now = self.now();
        let source = offer.source.clone().into_option().unwrap_or_else(manual);
        let offer = Offer {
            id: id.to_string(),
            status: Status::Active.into(),
            status_reason: None.into(),
            status_time: Some(time::from_time(now)).into(),
            create_time: Some(time::from_time(now)).into(),
            update_time: Some(time::from_time(now)).into(),
            expire_time: Some(time::from_time(now + self.config().exposure)).into(),
            version: 0,
            source: source.into(),
            predicted_price: None.into(),
            photo_order: Vec::new(),
            expire_warning_time: None.into(),
            catalogue_version: self.catalogue().version(),
            obstacles: Vec::new(),
            ..offer
        };
        require_fit(id, &offer)?;
        let mut stored = StoredOffer::new(id, offer);
        stored.set_author(&call.author);
        Ok(stored)
    }

    /// Commits the batch with a new offer; `None` if the id is taken or another check of the batch
    /// fails.
    pub(crate) async fn insert(&self, mut batch: Batch, stored: StoredOffer) -> Result<Option<Offer>> {
        self.require_unarchived(&mut batch, &stored);
        let version = Box::pin(self.watcher().save(&mut batch, None, &stored)).await?;
        match self.store().commit(batch).await? {
            Outcome::Applied => Ok(Some(answer(stored, version))),
            Outcome::Conflict(keys) => self.require_no_duplicate(&keys, &stored).await.map(|()| None),
        }
    }

    /// Adds the check that no archived offer has the id.
    pub(crate) fn require_unarchived(&self, batch: &mut Batch, stored: &StoredOffer) {
        batch.check_absent(self.key(&ARCHIVE, stored.id));
    }

    /// Reads an offer, also from the archive.
    pub async fn get(&self, id: OfferId) -> Result<Offer> {
        self.get_many(&[id]).await?.pop().flatten().ok_or(Error::NotFound(id))
    }

    /// Reads any number of offers, also from the archive, in the order of the ids.
    pub async fn get_many(&self, ids: &[OfferId]) -> Result<Vec<Option<Offer>>> {
        let mut offers = Vec::with_capacity(ids.len());
        for ids in ids.chunks(READ_KEYS_MAX) {
            offers.extend(self.get_some(ids).await?);
        }
        Ok(offers)
    }

    async fn get_some(&self, ids: &[OfferId]) -> Result<Vec<Option<Offer>>> {
        let keys: Vec<Key> = ids.iter().map(|id| self.key(&OFFERS, *id)).collect();
        let mut rows = self.store().get(&keys).await?;
        // An offer moves from the active table to the archive in one commit, so reading in this
        // order finds it.
        let missing: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].is_none()).collect();
        if !missing.is_empty() {
            let keys: Vec<Key> = missing.iter().map(|at| self.key(&ARCHIVE, ids[*at])).collect();
            for (at, row) in missing.into_iter().zip(self.store().get(&keys).await?) {
                rows[at] = row;
            }
        }
        rows.iter().map(|row| row.as_ref().map(from_row).transpose()).collect()
    }

    /// Reads an offer of the active tables to change these fields.
    pub async fn find(&self, id: OfferId, fields: &Fields) -> Result<Versioned<StoredOffer>> {
        match self.watcher().load_to_change(&id, fields).await? {
            Some(found) => Ok(found),
            None => Err(self.not_active(id).await?),
        }
    }

    /// Changes fields that a seller sets. After a conflict `change` is called again.
    pub async fn update(
        &self,
        call: &Call,
        target: impl Into<Target>,
        version: Option<u64>,
        change: impl Fn(&mut Offer) -> Result<()>,
    ) -> Result<Offer> {
        let target = target.into();
        let id = target.id;
        self.rewrite(call, target, &BY_SELLERS, version, |stored| {
            let status = stored.status();
            let offer = &mut stored.offer;
            if matches!(status, Status::STATUS_REMOVED | Status::STATUS_ARCHIVED) {
                return Err(Error::Closed(id, status));
            }
            change(offer)?;
            self.require_valid(offer)?;
            offer.catalogue_version = self.catalogue().version();
            offer.obstacles.clear();
            stored.set_author(&call.author);
            Ok(())
        })
        .await
    }

    /// Moves an offer to another status, if the table of moves allows it.
    pub async fn move_to(
        &self,
        call: &Call,
        target: impl Into<Target>,
        version: Option<u64>,
        wanted: &Move,
    ) -> Result<Offer> {
        let target = target.into();
        let id = target.id;
        self.rewrite(call, target, &Fields::all(), version, |stored| {
            let moved = wanted.apply(stored, &call.author, call.by, self.now(), self.config().exposure);
            moved.map_err(|why| Error::NotMoved { id, why })
        })
        .await
    }

    /// Reads, changes and saves an offer, and repeats after a conflict. `fields` are those that
    /// `change` sets.
    async fn rewrite(
        &self,
        call: &Call,
        Target { id, mut found }: Target,
        fields: &Fields,
        version: Option<u64>,
        change: impl Fn(&mut StoredOffer) -> Result<()>,
    ) -> Result<Offer> {
        for _ in 0..ATTEMPTS_MAX {
            let loaded = match found.take() {
                Some(found) => Some(*found),
                None => self.watcher().load_to_change(&id, fields).await?,
            };
            // After the offer: an offer that this call has changed already must not fail its
            // version check.
            let ticket = self.ticket(call).await?;
            if let Ticket::Done(id) = &ticket {
                return self.get(parse(id)?).await;
            }
            let Some(found) = loaded else { return Err(self.not_active(id).await?) };
            if let Some(expected) = version.filter(|expected| *expected != found.version) {
                return Err(Error::OtherVersion { id, expected, actual: found.version });
            }
            let mut after = found.entity.clone();
            change(&mut after)?;
            if after.offer == found.entity.offer {
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

    /// Commits the batch with a change; `None` on a conflict.
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
            Outcome::Conflict(keys) => self.require_no_duplicate(&keys, &after).await.map(|()| None),
        }
    }

    /// Commits a batch; `false` on a conflict.
    pub async fn commit(&self, batch: Batch) -> Result<bool> {
        Ok(self.store().commit(batch).await?.is_applied())
    }

    /// The error about an offer that is not in the active tables.
    async fn not_active(&self, id: OfferId) -> Result<Error> {
        let offer = self.get(id).await?;
        Ok(Error::Closed(id, offer.status.as_known().unwrap_or_default()))
    }

    /// After a conflict: refuses an offer if another one has its id in the feed. If the same call
    /// was completed meanwhile, that offer is its own.
    async fn require_no_duplicate(&self, conflicts: &[Key], offer: &StoredOffer) -> Result<()> {
        if conflicts.iter().any(is_of_call) {
            return Ok(());
        }
        let Some(key) = external_key(&offer.offer, self.shard_of_seller(&offer.offer.seller)) else {
            return Ok(());
        };
        let row = self.store().get_one(&key).await?;
        match (row, lists::feed_of(&offer.offer)) {
            (Some(row), Some((namespace, external))) if row.value != offer.offer.id.as_bytes() => {
                Err(Error::ExternalTaken {
                    namespace: namespace.to_owned(),
                    external: external.to_owned(),
                    other: String::from_utf8_lossy(&row.value).into_owned(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Refuses an invalid offer with all violations.
    pub(crate) fn require_valid(&self, offer: &Offer) -> Result<()> {
        let violations = violations(self.catalogue(), offer);
        if violations.is_empty() { Ok(()) } else { Err(Error::Invalid(violations)) }
    }

    #[must_use]
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.inner.parts.catalogue
    }

    #[must_use]
    pub fn config(&self) -> &Config {
        &self.inner.parts.config
    }

    #[must_use]
    pub fn watcher(&self) -> Watcher<StoredOffer> {
        self.inner.parts.watcher.clone()
    }

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

    /// The key of an offer in a table that is divided by its shard.
    pub(crate) fn key(&self, table: &'static Table<(u32, String)>, id: OfferId) -> Key {
        table.key((self.shard(id), &*id.to_string()))
    }

    pub(crate) fn new_id(&self) -> OfferId {
        OfferId::random(&mut *self.inner.random.lock())
    }
}

fn manual() -> Source {
    Source { kind: Some(source::Manual::default().into()), ..Source::default() }
}

/// Parses an id of a row.
pub(crate) fn parse(id: &str) -> Result<OfferId> {
    id.parse()
        .map_err(|error: crate::WrongId| Error::Damaged { place: id.to_owned(), detail: error.to_string() })
}

fn require_fit(id: OfferId, offer: &Offer) -> Result<()> {
    let bytes = offer.encoded_len() as usize;
    if bytes > OFFER_BYTES_MAX { Err(Error::TooLarge { id, bytes, max: OFFER_BYTES_MAX }) } else { Ok(()) }
}

pub(crate) fn answer(stored: StoredOffer, version: u64) -> Offer {
    Offer { version, ..stored.offer }
}

/// The offer of a row of the active table or the archive.
pub(crate) fn from_row(row: &Row) -> Result<Offer> {
    let (offer, _) = crate::row::decode(&row.value).map_err(|error| damaged(row, error))?;
    Ok(Offer { version: row.version, ..offer })
}
