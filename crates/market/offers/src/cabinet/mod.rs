//! The cabinet: a seller's offers by preset, filtered or not, and how many they are.

mod facets;
mod filter;

use std::collections::BTreeMap;

use buffa::Message;
use store::{Read, Row};
use wire::torg::offers::v1::{Card, Offer, Preset};

pub use filter::{Filter, PriceFilter};

use crate::error::{Result, damaged};
use crate::id::OfferId;
use crate::offers::{Offers, parse};
use crate::presets::{self, name};
use crate::tables::{EXTERNALS, PRESETS};
use crate::{counters, lists};

/// A page of a list.
#[derive(Clone, Debug)]
pub struct Page {
    /// The offers, the newest first.
    pub offers: Vec<Offer>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<Place>,
}

/// A place in a list: when the last offer was made that was looked at, and its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// In milliseconds.
    pub created_ms: i64,
    /// The offer.
    pub id: OfferId,
}

/// What a seller has now, and what they have sold and earned so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Offers by preset.
    pub now: BTreeMap<&'static str, i64>,
    /// Offers that were ever sold.
    pub sold: i64,
    /// Money in millionths, by currency.
    pub money: BTreeMap<String, i64>,
}

/// A seller's list.
#[derive(Clone, Copy)]
pub(crate) struct List<'a> {
    pub(crate) shard: u32,
    pub(crate) seller: &'a str,
    pub(crate) preset: Preset,
}

impl Offers {
    /// Offers of a seller in a preset, the newest first, behind a place.
    ///
    /// A place is a time and an id, not a number: offers that come and go meanwhile move nothing, so none comes twice and none that stays is left out.
    /// With a filter a page may have fewer offers than asked for, or none, and still not be the last: [`Page::next`] says so.
    pub async fn list(
        &self,
        seller: &str,
        preset: Preset,
        filter: &Filter,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Page> {
        let list = List { shard: self.shard_of_seller(seller), seller, preset };
        if let Some((namespace, external)) = filter.external() {
            let offers = match namespace.filter(|_| after.is_none()) {
                Some(namespace) => self.of_feed(list, filter, namespace, external).await?,
                None => Vec::new(),
            };
            return Ok(Page { offers, next: None });
        }
        let (places, next) = if filter.is_empty() {
            self.places(list, after, limit.max(1)).await?
        } else {
            self.filtered(list, filter, after, limit.max(1)).await?
        };
        let ids: Vec<OfferId> = places.iter().map(|place| place.id).collect();
        // One that left meanwhile is left out.
        let offers = self.get_many(&ids).await?.into_iter().flatten().collect();
        Ok(Page { offers, next })
    }

    /// The offer that has this id in a feed, if it is in the list and fits: one, or none.
    async fn of_feed(
        &self,
        List { shard, seller, preset }: List<'_>,
        filter: &Filter,
        namespace: &str,
        external: &str,
    ) -> Result<Vec<Offer>> {
        let row = self.store().get(&[EXTERNALS.key((shard, seller, namespace, external))]).await?;
        let Some(row) = row.into_iter().flatten().next() else { return Ok(Vec::new()) };
        let id = parse(&String::from_utf8_lossy(&row.value))?;
        let listed = |offer: &Offer| {
            let status = offer.status.as_known().unwrap_or_default();
            presets::presets_of(status).contains(&preset)
                && filter.fits(&lists::card(offer), self.catalogue())
        };
        Ok(self.get_many(&[id]).await?.into_iter().flatten().filter(listed).collect())
    }

    /// Places of a preset, the newest first.
    async fn places(
        &self,
        list: List<'_>,
        after: Option<Place>,
        limit: usize,
    ) -> Result<(Vec<Place>, Option<Place>)> {
        let List { shard, seller, preset } = list;
        let mut scan = PRESETS.prefix((shard, seller, name(preset))).descending().limit(limit);
        if let Some(Place { created_ms, id }) = after {
            scan = scan.after(PRESETS.key((shard, seller, name(preset), created_ms, &*id.to_string())));
        }
        let page = self.store().scan(&scan).await?;
        let places = page.rows.iter().map(place).collect::<Result<Vec<_>>>()?;
        let next = page.next.is_some().then(|| places.last().copied()).flatten();
        Ok((places, next))
    }

    /// How many offers each preset has.
    pub async fn counts(&self, seller: &str) -> Result<BTreeMap<&'static str, i64>> {
        Ok(self.counters(seller).await?.now)
    }

    /// All counters of a seller, of one moment.
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

/// Where a row of a preset stands in its list.
fn place(row: &Row) -> Result<Place> {
    let (.., created_ms, id) = PRESETS.parts(&row.key)?;
    Ok(Place { created_ms, id: parse(&id)? })
}

/// What a row of a preset says of its offer.
fn card(row: &Row) -> Result<Card> {
    Card::decode_from_slice(&row.value).map_err(|error| damaged(row, error))
}
