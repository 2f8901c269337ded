use watcher::insight::{BACKGROUND, Entry, RowKey};

use super::{Invariant, Seen, require};
use crate::tables::{Commit, Stored};

/// A visit in the background takes the place of a later one at most.
pub(crate) struct Background;

impl Invariant for Background {
    fn name(&self) -> &'static str {
        "the background replaces no sooner visit"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        let entries = commit.places(|place| match place {
            RowKey::Entry { entity, stage, .. } => Some((entity, stage)),
            _ => None,
        });
        let queued = |row: &Option<Stored>| row.as_ref().map(Stored::read::<Entry>).filter(|e| e.queued);
        let looks = entries.filter_map(|(whose, change)| {
            let after = queued(&change.after).filter(|after| after.lane == BACKGROUND)?;
            let before = queued(&change.before);
            let is_right = before.as_ref().is_none_or(|before| {
                let is_same = (before.lane, before.visit_ms) == (after.lane, after.visit_ms);
                is_same || after.visit_ms < before.visit_ms
            });
            Some(require(is_right, || format!("{whose:?} waited as {before:?} and now as {after:?}")))
        });
        looks.reduce(Seen::and)
    }
}
