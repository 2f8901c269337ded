//! The agenda: what this process knows of the queues in its shards, and whom to visit next. It does no input or output: the loop
//! asks it which queues to look into, tells it what was found, and takes from it what is due.
//!
//! Of each queue it holds a few rows that are due, and what lies beyond them: nothing known, nothing there, or a first row at some time.
//! That bounds its memory, whatever the depth of the queues.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::queue::Lane;
use crate::time::Time;

/// A queue: one lane of one stage in one shard. Stages are numbered; zero is the system stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueueId {
    pub(crate) stage: usize,
    pub(crate) lane: Lane,
    pub(crate) shard: u32,
}

/// What lies behind the rows that are at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beyond {
    Unknown,
    Empty,
    /// The first row is due at this time.
    At(Time),
}

#[derive(Debug)]
struct Queue {
    /// Rows that are due, oldest first.
    due: VecDeque<(Time, Arc<str>)>,
    beyond: Beyond,
}

/// What was found in a queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peeked {
    /// Rows that are due, oldest first.
    pub(crate) due: Vec<(Time, Arc<str>)>,
    /// When the first row behind them is due; `None` if there is none.
    pub(crate) later: Option<Time>,
}

/// An entity to visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) shard: u32,
    pub(crate) visit: Time,
    pub(crate) entity: Arc<str>,
}

/// All queues of the shards of this process.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    stages: usize,
    queues: BTreeMap<QueueId, Queue>,
    /// Queues with nothing at hand, of which nothing is known.
    unknown: BTreeSet<QueueId>,
    /// Queues with nothing at hand, whose first row is due at some time.
    later: BTreeSet<(Time, QueueId)>,
    /// Shards with rows at hand, by stage and lane; the first one is next.
    turns: BTreeMap<(usize, Lane), VecDeque<u32>>,
}

impl Agenda {
    /// For so many stages, the system stage included.
    pub(crate) fn new(stages: usize) -> Self {
        Self { stages, ..Self::default() }
    }

    /// The shards of this process are these from now on.
    pub(crate) fn serve(&mut self, shards: &BTreeSet<u32>) {
        let left: Vec<QueueId> =
            self.queues.keys().filter(|id| !shards.contains(&id.shard)).copied().collect();
        for id in left {
            self.forget(id);
        }
        for shard in shards {
            for stage in 0..self.stages {
                for lane in Lane::ALL {
                    let id = QueueId { stage, lane, shard: *shard };
                    if let Entry::Vacant(vacant) = self.queues.entry(id) {
                        vacant.insert(Queue { due: VecDeque::new(), beyond: Beyond::Unknown });
                        self.unknown.insert(id);
                    }
                }
            }
        }
    }

    /// Something may have been written to a queue: it has to be looked into again.
    pub(crate) fn look_again(&mut self, id: QueueId) {
        if self.queues.contains_key(&id) {
            self.set(id, VecDeque::new(), Beyond::Unknown);
        }
    }

    /// A row was written to a queue.
    pub(crate) fn written(&mut self, id: QueueId, visit: Time) {
        let Some(queue) = self.queues.get(&id) else { return };
        match queue.beyond {
            Beyond::Unknown => {}
            // It belongs among the rows that are at hand.
            _ if queue.due.back().is_some_and(|(last, _)| visit < *last) => self.look_again(id),
            Beyond::At(time) if time <= visit => {}
            Beyond::At(_) | Beyond::Empty => {
                let due = self.queues.get_mut(&id).map(|queue| std::mem::take(&mut queue.due));
                self.set(id, due.unwrap_or_default(), Beyond::At(visit));
            }
        }
    }

    /// The queues to look into, at most so many.
    pub(crate) fn to_peek(&self, now: Time, max: usize) -> Vec<QueueId> {
        let due = self.later.iter().take_while(|(time, _)| *time <= now).map(|(_, id)| *id);
        self.unknown.iter().copied().chain(due).take(max).collect()
    }

    /// Tells what was found in a queue.
    pub(crate) fn peeked(&mut self, id: QueueId, peeked: Peeked) {
        if self.queues.contains_key(&id) {
            let beyond = peeked.later.map_or(Beyond::Empty, Beyond::At);
            self.set(id, peeked.due.into(), beyond);
        }
    }

    /// Takes entities that are due in a lane of a stage, at most so many, in turns over the shards; those that are not free stay.
    pub(crate) fn take(
        &mut self,
        stage: usize,
        lane: Lane,
        max: usize,
        mut is_free: impl FnMut(u32, &Arc<str>) -> bool,
    ) -> Vec<Item> {
        let mut taken: Vec<Item> = Vec::new();
        let mut turns = self.turns.remove(&(stage, lane)).unwrap_or_default();
        // Shards in which nobody is free.
        let mut stuck = VecDeque::new();
        while taken.len() < max
            && let Some(shard) = turns.pop_front()
        {
            let id = QueueId { stage, lane, shard };
            let Some(queue) = self.queues.get_mut(&id) else { continue };
            let free = |(_, entity): &(Time, Arc<str>)| {
                is_free(shard, entity)
                    && !taken.iter().any(|item| item.entity == *entity && item.shard == shard)
            };
            let Some(at) = queue.due.iter().position(free) else {
                stuck.push_back(shard);
                continue;
            };
            let Some((visit, entity)) = queue.due.remove(at) else { continue };
            taken.push(Item { shard, visit, entity });
            if queue.due.is_empty() {
                self.expect_beyond(id);
            } else {
                turns.push_back(shard);
            }
        }
        turns.extend(stuck);
        if !turns.is_empty() {
            self.turns.insert((stage, lane), turns);
        }
        taken
    }

    /// Whether anything is at hand in a lane of a stage.
    #[cfg(test)]
    fn has_due(&self, stage: usize, lane: Lane) -> bool {
        self.turns.contains_key(&(stage, lane))
    }

    /// When the next queue has to be looked into; `None` if only a hint can change anything.
    pub(crate) fn next_time(&self, now: Time) -> Option<Time> {
        if self.unknown.is_empty() { self.later.first().map(|(time, _)| *time) } else { Some(now) }
    }

    fn forget(&mut self, id: QueueId) {
        self.set(id, VecDeque::new(), Beyond::Empty);
        self.queues.remove(&id);
    }

    /// Nothing is at hand in a queue: it is looked into when something can be beyond.
    fn expect_beyond(&mut self, id: QueueId) {
        match self.queues.get(&id).map(|queue| queue.beyond) {
            Some(Beyond::Unknown) => _ = self.unknown.insert(id),
            Some(Beyond::At(time)) => _ = self.later.insert((time, id)),
            Some(Beyond::Empty) | None => {}
        }
    }

    /// Replaces what is known of a queue.
    fn set(&mut self, id: QueueId, due: VecDeque<(Time, Arc<str>)>, beyond: Beyond) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        if let Beyond::At(time) = queue.beyond {
            self.later.remove(&(time, id));
        }
        self.unknown.remove(&id);
        let (had, has) = (!queue.due.is_empty(), !due.is_empty());
        *queue = Queue { due, beyond };
        if !has {
            self.expect_beyond(id);
        }
        let turns = self.turns.entry((id.stage, id.lane)).or_default();
        if had && !has {
            turns.retain(|shard| *shard != id.shard);
        } else if has && !turns.contains(&id.shard) {
            turns.push_back(id.shard);
        }
        if turns.is_empty() {
            self.turns.remove(&(id.stage, id.lane));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(ms: i64) -> Time {
        Time::from_ms(ms)
    }

    fn queue(shard: u32) -> QueueId {
        QueueId { stage: 0, lane: Lane::Fresh, shard }
    }

    fn rows(names: &[(i64, &str)]) -> Vec<(Time, Arc<str>)> {
        names.iter().map(|(ms, name)| (at(*ms), Arc::from(*name))).collect()
    }

    fn agenda(shards: u32) -> Agenda {
        let mut agenda = Agenda::new(1);
        agenda.serve(&(0..shards).collect());
        for id in agenda.to_peek(at(0), usize::MAX) {
            agenda.peeked(id, Peeked::default());
        }
        agenda
    }

    fn names(items: &[Item]) -> Vec<&str> {
        items.iter().map(|item| &*item.entity).collect()
    }

    #[test]
    fn shards_take_turns_however_much_one_of_them_has() {
        let mut agenda = agenda(2);
        agenda.peeked(queue(0), Peeked { due: rows(&[(1, "a1"), (2, "a2"), (3, "a3")]), later: None });
        agenda.peeked(queue(1), Peeked { due: rows(&[(9, "b1")]), later: None });
        assert_eq!(names(&agenda.take(0, Lane::Fresh, 2, |_, _| true)), ["a1", "b1"]);
        assert_eq!(names(&agenda.take(0, Lane::Fresh, 9, |_, _| true)), ["a2", "a3"]);
        assert!(!agenda.has_due(0, Lane::Fresh));
    }

    #[test]
    fn an_entity_that_is_busy_holds_up_nobody_and_is_taken_when_it_is_free() {
        let mut agenda = agenda(1);
        agenda.peeked(queue(0), Peeked { due: rows(&[(1, "a"), (2, "b")]), later: None });
        assert_eq!(names(&agenda.take(0, Lane::Fresh, 9, |_, entity| &**entity != "a")), ["b"]);
        assert!(agenda.take(0, Lane::Fresh, 9, |_, entity| &**entity != "a").is_empty());
        assert_eq!(names(&agenda.take(0, Lane::Fresh, 9, |_, _| true)), ["a"]);
    }

    #[test]
    fn a_queue_is_looked_into_when_its_first_row_is_due_and_not_before() {
        let mut agenda = agenda(1);
        assert_eq!(agenda.next_time(at(5)), None, "nothing but a hint changes anything");
        agenda.written(queue(0), at(50));
        agenda.written(queue(0), at(70));
        assert_eq!((agenda.next_time(at(5)), agenda.to_peek(at(49), 9)), (Some(at(50)), vec![]));
        assert_eq!(agenda.to_peek(at(50), 9), [queue(0)]);
        agenda.peeked(queue(0), Peeked { due: rows(&[(50, "a")]), later: Some(at(70)) });
        assert_eq!(agenda.to_peek(at(99), 9), [], "one row is at hand");
        assert_eq!(agenda.next_time(at(99)), None, "so nothing has to be done before it is taken");
        agenda.take(0, Lane::Fresh, 1, |_, _| true);
        assert_eq!(agenda.to_peek(at(99), 9), [queue(0)]);
    }

    #[test]
    fn a_row_that_is_earlier_than_what_is_at_hand_is_not_overlooked() {
        let mut agenda = agenda(1);
        agenda.peeked(queue(0), Peeked { due: rows(&[(10, "a"), (20, "b")]), later: Some(at(30)) });
        agenda.written(queue(0), at(15));
        assert_eq!(agenda.to_peek(at(20), 9), [queue(0)]);
    }

    #[test]
    fn shards_that_are_gone_are_forgotten() {
        let mut agenda = agenda(3);
        agenda.peeked(queue(0), Peeked { due: rows(&[(1, "a")]), later: None });
        agenda.written(queue(1), at(7));
        agenda.look_again(queue(2));
        agenda.serve(&BTreeSet::new());
        assert!(!agenda.has_due(0, Lane::Fresh));
        assert_eq!((agenda.next_time(at(0)), agenda.to_peek(at(99), 9)), (None, vec![]));
        agenda.peeked(queue(0), Peeked { due: rows(&[(1, "a")]), later: None });
        assert!(!agenda.has_due(0, Lane::Fresh), "an answer that comes too late is ignored");
    }

    proptest! {
        /// Against a model: rows are written, looked for and taken at random. Whatever is due is taken in the end, each row once.
        #[test]
        fn every_row_that_is_due_is_taken_once(steps in proptest::collection::vec((0u8..4, 0u32..3, 0i64..50), 1..80)) {
            let mut agenda = agenda(3);
            let mut stored: BTreeMap<u32, BTreeSet<(Time, Arc<str>)>> = BTreeMap::new();
            let (mut now, mut written, mut taken) = (at(0), 0, Vec::new());
            let peek = |agenda: &mut Agenda, stored: &BTreeMap<u32, BTreeSet<(Time, Arc<str>)>>, now: Time, limit: usize| {
                for id in agenda.to_peek(now, usize::MAX) {
                    let mut rows = stored.get(&id.shard).into_iter().flatten().filter(|_| id.lane == Lane::Fresh);
                    let mut due = Vec::new();
                    let later = loop {
                        match rows.next() {
                            Some((visit, entity)) if *visit <= now && due.len() < limit => due.push((*visit, entity.clone())),
                            Some((visit, _)) => break Some(*visit),
                            None => break None,
                        }
                    };
                    agenda.peeked(id, Peeked { due, later });
                }
            };
            for (what, shard, number) in steps {
                match what {
                    0 => {
                        written += 1;
                        stored.entry(shard).or_default().insert((at(number), format!("e{written}").into()));
                        agenda.written(queue(shard), at(number));
                    }
                    1 => now = now.max(at(number)),
                    2 => peek(&mut agenda, &stored, now, 2),
                    _ => {
                        for item in agenda.take(0, Lane::Fresh, 2, |_, _| true) {
                            prop_assert!(item.visit <= now, "never before its time");
                            prop_assert!(stored.get_mut(&item.shard).unwrap().remove(&(item.visit, item.entity.clone())));
                            taken.push(item.entity);
                        }
                    }
                }
            }
            now = at(1000);
            for _ in 0..=written {
                peek(&mut agenda, &stored, now, 2);
                for item in agenda.take(0, Lane::Fresh, 9, |_, _| true) {
                    prop_assert!(stored.get_mut(&item.shard).unwrap().remove(&(item.visit, item.entity.clone())));
                    taken.push(item.entity);
                }
            }
            prop_assert_eq!(taken.len(), written);
        }
    }
}
