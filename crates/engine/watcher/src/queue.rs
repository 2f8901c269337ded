//! The queue rule: an entity stands in a stage's queue at most once, and of two wishes the earlier visit stays.
//!
//! An entry and its queue row are written together, always with a check of the entry's version: a writer that read an older entry
//! loses, reads again, and decides again. This file knows nothing of entities and stages; it turns wishes into rows.

use store::{Batch, Key};

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

/// The number of the lane in which parked entries stand, by the time at which they were parked.
pub(crate) const PARKED: u32 = 3;

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
        self.row(lane.number(), visit.as_ms())
    }

    fn row(&self, lane: u32, visit_ms: i64) -> Key {
        QUEUES.key((self.shard, self.kind, lane, self.stage, visit_ms, self.entity))
    }

    /// The one row that an entry has if it waits or is parked.
    fn row_of(&self, entry: &Entry) -> Option<Key> {
        let lane = if entry.parked { PARKED } else { entry.lane };
        (entry.queued || entry.parked).then(|| self.row(lane, entry.visit_ms))
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
    (entry.queued, entry.parked) = (true, false);
    entry.visit_ms = wanted.visit.as_ms();
    entry.lane = wanted.lane.number();
    entry.why = wanted.why.into();
    if before.is_none() {
        entry.since_ms = now.as_ms();
    }
    true
}

/// Takes an entry out of its queue, or out of those that are parked.
pub(crate) fn leave(batch: &mut Batch, place: &Place<'_>, entry: &mut Entry) {
    if let Some(row) = place.row_of(entry).filter(|_| !planted!(QueueRowStays)) {
        batch.delete(row);
    }
    (entry.queued, entry.parked) = (false, false);
}

/// Lets an entry wait until somebody releases it or wants a visit.
pub(crate) fn park(batch: &mut Batch, place: &Place<'_>, entry: &mut Entry, now: Time) {
    leave(batch, place, entry);
    entry.parked = true;
    entry.visit_ms = now.as_ms();
    entry.since_ms = now.as_ms();
    batch.set(place.row(PARKED, entry.visit_ms), &b""[..]);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use store::Write;

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
        let mut entry = Entry { attempts: 9, ..Entry::default() };
        park(&mut Batch::new(), &PLACE, &mut entry, Time::from_ms(2));
        assert!(entry.parked && waiting(&entry).is_none());
        assert!(offer(&mut Batch::new(), &PLACE, &mut entry, wanted(5, Lane::Fresh), Time::from_ms(5)));
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
                    Some((ms, PARKED)) => park(&mut batch, &PLACE, &mut entry, Time::from_ms(ms)),
                    Some((ms, lane)) => {
                        let wish = wanted(ms, Lane::from_number(lane));
                        offer(&mut batch, &PLACE, &mut entry, wish, Time::from_ms(n as i64));
                    }
                    None => leave(&mut batch, &PLACE, &mut entry),
                }
                for (key, write) in batch.writes() {
                    if let Write::Delete = write { rows.remove(key) } else { rows.insert(key.clone()) };
                }
                let expected = PLACE.row_of(&entry);
                prop_assert_eq!(expected.is_some(), entry.queued || entry.parked);
                prop_assert_eq!(rows.iter().cloned().collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
