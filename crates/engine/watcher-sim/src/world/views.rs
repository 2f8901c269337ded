//! The parts of the world that actors may see.

use std::collections::{BTreeMap, BTreeSet};

use watcher::insight::{CrawlOrder, Entry, RowKey};

use super::World;
use crate::stages::Kind;
use crate::tables::{Stored, entry_key};

impl World {
    /// The entries of an entity, by stage.
    pub(crate) fn entries(&self, shard: u32, entity: &str) -> BTreeMap<&'static str, Stored> {
        let inner = self.inner();
        let row =
            |kind: Kind| Some((kind.id(), inner.tables.get(&entry_key(shard, entity, kind.id()))?.clone()));
        Kind::ALL.into_iter().filter_map(row).collect()
    }

    /// Everything that a stage has parked: shards, entities and the versions of their entries.
    pub(crate) fn parked(&self, stage: &str) -> BTreeSet<(u32, String, u64)> {
        let inner = self.inner();
        let parked = |(place, row): (RowKey, &Stored)| match place {
            RowKey::Entry { shard, entity, stage: of } if of == stage && row.read::<Entry>().parked => {
                Some((shard, entity, row.version))
            }
            _ => None,
        };
        inner.tables.places().filter_map(parked).collect()
    }

    /// The last re-crawl, and whether it is done in all shards.
    pub(crate) fn crawl(&self, shards: u32) -> (CrawlOrder, bool) {
        let inner = self.inner();
        let is_done = (0..shards).all(|shard| inner.tables.crawled(shard).done);
        (inner.tables.crawl(), is_done)
    }
}
