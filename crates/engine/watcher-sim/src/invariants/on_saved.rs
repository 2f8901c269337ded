use std::collections::{BTreeMap, BTreeSet};

use watcher::insight::{Outgoing, RowKey};

use super::{End, GRACE_MS, Invariant, Seen, require};
use crate::stages::Kind;
use crate::tables::Commit;
use crate::world::SavedCall;

/// Every change is delivered to the `on_saved` of its stage, the first time in order.
#[derive(Default)]
pub(crate) struct SavedInOrder {
    /// By stage and entity: the changes that are not delivered, with the time when they were made.
    unheard: BTreeMap<(String, String), BTreeMap<u64, u64>>,
    heard: BTreeSet<(String, String, u64)>,
}

impl Invariant for SavedInOrder {
    fn name(&self) -> &'static str {
        "a stage hears of its changes in order"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        for change in commit.changes {
            let (Some(RowKey::Outbox { entity, version, .. }), Some(row)) = (&change.place, &change.after)
            else {
                continue;
            };
            let author = row.read::<Outgoing>().author;
            if Kind::of(&author).is_some_and(Kind::wants_saved) {
                self.unheard.entry((author, entity.clone())).or_default().insert(*version, commit.now_ms);
            }
        }
        None
    }

    fn at_saved(&mut self, saved: &SavedCall<'_>) -> Option<Seen> {
        let whose = (saved.stage.to_owned(), saved.entity.to_owned());
        let unheard = self.unheard.entry(whose.clone()).or_default();
        let first = unheard.keys().next().copied();
        let known = unheard.contains_key(&saved.version)
            || self.heard.contains(&(whose.0.clone(), whose.1.clone(), saved.version));
        if !known {
            return Some(Err(format!(
                "{} hears of {} v{}, which it did not change",
                saved.stage, saved.entity, saved.version
            )));
        }
        if saved.heard {
            unheard.remove(&saved.version);
            self.heard.insert((whose.0, whose.1, saved.version));
        }
        Some(require(first.is_none_or(|first| saved.version <= first), || {
            format!("{} hears of {} v{} before v{first:?}", saved.stage, saved.entity, saved.version)
        }))
    }

    fn at_end(&mut self, end: &End<'_>) -> Option<Seen> {
        let late = end.now_ms.saturating_sub(GRACE_MS);
        let mut all =
            self.unheard.iter().flat_map(|(whose, versions)| versions.iter().map(move |v| (whose, v)));
        let missed = all.find(|(_, (_, made))| **made < late);
        Some(require(missed.is_none(), || format!("never heard of: {missed:?}")))
    }
}
