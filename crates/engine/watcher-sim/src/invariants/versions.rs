use watcher::insight::{Head, RowKey};

use super::{Invariant, Seen, require};
use crate::tables::{Change, Commit, Stored, head_key};

/// Every row that the watcher writes has the version of the one before plus one. Entities, entries
/// and states that are made anew go on from the removal.
pub(crate) struct Versions;

impl Invariant for Versions {
    fn name(&self) -> &'static str {
        "a version is the one before plus one"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        let seen = commit.changes.iter().filter_map(|change| look(commit, change));
        seen.reduce(Seen::and)
    }
}

fn look(commit: &Commit<'_>, change: &Change) -> Option<Seen> {
    let version = |row: &Option<Stored>| row.as_ref().map_or(0, |row| row.version);
    let (before, after) = (version(&change.before), version(&change.after));
    let expected = match change.place.as_ref()? {
        RowKey::Entity { shard, entity } => {
            let key = head_key(*shard, entity);
            if change.after.is_none() {
                let head: Head = commit.tables.get(&key)?.read();
                let seen = || format!("{entity} v{before} was removed as v{}", head.removed_version);
                return Some(require(head.removed_version == before + 1, seen));
            }
            let removed = commit.before(&key).map_or(0, |row| row.read::<Head>().removed_version);
            if before == 0 { removed + 1 } else { before + 1 }
        }
        RowKey::Entry { shard, entity, .. } if before == 0 && change.after.is_some() => {
            let head = commit.before(&head_key(*shard, entity));
            head.map_or(0, |row| row.read::<Head>().entries_version) + 1
        }
        RowKey::State { shard, entity, .. } if before == 0 && change.after.is_some() => {
            let head = commit.before(&head_key(*shard, entity));
            let removed = head.map_or(0, |row| row.read::<Head>().entries_version);
            let seen = || format!("{} became v{after}, and there was one of v{removed}", change.key);
            return Some(require(after > removed, seen));
        }
        RowKey::Head { .. }
        | RowKey::Entry { .. }
        | RowKey::State { .. }
        | RowKey::Settings
        | RowKey::Control { .. }
        | RowKey::Crawl { .. }
            if change.after.is_some() =>
        {
            before + 1
        }
        _ => return None,
    };
    Some(require(after == expected, || format!("{} became v{after} after v{before}", change.key)))
}
