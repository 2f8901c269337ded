use watcher::insight::{PARKED, RowKey};

use super::{End, GRACE_MS, Invariant, Seen, require};
use crate::world::START_MS;

/// When faults have stopped and time has passed, nothing that is due is left in a queue.
pub(crate) struct NothingDue;

impl Invariant for NothingDue {
    fn name(&self) -> &'static str {
        "nothing due is left"
    }

    fn at_end(&mut self, end: &End<'_>) -> Option<Seen> {
        let late = START_MS + end.now_ms.saturating_sub(GRACE_MS).cast_signed();
        let mut rows = end.tables.places().filter_map(|(place, _)| match place {
            RowKey::Queue { visit_ms, lane, .. } if visit_ms < late && lane != PARKED => Some(place),
            _ => None,
        });
        let left = rows.next();
        Some(require(left.is_none(), || format!("{left:?} is still there")))
    }
}
