//! What the store holds, as the invariants see it, and the effect of one commit.

use std::collections::BTreeMap;

use buffa::Message;
use bytes::Bytes;
use store::{Batch, Key, Write};
use watcher::insight::{self, CrawlOrder, CrawlProgress, Entry, Head, Lease, RowKey, Settings};

use crate::thing::KIND;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) version: u64,
    pub(crate) value: Bytes,
}

impl Stored {
    /// The value as a message. The watcher writes only readable ones.
    pub(crate) fn read<M: Message + Default>(&self) -> M {
        M::decode_from_slice(&self.value).unwrap_or_default()
    }
}

#[derive(Default)]
pub(crate) struct Tables {
    rows: BTreeMap<Key, Stored>,
    /// The number of the commit that wrote or deleted each row last.
    written: BTreeMap<Key, u64>,
    commits: u64,
}

impl Tables {
    pub(crate) fn commits(&self) -> u64 {
        self.commits
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Stored> {
        self.rows.get(key)
    }

    /// All rows of the watcher with their keys.
    pub(crate) fn places(&self) -> impl Iterator<Item = (RowKey, &Stored)> {
        self.rows.iter().filter_map(|(key, row)| Some((insight::row_key_of(key).ok().flatten()?, row)))
    }

    /// Applies a batch whose checks hold; returns what changed.
    pub(crate) fn apply(&mut self, batch: &Batch) -> Vec<Change> {
        self.commits += 1;
        let mut changes: Vec<Change> = Vec::new();
        for (key, write) in batch.writes() {
            let after = match write {
                Write::Put { version, value } => Some(Stored { version: *version, value: value.clone() }),
                Write::Delete | Write::Add(_) => None,
            };
            let before = match &after {
                Some(row) => self.rows.insert(key.clone(), row.clone()),
                None => self.rows.remove(key),
            };
            let written_before = self.written.insert(key.clone(), self.commits).unwrap_or(0);
            if let Some(earlier) = changes.iter_mut().find(|change| change.key == *key) {
                earlier.after = after;
                continue;
            }
            let place = insight::row_key_of(key).ok().flatten();
            changes.push(Change { key: key.clone(), place, before, after, written_before });
        }
        changes
    }

    /// The last re-crawl; the default if there was none.
    pub(crate) fn crawl(&self) -> CrawlOrder {
        let settings = self.get(&insight::settings_key(KIND)).map(Stored::read::<Settings>);
        settings.and_then(|settings| settings.crawl.into_option()).unwrap_or_default()
    }

    /// Its progress in a shard; the default if it has not begun there.
    pub(crate) fn crawled(&self, shard: u32) -> CrawlProgress {
        let progress = self.get(&insight::crawl_key(shard, KIND)).map(Stored::read::<CrawlProgress>);
        progress.filter(|progress| progress.run == self.crawl().run).unwrap_or_default()
    }

    /// The commit that wrote or deleted a row last; zero if there is none.
    pub(crate) fn written(&self, key: &Key) -> u64 {
        self.written.get(key).copied().unwrap_or(0)
    }
}

/// A row that a commit wrote or deleted.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) key: Key,
    /// `None` for rows of other tables.
    pub(crate) place: Option<RowKey>,
    pub(crate) before: Option<Stored>,
    pub(crate) after: Option<Stored>,
    /// The commit that wrote the row before.
    pub(crate) written_before: u64,
}

impl Change {
    /// Whether the row was created, deleted, or changed its content.
    pub(crate) fn is_real(&self) -> bool {
        self.before != self.after
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Runs the watcher.
    Instance,
    /// Writes from outside.
    Outside,
}

/// A batch that was just applied.
pub(crate) struct Commit<'a> {
    pub(crate) actor: &'a str,
    pub(crate) role: Role,
    /// The sender's clock, in milliseconds since 1970.
    pub(crate) clock_ms: i64,
    /// Simulated milliseconds.
    pub(crate) now_ms: u64,
    pub(crate) batch: &'a Batch,
    pub(crate) changes: &'a [Change],
    /// All rows after it.
    pub(crate) tables: &'a Tables,
}

impl Commit<'_> {
    pub(crate) fn change(&self, key: &Key) -> Option<&Change> {
        self.changes.iter().find(|change| change.key == *key)
    }

    pub(crate) fn before(&self, key: &Key) -> Option<&Stored> {
        self.change(key).map_or_else(|| self.tables.get(key), |change| change.before.as_ref())
    }

    /// The commit that wrote a row last, before this one.
    pub(crate) fn written_before(&self, key: &Key) -> u64 {
        self.change(key).map_or_else(|| self.tables.written(key), |change| change.written_before)
    }

    /// The rows of one kind that it wrote or deleted.
    pub(crate) fn places<'a, T>(
        &'a self,
        select: impl Fn(&'a RowKey) -> Option<T> + 'a,
    ) -> impl Iterator<Item = (T, &'a Change)> {
        self.changes.iter().filter_map(move |change| Some((select(change.place.as_ref()?)?, change)))
    }
}

/// The entry of any stage, the system stage included.
pub(crate) fn entry_in(place: &RowKey, row: &Stored) -> Option<Entry> {
    match place {
        RowKey::Entry { .. } => Some(row.read()),
        RowKey::Head { .. } => row.read::<Head>().entry.as_option().cloned(),
        _ => None,
    }
}

/// The owner and the epoch.
pub(crate) fn lease_of(row: Option<&Stored>) -> (String, u64) {
    row.map_or_else(Default::default, |row| (row.read::<Lease>().owner, row.version))
}

pub(crate) fn entity_key(shard: u32, entity: &str) -> Key {
    insight::entity_key(shard, KIND, entity)
}

pub(crate) fn head_key(shard: u32, entity: &str) -> Key {
    insight::head_key(shard, KIND, entity)
}

pub(crate) fn entry_key(shard: u32, entity: &str, stage: &str) -> Key {
    insight::entry_key(shard, KIND, entity, stage)
}

pub(crate) fn state_key(shard: u32, entity: &str, stage: &str) -> Key {
    insight::state_key(shard, KIND, entity, stage)
}

pub(crate) fn lease_key(shard: u32) -> Key {
    insight::lease_key(shard, KIND)
}
