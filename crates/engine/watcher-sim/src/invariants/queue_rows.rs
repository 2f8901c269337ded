use std::collections::{BTreeMap, BTreeSet};

use watcher::insight::{Entry, PARKED, RowKey, SYSTEM};

use super::{End, Invariant, Seen, require};
use crate::tables::{Commit, Stored, entry_in, entry_key, head_key};

/// Whose queue rows: shard, entity, stage.
type Whose = (u32, String, String);

/// There is one queue row for each entry and head that waits, and none for others.
#[derive(Default)]
pub(crate) struct QueueRows {
    /// The rows that there are: lane and time of the visit.
    rows: BTreeMap<Whose, BTreeSet<(u32, i64)>>,
}

/// The queue row that an entry must have. This is the one place that knows which entries have one.
fn expected(entry: &Entry) -> Option<(u32, i64)> {
    let lane = if entry.parked { PARKED } else { entry.lane };
    (entry.queued || entry.parked).then_some((lane, entry.visit_ms))
}

fn whose(place: &RowKey) -> Option<Whose> {
    match place {
        RowKey::Queue { shard, stage, entity, .. } | RowKey::Entry { shard, entity, stage } => {
            Some((*shard, entity.clone(), stage.clone()))
        }
        RowKey::Head { shard, entity } => Some((*shard, entity.clone(), SYSTEM.to_owned())),
        _ => None,
    }
}

impl QueueRows {
    fn look<'a>(&self, whose: &Whose, row: impl FnOnce(&store::Key) -> Option<&'a Stored>) -> Seen {
        let (shard, entity, stage) = whose;
        let (key, place) = if stage == SYSTEM {
            (head_key(*shard, entity), RowKey::Head { shard: *shard, entity: entity.clone() })
        } else {
            let place = RowKey::Entry { shard: *shard, entity: entity.clone(), stage: stage.clone() };
            (entry_key(*shard, entity, stage), place)
        };
        let entry = row(&key).and_then(|row| entry_in(&place, row)).unwrap_or_default();
        let wanted: BTreeSet<(u32, i64)> = expected(&entry).into_iter().collect();
        let found = self.rows.get(whose).cloned().unwrap_or_default();
        require(wanted == found, || {
            format!("{entity} in stage {stage:?} should have the queue rows {wanted:?} and has {found:?}")
        })
    }
}

impl Invariant for QueueRows {
    fn name(&self) -> &'static str {
        "one queue row for each entry that waits"
    }

    fn at_commit(&mut self, commit: &Commit<'_>) -> Option<Seen> {
        let mut touched = BTreeSet::new();
        for change in commit.changes {
            let Some(place) = &change.place else { continue };
            touched.extend(whose(place));
            if let (RowKey::Queue { lane, visit_ms, .. }, Some(whose)) = (place, whose(place)) {
                let rows = self.rows.entry(whose).or_default();
                if change.after.is_some() {
                    rows.insert((*lane, *visit_ms));
                } else {
                    rows.remove(&(*lane, *visit_ms));
                }
            }
        }
        touched.iter().map(|whose| self.look(whose, |key| commit.tables.get(key))).reduce(Seen::and)
    }

    fn at_end(&mut self, end: &End<'_>) -> Option<Seen> {
        let all: BTreeSet<Whose> = end.tables.places().filter_map(|(place, _)| whose(&place)).collect();
        all.iter().map(|whose| self.look(whose, |key| end.tables.get(key))).reduce(Seen::and)
    }
}
