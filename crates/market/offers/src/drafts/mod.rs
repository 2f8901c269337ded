//! Drafts: incomplete offers, one for each owner.
//!
//! A draft has the id that its offer will have: that is how publishing it twice gives the same offer. Of a draft that is gone an empty row stays
//! for a while, so that whoever saw it cannot write over the next one.

mod rule;

use buffa::Message;
use store::{Batch, Key, Read, Row};
use watcher::{Time, shard_of};
use wire::torg::offers::v1::{Draft, Offer, StoredDraft};

pub use rule::{Decision, Seen, Whose, decide};

use crate::call::{Call, Ticket};
use crate::error::{Error, Result, damaged};
use crate::id::OfferId;
use crate::limits::{ATTEMPTS_MAX, OFFER_BYTES_MAX};
use crate::offers::{Offers, parse};
use crate::tables::DRAFTS;
use crate::time;

/// Whose draft: a seller's, an anonymous visitor's, or that of somebody who was anonymous and is logged in by now.
#[derive(Clone, Debug, Default)]
pub struct Owner {
    /// The seller who is logged in.
    pub seller: Option<String>,
    /// What the anonymous visitor is known by.
    pub anonymous: Option<String>,
}

/// A row of drafts as it was read.
struct Place {
    key: Key,
    version: u64,
    /// `None` if there is no draft.
    draft: Option<StoredDraft>,
}

/// Both rows of an owner.
struct Places {
    logged_in: Option<Place>,
    anonymous: Option<Place>,
}

impl Offers {
    /// The draft of an owner, by the three rules ([`decide`]).
    pub async fn open_draft(&self, owner: &Owner, category: Option<&str>) -> Result<Draft> {
        for _ in 0..ATTEMPTS_MAX {
            let places = Box::pin(self.draft_places(owner)).await?;
            let of = |place: &Option<Place>| place.as_ref().and_then(|place| place.draft.as_ref()).map(seen);
            let decision = decide(category, of(&places.logged_in).as_ref(), of(&places.anonymous).as_ref());
            let now_ms = self.now().as_ms();
            let draft = match decision {
                Decision::Make => self.new_draft(category, now_ms),
                Decision::Keep(whose) => places.draft(whose).cloned().unwrap_or_default(),
                Decision::Reset(whose) => {
                    let StoredDraft { offer, created_ms, .. } =
                        places.draft(whose).cloned().unwrap_or_default();
                    let id = offer.as_option().map(|offer| offer.id.clone()).unwrap_or_default();
                    StoredDraft {
                        offer: Some(blank(id, category)).into(),
                        created_ms,
                        updated_ms: now_ms,
                        ..StoredDraft::default()
                    }
                }
            };
            if let Some(draft) = Box::pin(self.settle(places, draft)).await? {
                return Ok(draft);
            }
        }
        Err(Error::Contended(self.new_id()))
    }

    /// Changes a draft. It need not be complete, nor right.
    pub async fn update_draft(
        &self,
        call: &Call,
        owner: &Owner,
        id: OfferId,
        version: Option<u64>,
        change: impl Fn(&mut Offer) -> Result<()>,
    ) -> Result<Draft> {
        for _ in 0..ATTEMPTS_MAX {
            let place = self.draft_place(owner, id).await?.ok_or(Error::NoDraft(id))?;
            // After the draft, so that what this very call did is not taken for somebody else's change.
            let ticket = self.ticket(call).await?;
            if matches!(ticket, Ticket::Done(_)) {
                let place = self.draft_place(owner, id).await?.ok_or(Error::NoDraft(id))?;
                return Ok(shown(place.draft.unwrap_or_default(), place.version));
            }
            let mut draft = place.draft.clone().unwrap_or_default();
            if let Some(expected) = version.filter(|expected| *expected != place.version) {
                return Err(Error::OtherVersion { id, expected, actual: place.version });
            }
            let offer = draft.offer.get_or_insert_default();
            change(offer)?;
            offer.id = id.to_string();
            draft.updated_ms = self.now().as_ms();
            let mut batch = Batch::new();
            ticket.done(&mut batch, &id.to_string());
            place.put(&mut batch, id, &draft)?;
            if self.store().commit(batch).await?.is_applied() {
                return Ok(shown(draft, place.version + 1));
            }
        }
        Err(Error::Contended(id))
    }

    /// Turns a draft into an offer, once: called again, or by two at a time, it gives the same offer.
    pub async fn publish_draft(&self, call: &Call, owner: &Owner, id: OfferId) -> Result<Offer> {
        let Some(seller) = &owner.seller else { return Err(Error::NoSeller) };
        let mut offer_id = id;
        for _ in 0..ATTEMPTS_MAX {
            let Some(place) = self.draft_place(owner, id).await? else {
                return self.published(seller, id).await;
            };
            let draft = place.draft.clone().unwrap_or_default();
            let offer = Offer { seller: seller.clone(), ..draft.offer.into_option().unwrap_or_default() };
            self.require_valid(&offer)?;
            let stored = self.fresh(call, offer_id, offer)?;
            let mut batch = Batch::new();
            place.clear(&mut batch);
            if let Some(offer) = self.insert(batch, stored).await? {
                return Ok(offer);
            }
            // Somebody was faster, or changed the draft; or the id is taken, by one chance in a million million.
            if self.get_many(&[offer_id]).await?.iter().any(Option::is_some) {
                offer_id = self.new_id();
            }
        }
        Err(Error::Contended(id))
    }

    /// Erases a draft. One that is gone already is no error.
    pub async fn delete_draft(&self, owner: &Owner, id: OfferId) -> Result<()> {
        for _ in 0..ATTEMPTS_MAX {
            let Some(place) = self.draft_place(owner, id).await? else { return Ok(()) };
            let mut batch = Batch::new();
            place.clear(&mut batch);
            if self.store().commit(batch).await?.is_applied() {
                return Ok(());
            }
        }
        Err(Error::Contended(id))
    }

    /// The offer that a draft became, if it is this seller's.
    async fn published(&self, seller: &str, id: OfferId) -> Result<Offer> {
        let offer = self.get_many(&[id]).await?.pop().flatten();
        offer.filter(|offer| offer.seller == seller).ok_or(Error::NoDraft(id))
    }

    fn new_draft(&self, category: Option<&str>, now_ms: i64) -> StoredDraft {
        let offer = Some(blank(self.new_id().to_string(), category)).into();
        StoredDraft { offer, created_ms: now_ms, updated_ms: now_ms, ..StoredDraft::default() }
    }

    /// Leaves an owner with this one draft, under the seller's name if there is one; `None` if something is different by now.
    async fn settle(&self, places: Places, draft: StoredDraft) -> Result<Option<Draft>> {
        let id = parse(draft.offer.as_option().map(|offer| &*offer.id).unwrap_or_default())?;
        let (home, other) = match (places.logged_in, places.anonymous) {
            (Some(home), other) => (home, other),
            (None, Some(home)) => (home, None),
            (None, None) => return Err(Error::NoSeller),
        };
        let mut batch = Batch::new();
        let mut version = home.version;
        if home.draft.as_ref() != Some(&draft) {
            home.put(&mut batch, id, &draft)?;
            version += 1;
        }
        match other {
            Some(other) if other.draft.is_some() => other.clear(&mut batch),
            Some(other) => _ = batch.check(other.key, other.version),
            None => {}
        }
        let applied = batch.writes().is_empty() || self.store().commit(batch).await?.is_applied();
        Ok(applied.then(|| shown(draft, version)))
    }

    async fn draft_places(&self, owner: &Owner) -> Result<Places> {
        let key = |owner: String| DRAFTS.key((shard_of(&owner, self.shards()), &*owner));
        let logged_in = owner.seller.as_ref().map(|seller| key(format!("s:{seller}")));
        let anonymous = owner.anonymous.as_ref().map(|anonymous| key(format!("a:{anonymous}")));
        let keys: Vec<Key> = [&logged_in, &anonymous].into_iter().flatten().cloned().collect();
        let mut rows = self.store().get(&keys).await?.into_iter();
        let mut place = |key: Option<Key>| -> Result<Option<Place>> {
            key.map(|key| Place::read(key, rows.next().flatten())).transpose()
        };
        Ok(Places { logged_in: place(logged_in)?, anonymous: place(anonymous)? })
    }

    /// The row of an owner that has the draft of this id.
    async fn draft_place(&self, owner: &Owner, id: OfferId) -> Result<Option<Place>> {
        let Places { logged_in, anonymous } = self.draft_places(owner).await?;
        let id = id.to_string();
        let has_it = |place: &Place| {
            let offer = place.draft.as_ref().and_then(|draft| draft.offer.as_option());
            offer.is_some_and(|offer| offer.id == id)
        };
        Ok([logged_in, anonymous].into_iter().flatten().find(has_it))
    }
}

impl Place {
    fn read(key: Key, row: Option<Row>) -> Result<Self> {
        let Some(row) = row else { return Ok(Self { key, version: 0, draft: None }) };
        let draft = StoredDraft::decode_from_slice(&row.value).map_err(|error| damaged(&row, error))?;
        Ok(Self { key, version: row.version, draft: draft.offer.is_set().then_some(draft) })
    }

    fn put(&self, batch: &mut Batch, id: OfferId, draft: &StoredDraft) -> Result<()> {
        let encoded = draft.encode_to_vec();
        if encoded.len() > OFFER_BYTES_MAX {
            return Err(Error::TooLarge { id, bytes: encoded.len(), max: OFFER_BYTES_MAX });
        }
        batch.check(self.key.clone(), self.version).put(self.key.clone(), self.version + 1, encoded);
        Ok(())
    }

    /// Adds that there is no draft any more.
    fn clear(&self, batch: &mut Batch) {
        let draft = self.draft.clone().unwrap_or_default();
        let gone = StoredDraft { offer: None.into(), ..draft };
        batch.check(self.key.clone(), self.version).put(
            self.key.clone(),
            self.version + 1,
            gone.encode_to_vec(),
        );
    }
}

impl Places {
    fn draft(&self, whose: Whose) -> Option<&StoredDraft> {
        let place = match whose {
            Whose::LoggedIn => &self.logged_in,
            Whose::Anonymous => &self.anonymous,
        };
        place.as_ref()?.draft.as_ref()
    }
}

fn blank(id: String, category: Option<&str>) -> Offer {
    Offer { id, category: category.unwrap_or_default().to_owned(), ..Offer::default() }
}

fn seen(draft: &StoredDraft) -> Seen {
    let category = draft.offer.as_option().map(|offer| offer.category.clone()).unwrap_or_default();
    Seen { category, updated_ms: draft.updated_ms }
}

/// A draft as callers see it.
fn shown(draft: StoredDraft, version: u64) -> Draft {
    let time = |ms| Some(time::from_time(Time::from_ms(ms))).into();
    Draft {
        id: draft.offer.as_option().map(|offer| offer.id.clone()).unwrap_or_default(),
        create_time: time(draft.created_ms),
        update_time: time(draft.updated_ms),
        offer: draft.offer,
        version,
        ..Draft::default()
    }
}
