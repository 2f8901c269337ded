//! Drafts: incomplete offers, one for each owner.
//!
//! A draft has the id of its future offer, so that publishing it twice gives the same offer. A
//! deleted draft leaves an empty row for some time: a writer that read the draft cannot overwrite
//! the next one.

mod rule;

use buffa::Message;
use store::{Batch, Key, Read, Row};
use watcher::{Time, shard_of};
use wire::torg::offers::v1::{Draft, Offer, StoredDraft};

pub use rule::{Decision, DraftOwner, DraftSummary, decide};

use crate::call::{Call, Ticket};
use crate::error::{Error, Result, damaged};
use crate::id::OfferId;
use crate::limits::{ATTEMPTS_MAX, OFFER_BYTES_MAX};
use crate::offers::{Offers, parse};
use crate::tables::DRAFTS;
use crate::time;

/// A seller, an anonymous visitor, or a seller who was anonymous before logging in.
#[derive(Clone, Debug, Default)]
pub struct Owner {
    pub seller: Option<String>,
    /// The id of the anonymous visitor.
    pub anonymous: Option<String>,
}

/// A row of the table of drafts.
struct DraftRow {
    key: Key,
    version: u64,
    /// `None` if there is no draft.
    draft: Option<StoredDraft>,
}

/// The rows of an owner.
struct DraftRows {
    logged_in: Option<DraftRow>,
    anonymous: Option<DraftRow>,
}

impl Offers {
    /// Returns the draft of an owner by the rules of [`decide`]; creates one if there is none.
    pub async fn open_draft(&self, owner: &Owner, category: Option<&str>) -> Result<Draft> {
        for _ in 0..ATTEMPTS_MAX {
            let rows = Box::pin(self.draft_rows(owner)).await?;
            let of = |whose| rows.draft(whose).map(summary);
            let (seller, visitor) = (of(DraftOwner::LoggedIn), of(DraftOwner::Anonymous));
            let decision = decide(category, seller.as_ref(), visitor.as_ref());
            let now_ms = self.now().as_ms();
            let draft = match decision {
                Decision::Create => self.new_draft(category, now_ms),
                Decision::Keep(whose) => rows.draft(whose).cloned().unwrap_or_default(),
                Decision::Reset(whose) => {
                    let StoredDraft { offer, created_ms, .. } =
                        rows.draft(whose).cloned().unwrap_or_default();
                    let id = offer.as_option().map(|offer| offer.id.clone()).unwrap_or_default();
                    StoredDraft {
                        offer: Some(blank(id, category)).into(),
                        created_ms,
                        updated_ms: now_ms,
                        ..StoredDraft::default()
                    }
                }
            };
            if let Some(draft) = Box::pin(self.keep_only(rows, draft)).await? {
                return Ok(draft);
            }
        }
        Err(Error::Contended(self.new_id()))
    }

    /// Changes a draft. It need not be complete or valid.
    pub async fn update_draft(
        &self,
        call: &Call,
        owner: &Owner,
        id: OfferId,
        version: Option<u64>,
        change: impl Fn(&mut Offer) -> Result<()>,
    ) -> Result<Draft> {
        for _ in 0..ATTEMPTS_MAX {
            let row = self.draft_row(owner, id).await?.ok_or(Error::NoDraft(id))?;
            // After the draft: a draft that this call has changed already must not fail its version
            // check.
            let ticket = self.ticket(call).await?;
            if matches!(ticket, Ticket::Done(_)) {
                let row = self.draft_row(owner, id).await?.ok_or(Error::NoDraft(id))?;
                return Ok(shown(row.draft.unwrap_or_default(), row.version));
            }
            let mut draft = row.draft.clone().unwrap_or_default();
            if let Some(expected) = version.filter(|expected| *expected != row.version) {
                return Err(Error::OtherVersion { id, expected, actual: row.version });
            }
            let offer = draft.offer.get_or_insert_default();
            change(offer)?;
            offer.id = id.to_string();
            draft.updated_ms = self.now().as_ms();
            let mut batch = Batch::new();
            ticket.done(&mut batch, &id.to_string());
            row.put(&mut batch, id, &draft)?;
            if self.store().commit(batch).await?.is_applied() {
                return Ok(shown(draft, row.version + 1));
            }
        }
        Err(Error::Contended(id))
    }

    /// Turns a draft into an offer. Repeated and concurrent calls return the same offer.
    pub async fn publish_draft(&self, call: &Call, owner: &Owner, id: OfferId) -> Result<Offer> {
        let Some(seller) = &owner.seller else { return Err(Error::NoSeller) };
        let mut offer_id = id;
        for _ in 0..ATTEMPTS_MAX {
            let Some(row) = self.draft_row(owner, id).await? else {
                return self.published(seller, id).await;
            };
            let draft = row.draft.clone().unwrap_or_default();
            let offer = Offer { seller: seller.clone(), ..draft.offer.into_option().unwrap_or_default() };
            self.require_valid(&offer)?;
            let stored = self.fresh(call, offer_id, offer)?;
            let mut batch = Batch::new();
            row.clear(&mut batch);
            if let Some(offer) = self.insert(batch, stored).await? {
                return Ok(offer);
            }
            // Another call published or changed the draft, or another offer happens to have the id.
            if self.get_many(&[offer_id]).await?.iter().any(Option::is_some) {
                offer_id = self.new_id();
            }
        }
        Err(Error::Contended(id))
    }

    /// Deletes a draft if it exists.
    pub async fn delete_draft(&self, owner: &Owner, id: OfferId) -> Result<()> {
        for _ in 0..ATTEMPTS_MAX {
            let Some(row) = self.draft_row(owner, id).await? else { return Ok(()) };
            let mut batch = Batch::new();
            row.clear(&mut batch);
            if self.store().commit(batch).await?.is_applied() {
                return Ok(());
            }
        }
        Err(Error::Contended(id))
    }

    /// The offer that a draft of this seller became.
    async fn published(&self, seller: &str, id: OfferId) -> Result<Offer> {
        let offer = self.get_many(&[id]).await?.pop().flatten();
        offer.filter(|offer| offer.seller == seller).ok_or(Error::NoDraft(id))
    }

    fn new_draft(&self, category: Option<&str>, now_ms: i64) -> StoredDraft {
        let offer = Some(blank(self.new_id().to_string(), category)).into();
        StoredDraft { offer, created_ms: now_ms, updated_ms: now_ms, ..StoredDraft::default() }
    }

    /// Saves this draft as the only one of its owner, as the seller's if there is one; `None` on a
    /// conflict.
    async fn keep_only(&self, rows: DraftRows, draft: StoredDraft) -> Result<Option<Draft>> {
        let id = parse(draft.offer.as_option().map(|offer| &*offer.id).unwrap_or_default())?;
        let (home, other) = match (rows.logged_in, rows.anonymous) {
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

    async fn draft_rows(&self, owner: &Owner) -> Result<DraftRows> {
        let key = |owner: String| DRAFTS.key((shard_of(&owner, self.shards()), &*owner));
        let logged_in = owner.seller.as_ref().map(|seller| key(format!("s:{seller}")));
        let anonymous = owner.anonymous.as_ref().map(|anonymous| key(format!("a:{anonymous}")));
        let keys: Vec<Key> = [&logged_in, &anonymous].into_iter().flatten().cloned().collect();
        let mut rows = self.store().get(&keys).await?.into_iter();
        let mut row = |key: Option<Key>| -> Result<Option<DraftRow>> {
            key.map(|key| DraftRow::read(key, rows.next().flatten())).transpose()
        };
        Ok(DraftRows { logged_in: row(logged_in)?, anonymous: row(anonymous)? })
    }

    /// The row of an owner that has the draft of this id.
    async fn draft_row(&self, owner: &Owner, id: OfferId) -> Result<Option<DraftRow>> {
        let DraftRows { logged_in, anonymous } = self.draft_rows(owner).await?;
        let id = id.to_string();
        let has_it = |row: &DraftRow| {
            let offer = row.draft.as_ref().and_then(|draft| draft.offer.as_option());
            offer.is_some_and(|offer| offer.id == id)
        };
        Ok([logged_in, anonymous].into_iter().flatten().find(has_it))
    }
}

impl DraftRow {
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

    fn clear(&self, batch: &mut Batch) {
        let draft = self.draft.clone().unwrap_or_default();
        let gone = StoredDraft { offer: None.into(), ..draft };
        let key = self.key.clone();
        batch.check(key.clone(), self.version).put(key, self.version + 1, gone.encode_to_vec());
    }
}

impl DraftRows {
    fn draft(&self, whose: DraftOwner) -> Option<&StoredDraft> {
        let row = match whose {
            DraftOwner::LoggedIn => &self.logged_in,
            DraftOwner::Anonymous => &self.anonymous,
        };
        row.as_ref()?.draft.as_ref()
    }
}

fn blank(id: String, category: Option<&str>) -> Offer {
    Offer { id, category: category.unwrap_or_default().to_owned(), ..Offer::default() }
}

fn summary(draft: &StoredDraft) -> DraftSummary {
    let category = draft.offer.as_option().map(|offer| offer.category.clone()).unwrap_or_default();
    DraftSummary { category, updated_ms: draft.updated_ms }
}

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
