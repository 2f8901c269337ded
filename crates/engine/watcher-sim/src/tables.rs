//! What the store holds, as the invariants see it, and what one commit did to it.

use std::collections::BTreeMap;

use buffa::Message;
use bytes::Bytes;
use store::{Batch, Key, Write};
use watcher::insight::{self, CrawlOrder, CrawlProgress, Entry, Head, Lease, Place, Settings};

use crate::thing::KIND;

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) version: u64,
    pub(crate) value: Bytes,
}

impl Stored {
    /// The value as a message. The watcher writes nothing else, so what cannot be read is as good as empty.
    pub(crate) fn read<M: Message + Default>(&self) -> M {
        M::decode_from_slice(&self.value).unwrap_or_default()
    }
}

/// All rows.
#[derive(Default)]
pub(crate) struct Tables {
    rows: BTreeMap<Key, Stored>,
    /// The number of the commit that wrote or deleted each row last.
    written: BTreeMap<Key, u64>,
    commits: u64,
}

impl Tables {
    /// The number of commits so far.
    pub(crate) fn commits(&self) -> u64 {
        self.commits
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Stored> {
        self.rows.get(key)
    }

    /// All rows of the watcher, with what their keys stand for.
    pub(crate) fn places(&self) -> impl Iterator<Item = (Place, &Stored)> {
        self.rows.iter().filter_map(|(key, row)| Some((insight::place_of(key).ok().flatten()?, row)))
    }

    /// Writes a batch whose checks hold, and tells what that changed.
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
            let place = insight::place_of(key).ok().flatten();
            changes.push(Change { key: key.clone(), place, before, after, written_before });
        }
        changes
    }

    /// The last re-crawl that was ordered; the default if there was none.
    pub(crate) fn crawl(&self) -> CrawlOrder {
        let settings = self.get(&insight::settings_key(KIND)).map(Stored::read::<Settings>);
        settings.and_then(|settings| settings.crawl.into_option()).unwrap_or_default()
    }

    /// How far it has come in a shard; the default if it has not begun there.
    pub(crate) fn crawled(&self, shard: u32) -> CrawlProgress {
        let progress = self.get(&insight::crawl_key(shard, KIND)).map(Stored::read::<CrawlProgress>);
        progress.filter(|progress| progress.run == self.crawl().run).unwrap_or_default()
    }

    /// The number of the commit that wrote or deleted a row last; zero if none did.
    pub(crate) fn written(&self, key: &Key) -> u64 {
        self.written.get(key).copied().unwrap_or(0)
    }
}

/// A row that a commit wrote or deleted.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) key: Key,
    /// What it stands for; `None` for rows that are not the watcher's.
    pub(crate) place: Option<Place>,
    pub(crate) before: Option<Stored>,
    pub(crate) after: Option<Stored>,
    /// The commit that wrote the row before.
    pub(crate) written_before: u64,
}

impl Change {
    /// Whether the row was made, deleted, or changed its content.
    pub(crate) fn is_real(&self) -> bool {
        self.before != self.after
    }
}

/// Who commits and calls stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A process that runs the watcher.
    Instance,
    /// Somebody who writes from outside.
    Outside,
}

/// A batch that was just applied.
pub(crate) struct Commit<'a> {
    /// Who sent it.
    pub(crate) actor: &'a str,
    pub(crate) role: Role,
    /// What the sender's clock says, in milliseconds since 1970.
    pub(crate) clock_ms: i64,
    /// Simulated time, in milliseconds.
    pub(crate) now_ms: u64,
    pub(crate) batch: &'a Batch,
    pub(crate) changes: &'a [Change],
    /// All rows, after it.
    pub(crate) tables: &'a Tables,
}

impl Commit<'_> {
    pub(crate) fn change(&self, key: &Key) -> Option<&Change> {
        self.changes.iter().find(|change| change.key == *key)
    }

    /// A row before the commit.
    pub(crate) fn before(&self, key: &Key) -> Option<&Stored> {
        self.change(key).map_or_else(|| self.tables.get(key), |change| change.before.as_ref())
    }

    /// The commit that wrote a row last, before this one.
    pub(crate) fn written_before(&self, key: &Key) -> u64 {
        self.change(key).map_or_else(|| self.tables.written(key), |change| change.written_before)
    }

    /// The rows of one sort of place that it wrote or deleted.
    pub(crate) fn places<'a, T>(
        &'a self,
        select: impl Fn(&'a Place) -> Option<T> + 'a,
    ) -> impl Iterator<Item = (T, &'a Change)> {
        self.changes.iter().filter_map(move |change| Some((select(change.place.as_ref()?)?, change)))
    }
}

/// The entry of the system stage or of another, in a row of its table.
pub(crate) fn entry_in(place: &Place, row: &Stored) -> Option<Entry> {
    match place {
        Place::Entry { .. } => Some(row.read()),
        Place::Head { .. } => row.read::<Head>().entry.as_option().cloned(),
        _ => None,
    }
}

/// Who serves a shard, and in which epoch.
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
