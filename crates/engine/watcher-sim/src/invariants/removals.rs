use watcher::insight::RowKey;

use super::{Invariant, Seen};
use crate::tables::Commit;

/// When an entity is removed its entries and queue rows are gone with it.
pub(crate) struct Removals;

impl Invariant for Removals {
    fn name(&self) -> &'static str {
        "nothing is left of a removed entity"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        let mut removed = commit.places(|place| match place {
            RowKey::Entity { entity, .. } => Some(entity),
            _ => None,
        });
        let (removed, _) = removed.find(|(_, change)| change.after.is_none())?;
        let mut left = commit.tables.places().filter(|(place, _)| match place {
            RowKey::Entry { entity, .. } | RowKey::Queue { entity, .. } => entity == removed,
            _ => false,
        });
        Some(left.next().map_or(Ok(()), |(place, row)| Err(format!("{place:?} is left: {row:?}"))))
    }
}
