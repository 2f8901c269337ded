//! The cabinet: a seller's offers by preset, and how many they are.

use std::collections::BTreeMap;

use contract::torg::offers::v1::{Offer, Preset};
use store::Read;

use crate::counters;
use crate::error::Result;
use crate::id::OfferId;
use crate::offers::Offers;
use crate::presets::{self, name};
use crate::tables::PRESETS;

/// A page of a list.
#[derive(Clone, Debug)]
pub struct Page {
    /// The offers, the newest first.
    pub offers: Vec<Offer>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<Place>,
}

/// A place in a list: when the last offer was made that was seen, and its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// In milliseconds.
    pub created_ms: i64,
    /// The offer.
    pub id: OfferId,
}

impl Offers {
    /// Offers of a seller in a preset, the newest first, behind a place.
    ///
    /// A place is a time and an id, not a number: offers that come and go meanwhile move nothing, so none comes twice and none that stays is left out.
    pub async fn list(
        &self,
        seller: &str,
        preset: Preset,
        after: Option<&Place>,
        limit: usize,
    ) -> Result<Page> {
        let shard = self.shard_of_seller(seller);
        let mut scan = PRESETS.prefix((shard, seller, name(preset))).descending().limit(limit.max(1));
        if let Some(Place { created_ms, id }) = after {
            scan = scan.after(PRESETS.key((shard, seller, name(preset), *created_ms, &*id.to_string())));
        }
        let page = self.store().scan(&scan).await?;
        let (mut offers, mut last) = (Vec::with_capacity(page.rows.len()), None);
        for row in &page.rows {
            let (.., created_ms, id) = PRESETS.parts(&row.key)?;
            let Ok(id) = id.parse::<OfferId>() else { continue };
            last = Some(Place { created_ms, id });
            match self.get(id).await {
                Ok(offer) => offers.push(offer),
                // It left meanwhile.
                Err(crate::Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Page { offers, next: last.filter(|_| page.next.is_some()) })
    }

    /// How many offers each preset has.
    pub async fn counts(&self, seller: &str) -> Result<BTreeMap<&'static str, i64>> {
        let counters = counters::of_seller(self.store(), self.shard_of_seller(seller), seller).await?;
        Ok(presets::ALL.map(|preset| (name(preset), counters.get(name(preset)).copied().unwrap_or(0))).into())
    }

    /// How many offers a seller has sold so far, and what they earned, by currency, in millionths.
    pub async fn sold(&self, seller: &str) -> Result<(i64, BTreeMap<String, i64>)> {
        let counters = counters::of_seller(self.store(), self.shard_of_seller(seller), seller).await?;
        let earned = counters
            .iter()
            .filter_map(|(name, amount)| Some((name.strip_prefix(counters::EARNED)?.to_owned(), *amount)));
        Ok((counters.get(counters::SOLD).copied().unwrap_or(0), earned.collect()))
    }
}
