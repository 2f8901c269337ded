use std::collections::{BTreeMap, BTreeSet};

use watcher::insight::{Outgoing, Place};

use super::{End, GRACE_MS, Invariant, Seen, require};
use crate::stages::Kind;
use crate::tables::Commit;
use crate::world::Told;

/// A stage that wants to hear of its changes hears of all of them, the first time in order.
#[derive(Default)]
pub(crate) struct ToldInOrder {
    /// The changes of each stage and entity of which it has not heard, with the time when they were made.
    unheard: BTreeMap<(String, String), BTreeMap<u64, u64>>,
    heard: BTreeSet<(String, String, u64)>,
}

impl Invariant for ToldInOrder {
    fn name(&self) -> &'static str {
        "a stage hears of its changes in order"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        for change in commit.changes {
            let (Some(Place::Outbox { entity, version, .. }), Some(row)) = (&change.place, &change.after)
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

    fn at_told(&mut self, told: &Told<'_>) -> Option<Seen> {
        let whose = (told.stage.to_owned(), told.entity.to_owned());
        let unheard = self.unheard.entry(whose.clone()).or_default();
        let first = unheard.keys().next().copied();
        let known = unheard.contains_key(&told.version)
            || self.heard.contains(&(whose.0.clone(), whose.1.clone(), told.version));
        if !known {
            return Some(Err(format!(
                "{} hears of {} v{}, which it did not change",
                told.stage, told.entity, told.version
            )));
        }
        if told.heard {
            unheard.remove(&told.version);
            self.heard.insert((whose.0, whose.1, told.version));
        }
        Some(require(first.is_none_or(|first| told.version <= first), || {
            format!("{} hears of {} v{} before v{first:?}", told.stage, told.entity, told.version)
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
