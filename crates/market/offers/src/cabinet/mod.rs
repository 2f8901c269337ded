//! The cabinet of a seller: lists of offers by preset and filter, and counters.

mod facets;
mod filter;

use std::collections::BTreeMap;

use buffa::Message;
use store::{Key, Read, Row};
use wire::torg::offers::v1::{Card, Offer, Preset};

pub use filter::{Filter, PriceFilter};

use crate::error::{Result, damaged};
use crate::id::OfferId;
use crate::offers::{Offers, parse};
use crate::presets::{self, name};
use crate::tables::{EXTERNALS, PRESETS};
use crate::{counters, lists};

#[derive(Clone, Debug)]
pub struct Page {
    /// Newest first.
    pub offers: Vec<Offer>,
    /// `None` at the end of the list.
    pub next: Option<Cursor>,
}

/// A position in a list: the last offer that was examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub created_ms: i64,
    pub id: OfferId,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Present offers by preset.
    pub now: BTreeMap<&'static str, i64>,
    /// Offers that were ever sold.
    pub sold: i64,
    /// Money earned, in millionths by currency.
    pub money: BTreeMap<String, i64>,
}

#[derive(Clone, Copy)]
pub(crate) struct List<'a> {
    pub(crate) shard: u32,
    pub(crate) seller: &'a str,
    pub(crate) preset: Preset,
}

impl List<'_> {
    fn key(&self, Cursor { created_ms, id }: Cursor) -> Key {
        PRESETS.key((self.shard, self.seller, name(self.preset), created_ms, &*id.to_string()))
    }
}

impl Offers {
    /// A page of a seller's offers in a preset, newest first, behind a cursor.
    ///
    /// A cursor is a time and an id, not a number: offers that come and go meanwhile cause neither
    /// repetitions nor gaps. With a filter, a page that is not the last may have fewer than `limit`
    /// offers, or none.
    pub async fn list(
        &self,
        seller: &str,
        preset: Preset,
        filter: &Filter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page> {
        let list = List { shard: self.shard_of_seller(seller), seller, preset };
        if let Some((namespace, external)) = filter.external() {
            let offers = match namespace.filter(|_| after.is_none()) {
                Some(namespace) => self.by_external_id(list, filter, namespace, external).await?,
                None => Vec::new(),
            };
            return Ok(Page { offers, next: None });
        }
        let (cursors, next) = if filter.is_empty() {
            self.unfiltered(list, after, limit.max(1)).await?
        } else {
            self.filtered(list, filter, after, limit.max(1)).await?
        };
        let ids: Vec<OfferId> = cursors.iter().map(|cursor| cursor.id).collect();
        // Offers that were removed meanwhile are skipped.
        let offers = self.get_many(&ids).await?.into_iter().flatten().collect();
        Ok(Page { offers, next })
    }

    /// The offer with this id in a feed, if it is in the list and fits the filter.
    async fn by_external_id(
        &self,
        List { shard, seller, preset }: List<'_>,
        filter: &Filter,
        namespace: &str,
        external: &str,
    ) -> Result<Vec<Offer>> {
        let row = self.store().get_one(&EXTERNALS.key((shard, seller, namespace, external))).await?;
        let Some(row) = row else { return Ok(Vec::new()) };
        let id = parse(&String::from_utf8_lossy(&row.value))?;
        let listed = |offer: &Offer| {
            let status = offer.status.as_known().unwrap_or_default();
            presets::presets_of(status).contains(&preset)
                && filter.fits(&lists::card(offer), self.catalogue())
        };
        Ok(self.get_many(&[id]).await?.into_iter().flatten().filter(listed).collect())
    }

    /// Positions in a preset, newest first.
    async fn unfiltered(
        &self,
        list: List<'_>,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<(Vec<Cursor>, Option<Cursor>)> {
        let List { shard, seller, preset } = list;
        let mut scan = PRESETS.prefix((shard, seller, name(preset))).descending().limit(limit);
        if let Some(cursor) = after {
            scan = scan.after(list.key(cursor));
        }
        let page = self.store().scan(&scan).await?;
        let cursors = page.rows.iter().map(cursor).collect::<Result<Vec<_>>>()?;
        let next = page.next.is_some().then(|| cursors.last().copied()).flatten();
        Ok((cursors, next))
    }

    /// The number of offers by preset.
    pub async fn counts(&self, seller: &str) -> Result<BTreeMap<&'static str, i64>> {
        Ok(self.counters(seller).await?.now)
    }

    pub async fn counters(&self, seller: &str) -> Result<Counters> {
        let counters = counters::of_seller(self.store(), self.shard_of_seller(seller), seller).await?;
        let of = |name: &str| counters.get(name).copied().unwrap_or(0);
        let money = counters
            .iter()
            .filter_map(|(name, amount)| Some((name.strip_prefix(counters::EARNED)?.to_owned(), *amount)));
        let now = presets::ALL.map(|preset| (name(preset), of(name(preset)))).into();
        Ok(Counters { now, sold: of(counters::SOLD), money: money.collect() })
    }
}

fn cursor(row: &Row) -> Result<Cursor> {
    let (.., created_ms, id) = PRESETS.parts(&row.key)?;
    Ok(Cursor { created_ms, id: parse(&id)? })
}

fn card(row: &Row) -> Result<Card> {
    Card::decode_from_slice(&row.value).map_err(|error| damaged(row, error))
}
