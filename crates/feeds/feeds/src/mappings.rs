//! Maps sellers' categories to the catalogue: as recognised in the last file, or as the seller or
//! support decided.

use std::collections::BTreeMap;

use buffa::Message as _;
use store::{Batch, Outcome, Read as _};
use unify::path_key;
use wire::torg::feeds::v1::Mapping as Row;

use crate::error::{Result, damaged, invalid};
use crate::feeds::Feeds;
use crate::limits::{MAPPING_KEY_BYTES_MAX, MAPPINGS_MAX};
use crate::process::recognitions::Recognitions;
use crate::tables::MAPPINGS;

/// Mappings of one read or commit.
const PAGE: usize = 200;

/// The category of the catalogue for one of a seller's categories.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    pub path: Vec<String>,
    pub category: String,
    /// Who decided it; empty if it was recognised.
    pub author: String,
    /// A decision applies to all offers of the seller's category. Without one, each offer is
    /// recognised.
    pub by_hand: bool,
    /// The part of the offers of the last file that were recognised so, from 0 to 1. 1 for a
    /// decision.
    pub score: f64,
}

impl Feeds {
    /// The decisions for a seller, by the key of the path.
    pub(crate) async fn mappings(&self, seller: &str) -> Result<BTreeMap<String, String>> {
        let mut decided = BTreeMap::new();
        for (key, mapping) in self.all_mappings(seller).await? {
            if mapping.by_hand {
                decided.insert(key, mapping.category);
            }
        }
        Ok(decided)
    }

    async fn all_mappings(&self, seller: &str) -> Result<BTreeMap<String, Mapping>> {
        let (mut all, mut after) = (BTreeMap::new(), String::new());
        loop {
            let page = self.list_mappings(seller, &after, PAGE).await?;
            let Some((last, _)) = page.last() else { return Ok(all) };
            after.clone_from(last);
            all.extend(page);
        }
    }

    /// Saves the recognitions of a file, except where there is a decision.
    pub(crate) async fn remember_recognitions(&self, seller: &str, found: &Recognitions) -> Result<()> {
        let (known, shard) = (self.all_mappings(seller).await?, self.seller_shard(seller));
        let (mut batch, mut count) = (Batch::new(), known.len());
        for (key, own) in found.all() {
            let Some((category, score)) = own.mostly() else { continue };
            let is_news = match known.get(key) {
                Some(_) if found.is_partial() => false,
                Some(known) => {
                    !known.by_hand && (known.category != category || known.score.to_bits() != score.to_bits())
                }
                None => count < MAPPINGS_MAX && key.len() <= MAPPING_KEY_BYTES_MAX,
            };
            if !is_news {
                continue;
            }
            count += usize::from(!known.contains_key(key));
            let row = Row { path: own.path.clone(), category: category.to_owned(), score, ..Row::default() };
            let key = MAPPINGS.key((shard, seller, &**key));
            let now = self.store().get_one(&key).await?;
            // A concurrent decision is not overwritten.
            let decided = now.as_ref().map(read).transpose()?.is_some_and(|row| row.by_hand);
            if decided {
                continue;
            }
            let version = now.map_or(0, |row| row.version);
            batch.check(key.clone(), version).put(key, version + 1, row.encode_to_vec());
            if batch.writes().len() == PAGE {
                let _: Outcome = self.store().commit(std::mem::take(&mut batch)).await?;
            }
        }
        let _: Outcome = self.store().commit(batch).await?;
        Ok(())
    }

    /// A seller's mappings with their keys, in the order of keys, those after `after`.
    pub async fn list_mappings(
        &self,
        seller: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, Mapping)>> {
        let shard = self.seller_shard(seller);
        let mut scan = MAPPINGS.prefix((shard, seller)).limit(limit);
        if !after.is_empty() {
            scan = scan.after(MAPPINGS.key((shard, seller, after)));
        }
        let rows = self.store().scan(&scan).await?.rows;
        let mapping = |row: &store::Row| {
            let (_, _, key) = MAPPINGS.parts(&row.key)?;
            let Row { path, category, author, by_hand, score, .. } = read(row)?;
            Ok((key, Mapping { path, category, author, by_hand, score }))
        };
        rows.iter().map(mapping).collect()
    }

    /// Decides a mapping from the next load on; an empty category deletes it.
    pub async fn set_mapping(&self, seller: &str, mapping: &Mapping) -> Result<()> {
        let path: Vec<&str> = mapping.path.iter().map(String::as_str).collect();
        let key = path_key(&path);
        if key.is_empty() || key.len() > MAPPING_KEY_BYTES_MAX {
            let text = format!(
                "expected the names of the seller's category, together at most {MAPPING_KEY_BYTES_MAX} bytes"
            );
            return Err(invalid("path", text));
        }
        let catalogue = self.deps.offers.catalogue();
        if !mapping.category.is_empty() && catalogue.category(&mapping.category).is_none() {
            return Err(invalid("category", format!("the catalogue has no category {:?}", mapping.category)));
        }
        let key = MAPPINGS.key((self.seller_shard(seller), seller, &*key));
        let version = self.store().get_one(&key).await?.map_or(0, |row| row.version);
        if version == 0 && self.all_mappings(seller).await?.len() >= MAPPINGS_MAX {
            return Err(invalid("path", format!("a seller has at most {MAPPINGS_MAX} mapped categories")));
        }
        let mut batch = Batch::new();
        if mapping.category.is_empty() {
            batch.delete(key);
        } else {
            let row = Row {
                path: mapping.path.clone(),
                category: mapping.category.clone(),
                author: mapping.author.clone(),
                by_hand: true,
                score: 1.0,
                ..Row::default()
            };
            batch.put(key, version + 1, row.encode_to_vec());
        }
        // The last decision wins.
        let _: Outcome = self.store().commit(batch).await?;
        Ok(())
    }
}

fn read(row: &store::Row) -> Result<Row> {
    Row::decode_from_slice(&row.value).map_err(|error| damaged(row, error))
}
