//! The queue rule: an entity is in a stage's queue at most once, and of two requests the earlier
//! visit stays.
//!
//! An entry and its queue row are written together, always with a check of the entry's version: a
//! writer that read an older entry is in conflict, reads again, and decides again. This file turns
//! requests into rows and knows nothing of entities and stages.

use store::{Batch, Key};

use crate::rows::{Entry, Why};
use crate::tables::QUEUES;
use clock::Time;

/// A part of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Entities that changed.
    Fresh,
    /// Visits that a stage requested, and retries.
    Timer,
    /// The background re-crawl.
    Background,
}

impl Lane {
    /// The most urgent first.
    pub const ALL: [Self; 3] = [Self::Fresh, Self::Timer, Self::Background];

    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Fresh => 0,
            Self::Timer => 1,
            Self::Background => 2,
        }
    }

    pub(crate) fn from_number(number: u32) -> Self {
        match number {
            0 => Self::Fresh,
            1 => Self::Timer,
            _ => Self::Background,
        }
    }
}

/// The lane of parked entries, ordered by the time at which they were parked.
pub(crate) const PARKED: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VisitRequest {
    pub(crate) visit: Time,
    pub(crate) lane: Lane,
    pub(crate) why: Why,
}

impl VisitRequest {
    /// Earlier visits come first; at the same time the more urgent lane does.
    fn rank(&self) -> (Time, Lane) {
        (self.visit, self.lane)
    }
}

/// The place of one entity in the queue of one stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueSlot<'a> {
    pub(crate) shard: u32,
    pub(crate) kind: &'a str,
    pub(crate) stage: &'a str,
    pub(crate) entity: &'a str,
}

impl QueueSlot<'_> {
    pub(crate) fn queue_row(&self, lane: Lane, visit: Time) -> Key {
        self.row(lane.number(), visit.as_ms())
    }

    fn row(&self, lane: u32, visit_ms: i64) -> Key {
        QUEUES.key((self.shard, self.kind, lane, self.stage, visit_ms, self.entity))
    }

    /// The one row of an entry that waits or is parked.
    fn row_of(&self, entry: &Entry) -> Option<Key> {
        let lane = if entry.parked { PARKED } else { entry.lane };
        (entry.queued || entry.parked).then(|| self.row(lane, entry.visit_ms))
    }
}

/// The visit that an entry waits for.
pub(crate) fn queued_visit(entry: &Entry) -> Option<VisitRequest> {
    entry.queued.then(|| VisitRequest {
        visit: Time::from_ms(entry.visit_ms),
        lane: Lane::from_number(entry.lane),
        why: entry.why.as_known().unwrap_or_default(),
    })
}

/// Enqueues a visit. If the entry waits already, the earlier visit stays. Says whether the entry
/// changed.
pub(crate) fn enqueue(
    batch: &mut Batch,
    slot: &QueueSlot<'_>,
    entry: &mut Entry,
    wanted: VisitRequest,
    now: Time,
) -> bool {
    let before = queued_visit(entry);
    if before.is_some_and(|before| before.rank() <= wanted.rank()) {
        return false;
    }
    dequeue(batch, slot, entry);
    batch.set(slot.queue_row(wanted.lane, wanted.visit), &b""[..]);
    (entry.queued, entry.parked) = (true, false);
    entry.visit_ms = wanted.visit.as_ms();
    entry.lane = wanted.lane.number();
    entry.why = wanted.why.into();
    if before.is_none() {
        entry.since_ms = now.as_ms();
    }
    true
}

/// Takes an entry out of its queue, or unparks it.
pub(crate) fn dequeue(batch: &mut Batch, slot: &QueueSlot<'_>, entry: &mut Entry) {
    if let Some(row) = slot.row_of(entry) {
        batch.delete(row);
    }
    (entry.queued, entry.parked) = (false, false);
}

/// Parks an entry until it is released or another visit is requested.
pub(crate) fn park(batch: &mut Batch, slot: &QueueSlot<'_>, entry: &mut Entry, now: Time) {
    dequeue(batch, slot, entry);
    entry.parked = true;
    entry.visit_ms = now.as_ms();
    entry.since_ms = now.as_ms();
    batch.set(slot.row(PARKED, entry.visit_ms), &b""[..]);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use store::Write;

    use super::*;

    const SLOT: QueueSlot<'static> = QueueSlot { shard: 3, kind: "offer", stage: "price", entity: "a1" };

    fn wanted(ms: i64, lane: Lane) -> VisitRequest {
        VisitRequest { visit: Time::from_ms(ms), lane, why: Why::WHY_CHANGE }
    }

    #[test]
    fn of_two_wishes_the_earlier_stays() {
        let mut entry = Entry::default();
        let (now, mut batch) = (Time::from_ms(1), Batch::new());
        assert!(enqueue(&mut batch, &SLOT, &mut entry, wanted(50, Lane::Timer), now));
        assert!(!enqueue(&mut batch, &SLOT, &mut entry, wanted(60, Lane::Fresh), now));
        assert!(enqueue(&mut batch, &SLOT, &mut entry, wanted(10, Lane::Background), now));
        assert_eq!(queued_visit(&entry).unwrap().rank(), (Time::from_ms(10), Lane::Background));
        assert!(enqueue(&mut batch, &SLOT, &mut entry, wanted(10, Lane::Fresh), now));
        assert_eq!(queued_visit(&entry).unwrap().rank(), (Time::from_ms(10), Lane::Fresh));
    }

    #[test]
    fn a_new_wish_wakes_what_was_parked() {
        let mut entry = Entry { attempts: 9, ..Entry::default() };
        park(&mut Batch::new(), &SLOT, &mut entry, Time::from_ms(2));
        assert!(entry.parked && queued_visit(&entry).is_none());
        assert!(enqueue(&mut Batch::new(), &SLOT, &mut entry, wanted(5, Lane::Fresh), Time::from_ms(5)));
        assert!(!entry.parked && entry.queued);
    }

    proptest! {
        #[test]
        fn there_is_one_queue_row_for_an_entry_that_waits_or_is_parked_and_none_for_another(
            steps in proptest::collection::vec(proptest::option::of((0i64..20, 0u32..4)), 1..40),
        ) {
            let mut entry = Entry::default();
            let mut rows = BTreeSet::new();
            for (n, step) in steps.into_iter().enumerate() {
                let mut batch = Batch::new();
                match step {
                    Some((ms, PARKED)) => park(&mut batch, &SLOT, &mut entry, Time::from_ms(ms)),
                    Some((ms, lane)) => {
                        let schedule = wanted(ms, Lane::from_number(lane));
                        enqueue(&mut batch, &SLOT, &mut entry, schedule, Time::from_ms(n as i64));
                    }
                    None => dequeue(&mut batch, &SLOT, &mut entry),
                }
                for (key, write) in batch.writes() {
                    if let Write::Delete = write { rows.remove(key) } else { rows.insert(key.clone()) };
                }
                let expected = SLOT.row_of(&entry);
                prop_assert_eq!(expected.is_some(), entry.queued || entry.parked);
                prop_assert_eq!(rows.iter().cloned().collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
