//! The queue rule: an entity stands in a stage's queue at most once, and of two wishes the earlier visit stays.
//!
//! An entry and its queue row are written together, always with a check of the entry's version: a writer that read an older entry
//! loses, reads again, and decides again. This file knows nothing of entities and stages; it turns wishes into rows.

use store::{Batch, Key, Write};

use crate::Result;
use crate::rows::{Entry, Why};
use crate::tables::QUEUES;
use crate::time::Time;

/// A part of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Entities that have changed.
    Fresh,
    /// Visits that a stage has asked for, and attempts after a failure.
    Timer,
    /// The background re-crawl.
    Background,
}

impl Lane {
    /// All lanes, the most urgent first.
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

/// A wish for a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) visit: Time,
    pub(crate) lane: Lane,
    pub(crate) why: Why,
}

impl Wanted {
    /// Earlier visits come first; at the same time the more urgent lane does.
    fn rank(&self) -> (Time, Lane) {
        (self.visit, self.lane)
    }
}

/// Whose queue rows are meant: those of one entity in one stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) shard: u32,
    pub(crate) kind: &'a str,
    pub(crate) stage: &'a str,
    pub(crate) entity: &'a str,
}

impl Place<'_> {
    pub(crate) fn queue_row(&self, lane: Lane, visit: Time) -> Key {
        QUEUES.key((self.shard, self.kind, lane.number(), self.stage, visit.as_ms(), self.entity))
    }
}

/// The visit that an entry waits for.
pub(crate) fn waiting(entry: &Entry) -> Option<Wanted> {
    entry.queued.then(|| Wanted {
        visit: Time::from_ms(entry.visit_ms),
        lane: Lane::from_number(entry.lane),
        why: entry.why.as_known().unwrap_or_default(),
    })
}

/// Adds a wish to an entry; of what it waits for already and the wish, the earlier stays. Says whether the entry changed.
pub(crate) fn offer(
    batch: &mut Batch,
    place: &Place<'_>,
    entry: &mut Entry,
    wanted: Wanted,
    now: Time,
) -> bool {
    let before = waiting(entry);
    if before.is_some_and(|before| before.rank() <= wanted.rank()) {
        return false;
    }
    leave(batch, place, entry);
    batch.set(place.queue_row(wanted.lane, wanted.visit), &b""[..]);
    entry.queued = true;
    entry.visit_ms = wanted.visit.as_ms();
    entry.lane = wanted.lane.number();
    entry.why = wanted.why.into();
    entry.parked = false;
    if before.is_none() {
        entry.since_ms = now.as_ms();
    }
    true
}

/// Takes an entry out of its queue.
pub(crate) fn leave(batch: &mut Batch, place: &Place<'_>, entry: &mut Entry) {
    if let Some(before) = waiting(entry).filter(|_| !planted!(QueueRowStays)) {
        batch.delete(place.queue_row(before.lane, before.visit));
    }
    entry.queued = false;
}

/// A visit that a batch queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Queued {
    pub(crate) stage: String,
    pub(crate) lane: Lane,
    pub(crate) visit: Time,
}

/// All visits that a batch queues.
pub(crate) fn queued_by(batch: &Batch) -> Result<Vec<Queued>> {
    let mut queued = Vec::new();
    for (key, write) in batch.writes() {
        if std::ptr::eq(key.table(), QUEUES.def()) && matches!(write, Write::Put { .. }) {
            let (_, _, lane, stage, visit, _) = QUEUES.parts(key)?;
            queued.push(Queued { stage, lane: Lane::from_number(lane), visit: Time::from_ms(visit) });
        }
    }
    Ok(queued)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const PLACE: Place<'static> = Place { shard: 3, kind: "offer", stage: "price", entity: "a1" };

    fn wanted(ms: i64, lane: Lane) -> Wanted {
        Wanted { visit: Time::from_ms(ms), lane, why: Why::WHY_CHANGE }
    }

    #[test]
    fn of_two_wishes_the_earlier_stays() {
        let mut entry = Entry::default();
        let (now, mut batch) = (Time::from_ms(1), Batch::new());
        assert!(offer(&mut batch, &PLACE, &mut entry, wanted(50, Lane::Timer), now));
        assert!(!offer(&mut batch, &PLACE, &mut entry, wanted(60, Lane::Fresh), now));
        assert!(offer(&mut batch, &PLACE, &mut entry, wanted(10, Lane::Background), now));
        assert_eq!(waiting(&entry).unwrap().rank(), (Time::from_ms(10), Lane::Background));
        assert!(offer(&mut batch, &PLACE, &mut entry, wanted(10, Lane::Fresh), now));
        assert_eq!(waiting(&entry).unwrap().rank(), (Time::from_ms(10), Lane::Fresh));
    }

    #[test]
    fn a_new_wish_wakes_what_was_parked() {
        let mut entry = Entry { parked: true, attempts: 9, ..Entry::default() };
        assert!(offer(&mut Batch::new(), &PLACE, &mut entry, wanted(5, Lane::Fresh), Time::from_ms(5)));
        assert!(!entry.parked && entry.queued);
    }

    proptest! {
        #[test]
        fn there_is_one_queue_row_for_an_entry_that_waits_and_none_for_another(
            steps in proptest::collection::vec(proptest::option::of((0i64..20, 0u32..3)), 1..40),
        ) {
            let mut entry = Entry::default();
            let mut rows = BTreeSet::new();
            for (n, step) in steps.into_iter().enumerate() {
                let mut batch = Batch::new();
                match step {
                    Some((ms, lane)) => {
                        let wish = wanted(ms, Lane::from_number(lane));
                        offer(&mut batch, &PLACE, &mut entry, wish, Time::from_ms(n as i64));
                    }
                    None => leave(&mut batch, &PLACE, &mut entry),
                }
                for (key, write) in batch.writes() {
                    if let Write::Delete = write { rows.remove(key) } else { rows.insert(key.clone()) };
                }
                let expected = waiting(&entry).map(|w| PLACE.queue_row(w.lane, w.visit));
                prop_assert_eq!(rows.iter().cloned().collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
