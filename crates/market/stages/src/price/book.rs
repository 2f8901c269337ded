//! Prices of active offers by group, in the store.
//!
//! A group has a part for each partition of the topic of changes. Each part has one writer, except
//! during the first reading of all offers ([`fill`](Prices::fill)). Offers are spread over
//! partitions by id, so each part is a fair sample.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use catalog::Catalogue;
use store::{Batch, Key, Read, Store};
use topics::{Topics, partition_of};
use wire::torg::offers::v1::{Offer, Status};
use xxhash_rust::xxh3::xxh3_64;

use super::group::{Group, currency_of, fixed_price, groups_of};
use super::statistics::{confidence, quartiles};
use super::tables::{Member, Part, group_key, member_key, read, write};
use super::{Prediction, PriceError, PriceModel};
use crate::limits::{PRICE_PART_MIN, PRICE_SAMPLES_MAX};

/// Cheap to clone.
#[derive(Clone)]
pub struct Prices {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) store: Store,
    pub(super) topics: Topics,
    pub(super) topic: String,
    pub(super) partitions: u32,
    catalogue: Arc<Catalogue>,
    count_min: usize,
}

/// An observed offer: its price and groups; `None` if it does not count.
pub(super) struct Sighting {
    pub(super) id: String,
    pub(super) version: u64,
    counted: Option<(Vec<Group>, i64)>,
}

/// A part of a group being changed.
struct Open {
    part: Part,
    version: u64,
    is_changed: bool,
}

impl Prices {
    /// `topic` has the changes of offers and must exist; the store must have the tables of
    /// [`price_tables`](crate::price_tables). A prediction needs `count_min` other offers.
    pub async fn open(
        store: &Store,
        topics: &Topics,
        topic: &str,
        catalogue: Arc<Catalogue>,
        count_min: usize,
    ) -> Result<Self, PriceError> {
        let partitions = topics.partition_count(topic).await?;
        let (store, topics, topic) = (store.clone(), topics.clone(), topic.to_owned());
        let inner = Inner { store, topics, topic, partitions, catalogue, count_min: count_min.max(1) };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The partitions of the topic.
    #[must_use]
    pub fn partitions(&self) -> u32 {
        self.inner.partitions
    }

    /// `None` for a deleted offer.
    pub(super) fn see(&self, id: &str, version: u64, offer: Option<&Offer>) -> Sighting {
        let counted =
            offer.filter(|offer| offer.status.as_known() == Some(Status::STATUS_ACTIVE)).and_then(|offer| {
                let (micros, currency) = fixed_price(offer)?;
                Some((groups_of(&self.inner.catalogue, offer, currency), micros))
            });
        Sighting { id: id.to_owned(), version, counted }
    }

    /// Adds the changes for these observations, each of another offer, to a batch. Data of a later
    /// version stays.
    pub(super) async fn take_over(&self, batch: &mut Batch, seen: &[Sighting]) -> Result<(), PriceError> {
        let keys: Vec<Key> = seen.iter().map(|one| member_key(&one.id)).collect();
        let rows = self.inner.store.get(&keys).await?;
        let mut moves = Vec::new();
        for (one, row) in seen.iter().zip(&rows) {
            let (before, version) = read::<Member>(row.as_ref())?;
            if before.version <= one.version {
                moves.push((one, before, version));
            }
        }
        let mut parts = self.open_parts(&moves).await?;
        for (one, before, version) in &moves {
            let part = self.part_of(&one.id);
            let after = one.counted.as_ref();
            let groups: Vec<(String, &Group)> =
                after.iter().flat_map(|(groups, _)| groups).map(|group| (group.key(), group)).collect();
            for gone in before.groups.iter().filter(|gone| groups.iter().all(|(key, _)| key != *gone)) {
                if let Some(open) = parts.get_mut(&group_key(gone, part)) {
                    open.remove(&one.id);
                }
            }
            let micros = after.map_or(0, |(_, micros)| *micros);
            let is_news =
                before.micros != micros || !before.groups.iter().eq(groups.iter().map(|(key, _)| key));
            for (key, group) in &groups {
                if let Some(open) = parts.get_mut(&group_key(key, part))
                    && (is_news || open.part.samples.len() < self.part_max())
                {
                    open.put(&group.text, &one.id, micros, self.part_max());
                }
            }
            if is_news {
                let groups = groups.into_iter().map(|(key, _)| key).collect();
                let member = Member { version: one.version, groups, micros };
                note_member(batch, &one.id, *version, &member);
            }
        }
        for (key, open) in parts {
            open.close(batch, key);
        }
        Ok(())
    }

    /// The parts of all groups that these offers leave or join.
    async fn open_parts(
        &self,
        moves: &[(&Sighting, Member, u64)],
    ) -> Result<BTreeMap<Key, Open>, PriceError> {
        let mut keys = Vec::new();
        for (one, before, _) in moves {
            let part = self.part_of(&one.id);
            let after = one.counted.iter().flat_map(|(groups, _)| groups).map(Group::key);
            keys.extend(before.groups.iter().cloned().chain(after).map(|group| group_key(&group, part)));
        }
        keys.sort();
        keys.dedup();
        let rows = self.inner.store.get(&keys).await?;
        let mut parts = BTreeMap::new();
        for (key, row) in keys.into_iter().zip(&rows) {
            let (part, version) = read(row.as_ref())?;
            parts.insert(key, Open { part, version, is_changed: false });
        }
        Ok(parts)
    }

    /// The capacity of a part.
    fn part_max(&self) -> usize {
        (PRICE_SAMPLES_MAX / self.inner.partitions as usize).max(PRICE_PART_MIN)
    }

    fn part_of(&self, id: &str) -> u32 {
        partition_of(id.as_bytes(), self.inner.partitions)
    }

    /// The prices in these groups without one offer, in the order of the groups.
    async fn amounts(&self, groups: &[Group], except: &str) -> Result<Vec<Vec<i64>>, PriceError> {
        let parts = 0..self.inner.partitions;
        let keys: Vec<Key> = groups
            .iter()
            .map(Group::key)
            .flat_map(|group| parts.clone().map(move |part| group_key(&group, part)))
            .collect();
        let rows = self.inner.store.get(&keys).await?;
        let mut all = Vec::with_capacity(groups.len());
        for rows in rows.chunks(self.inner.partitions as usize) {
            let mut amounts = Vec::new();
            for row in rows.iter().flatten() {
                let (part, _) = read::<Part>(Some(row))?;
                let others = part.samples.iter().filter(|(id, _)| id != except);
                amounts.extend(others.map(|(_, micros)| *micros));
            }
            all.push(amounts);
        }
        Ok(all)
    }
}

#[async_trait]
impl PriceModel for Prices {
    /// Uses the first group with enough other offers, the most specific groups first.
    async fn predict(&self, offer: &Offer) -> Result<Option<Prediction>, PriceError> {
        let Some(currency) = currency_of(&self.inner.catalogue, offer) else { return Ok(None) };
        let groups = groups_of(&self.inner.catalogue, offer, currency);
        let amounts = self.amounts(&groups, &offer.id).await?;
        for (group, amounts) in groups.into_iter().zip(amounts) {
            let count = amounts.len();
            if let Some(found) = quartiles(amounts).filter(|_| count >= self.inner.count_min) {
                return Ok(Some(Prediction {
                    low: found.low,
                    median: found.median,
                    high: found.high,
                    currency: currency.to_owned(),
                    count: count as u32,
                    confidence: confidence(count, found),
                    basis: group.basis,
                }));
            }
        }
        Ok(None)
    }
}

impl Open {
    fn put(&mut self, group: &str, id: &str, micros: i64, most: usize) {
        if self.part.samples.iter().any(|(known, amount)| known == id && *amount == micros) {
            return;
        }
        self.part.samples.retain(|(known, _)| known != id);
        self.part.samples.push((id.to_owned(), micros));
        let surplus = self.part.samples.len().saturating_sub(most);
        self.part.samples.drain(..surplus);
        group.clone_into(&mut self.part.group);
        self.is_changed = true;
    }

    fn remove(&mut self, id: &str) {
        let before = self.part.samples.len();
        self.part.samples.retain(|(known, _)| known != id);
        self.is_changed |= self.part.samples.len() != before;
    }

    fn close(self, batch: &mut Batch, key: Key) {
        if !self.is_changed {
            return;
        }
        batch.check(key.clone(), self.version);
        let Some((newest, micros)) = self.part.samples.last() else {
            batch.delete(key);
            return;
        };
        // A recreated row must not repeat an earlier version, which a reader may hold.
        let begins = || (xxh3_64(format!("{newest} {micros}").as_bytes()) >> 2) | 1;
        let version = if self.version == 0 { begins() } else { self.version + 1 };
        batch.put(key, version, write(&self.part));
    }
}

/// Records the groups of an offer.
fn note_member(batch: &mut Batch, id: &str, version: u64, member: &Member) {
    let key = member_key(id);
    batch.check(key.clone(), version);
    if member.groups.is_empty() {
        batch.delete(key);
    } else {
        batch.put(key, version + 1, write(member));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_keeps_the_newest_and_each_offer_once() {
        let mut open = Open { part: Part::default(), version: 0, is_changed: false };
        for (id, micros) in [("a", 1), ("b", 2), ("a", 3), ("c", 4), ("d", 5)] {
            open.put("bikes", id, micros, 3);
        }
        let kept: Vec<(&str, i64)> = open.part.samples.iter().map(|(id, micros)| (&**id, *micros)).collect();
        assert_eq!(kept, [("a", 3), ("c", 4), ("d", 5)]);
        open.is_changed = false;
        open.put("bikes", "c", 4, 3);
        open.remove("b");
        assert!(!open.is_changed, "nothing of that is new");
        open.remove("c");
        assert!(open.is_changed && open.part.samples.len() == 2);
    }
}
