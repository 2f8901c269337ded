use std::collections::BTreeMap;

use bytes::Bytes;
use watcher::insight::{Outgoing, RowKey};

use super::{End, GRACE_MS, Invariant, Seen, require};
use crate::tables::{Change, Commit, Stored};
use crate::world::START_MS;

/// Every change of an entity puts a row into the outbox, in the same commit, behind the rows of its
/// earlier changes.
#[derive(Default)]
pub(crate) struct Outbox {
    /// The time of the last row of each entity.
    last: BTreeMap<String, i64>,
}

impl Outbox {
    fn look(&mut self, commit: &Commit<'_>, entity: &str, change: &Change) -> Seen {
        let rows = commit.places(|place| match place {
            RowKey::Outbox { at_ms, entity: of, version, .. } if of == entity => Some((*at_ms, *version)),
            _ => None,
        });
        let mut rows = rows.filter(|(_, change)| change.after.is_some());
        let Some(((at_ms, version), row)) = rows.next() else {
            return Err(format!("{entity} has changed and is not in the outbox"));
        };
        let expected = change.after.as_ref().map(|row| row.version);
        require(expected.is_none_or(|expected| expected == version), || {
            format!("{entity} became v{expected:?} and is in the outbox as v{version}")
        })?;
        let outgoing: Outgoing = row.after.as_ref().map(Stored::read).unwrap_or_default();
        let saved = change.after.as_ref().map_or_else(Bytes::new, |row| row.value.clone());
        require(outgoing.entity == saved && outgoing.removed == change.after.is_none(), || {
            format!("{entity} v{version} is not in the outbox as it was saved")
        })?;
        let before = self.last.insert(entity.to_owned(), at_ms);
        require(before.is_none_or(|before| before < at_ms), || {
            format!("{entity} v{version} is in the outbox at {at_ms}, an older version at {before:?}")
        })
    }
}

impl Invariant for Outbox {
    fn name(&self) -> &'static str {
        "every change is in the outbox"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        let entity = |place: &RowKey| match place {
            RowKey::Entity { entity, .. } => Some(entity.clone()),
            _ => None,
        };
        let changed: Vec<_> = commit.places(entity).filter(|(_, change)| change.is_real()).collect();
        changed.into_iter().map(|(entity, change)| self.look(commit, &entity, change)).reduce(Seen::and)
    }
}

/// At the end the outbox is empty, and every saved change is delivered.
pub(crate) struct Emptied;

impl Invariant for Emptied {
    fn name(&self) -> &'static str {
        "the outbox is emptied"
    }

    fn at_end(&mut self, end: &End<'_>) -> Option<Seen> {
        let late = START_MS + (end.now_ms.saturating_sub(GRACE_MS)).cast_signed();
        let mut rows = end.tables.places().filter(|(place, _)| match place {
            RowKey::Outbox { at_ms, .. } | RowKey::Saved { at_ms, .. } => *at_ms < late,
            _ => false,
        });
        Some(rows.next().map_or(Ok(()), |(place, _)| Err(format!("{place:?} is still there"))))
    }
}
