use watcher::insight::{Ended, Entry, RowKey};

use super::{Invariant, Seen, require};
use crate::tables::Commit;

/// An entry that is parked says why, and waits for nothing.
pub(crate) struct Parked;

impl Invariant for Parked {
    fn name(&self) -> &'static str {
        "what is parked has a reason"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        let entries = commit.places(|place| matches!(place, RowKey::Entry { .. }).then_some(()));
        let parked = entries.filter_map(|((), change)| {
            let entry: Entry = change.after.as_ref()?.read();
            entry.parked.then_some((&change.key, entry))
        });
        let look = |(key, entry): (_, Entry)| {
            let ended = entry.last.as_option().and_then(|last| last.ended.as_known());
            let is_right = !entry.error.is_empty() && !entry.queued && ended == Some(Ended::ENDED_FAILED);
            require(is_right, || format!("{key} is parked: {entry:?}"))
        };
        parked.map(look).reduce(Seen::and)
    }
}
