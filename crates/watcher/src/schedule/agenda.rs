//! The agenda: what this process knows of the queues in its shards, and whom to visit next. It does no input or output: the loop
//! asks it which queues to look into, tells it what was found, and takes from it what is due.
//!
//! Of each queue it holds a few rows that are due, and what lies beyond them: nothing known, nothing there, or a first row at some time.
//! That bounds its memory, whatever the depth of the queues. It also knows a time before which there is nothing, so that
//! nobody walks again and again over the remains of rows that were deleted.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::limits::PEEK_MAX;
use crate::schedule::Line;
use crate::time::Time;

/// How far the clocks of other processes, who write to our queues, may be behind before we overlook a row for a while.
const SKEW: Duration = Duration::from_secs(2);

/// With more unknown queues than this in a shard, all of its queues are surveyed instead of looked into one by one.
const SURVEY_ABOVE: usize = 3;

/// A queue: one line of one stage in one shard. Stages are numbered; zero is the system stage. Queues of one shard stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueueId {
    pub(crate) shard: u32,
    pub(crate) stage: usize,
    pub(crate) line: Line,
}

/// What lies behind the rows that are at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beyond {
    Unknown,
    Empty,
    /// Nothing is due before this time.
    At(Time),
}

#[derive(Debug)]
struct Queue {
    /// Rows that are due, oldest first.
    due: VecDeque<(Time, Arc<str>)>,
    beyond: Beyond,
    /// There are no rows before this time.
    low: Time,
}

/// What was found in a queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peeked {
    /// Rows that are due and not being visited, oldest first.
    pub(crate) due: Vec<(Time, Arc<str>)>,
    /// When the first row behind them is due; `None` if there is none.
    pub(crate) later: Option<Time>,
    /// There are no rows before this time.
    pub(crate) low: Time,
}

/// An entity to visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) shard: u32,
    pub(crate) visit: Time,
    pub(crate) entity: Arc<str>,
}

/// How an entity may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// Together with others.
    Free,
    /// In a call of its own.
    Alone,
    /// Not now.
    Busy,
}

/// All queues of the shards of this process.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    stages: usize,
    queues: BTreeMap<QueueId, Queue>,
    /// By stage and shard: timers before this moment came due while nobody could serve them.
    late_before: BTreeMap<(usize, u32), Time>,
    /// Queues with nothing at hand, of which nothing is known.
    unknown: BTreeSet<QueueId>,
    /// Where the next look at unknown queues begins, so that all have their turn.
    next_unknown: Option<QueueId>,
    /// Queues with nothing at hand, whose first row is due at some time.
    later: BTreeSet<(Time, QueueId)>,
    /// Shards with rows at hand, by stage and line; the first one is next.
    turns: BTreeMap<(usize, Line), VecDeque<u32>>,
}

impl Agenda {
    /// For so many stages, the system stage included.
    pub(crate) fn new(stages: usize) -> Self {
        Self { stages, ..Self::default() }
    }

    /// The shards of this process are these from now on. Of a new one nothing is known, and its timers that are due are late.
    pub(crate) fn serve(&mut self, shards: &BTreeSet<u32>, now: Time) {
        let left: Vec<QueueId> =
            self.queues.keys().filter(|id| !shards.contains(&id.shard)).copied().collect();
        for id in left {
            self.set(id, VecDeque::new(), Beyond::Empty);
            self.queues.remove(&id);
            self.late_before.remove(&(id.stage, id.shard));
        }
        for (shard, stage) in
            shards.iter().flat_map(|shard| (0..self.stages).map(move |stage| (*shard, stage)))
        {
            self.late_before.entry((stage, shard)).or_insert(now);
            for line in Line::ALL {
                let id = QueueId { shard, stage, line };
                if let Entry::Vacant(vacant) = self.queues.entry(id) {
                    vacant.insert(Queue { due: VecDeque::new(), beyond: Beyond::Unknown, low: Time::FIRST });
                    self.unknown.insert(id);
                }
            }
        }
    }

    /// A stage could not be visited until now: its timers that are due are late.
    pub(crate) fn late_until(&mut self, stage: usize, now: Time) {
        let shards: Vec<u32> =
            self.late_before.range((stage, 0)..=(stage, u32::MAX)).map(|(at, _)| at.1).collect();
        for shard in shards {
            self.late_before.insert((stage, shard), now);
            for line in [Line::Timer, Line::Late] {
                self.look_anew(QueueId { shard, stage, line });
            }
        }
    }

    /// Where late timers end and timers begin.
    pub(crate) fn late_before(&self, stage: usize, shard: u32) -> Time {
        self.late_before.get(&(stage, shard)).copied().unwrap_or(Time::FIRST)
    }

    /// From which time on a queue has to be looked into.
    pub(crate) fn low(&self, id: QueueId) -> Time {
        self.queues.get(&id).map_or(Time::FIRST, |queue| queue.low)
    }

    /// Something may have been written to a queue: it has to be looked into again when nothing is at hand.
    pub(crate) fn look_again(&mut self, id: QueueId) {
        if let Some(queue) = self.queues.get_mut(&id) {
            let due = std::mem::take(&mut queue.due);
            self.set(id, due, Beyond::Unknown);
        }
    }

    /// Nothing that is known of a queue counts any more.
    pub(crate) fn look_anew(&mut self, id: QueueId) {
        if let Some(queue) = self.queues.get_mut(&id) {
            queue.low = Time::FIRST;
            self.set(id, VecDeque::new(), Beyond::Unknown);
        }
    }

    /// The same, but what is at hand stays.
    pub(crate) fn sweep(&mut self, id: QueueId) {
        if let Some(queue) = self.queues.get_mut(&id) {
            queue.low = Time::FIRST;
            self.look_again(id);
        }
    }

    /// Nothing of a queue is tried before this time: the store refuses what comes of it.
    pub(crate) fn rest_until(&mut self, id: QueueId, time: Time) {
        self.set(id, VecDeque::new(), Beyond::At(time));
    }

    /// A queue has to be looked into at this time, if not before.
    fn look_at(&mut self, id: QueueId, time: Time) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        let sooner = match queue.beyond {
            Beyond::Unknown => return,
            Beyond::At(before) => before <= time,
            Beyond::Empty => false,
        };
        if !sooner {
            let due = std::mem::take(&mut queue.due);
            self.set(id, due, Beyond::At(time));
        }
    }

    /// A row was written to a queue.
    pub(crate) fn added(&mut self, id: QueueId, visit: Time, entity: &Arc<str>, now: Time) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        queue.low = queue.low.min(visit);
        let known = match queue.beyond {
            Beyond::Unknown => return,
            Beyond::At(time) => visit < time,
            Beyond::Empty => true,
        };
        if !known {
            return;
        }
        if visit > now {
            return self.look_at(id, visit);
        }
        let mut due = std::mem::take(&mut queue.due);
        let mut beyond = queue.beyond;
        let place = due.partition_point(|row| (row.0, &row.1) < (visit, entity));
        if due.get(place).is_none_or(|row| row.1 != *entity) {
            due.insert(place, (visit, Arc::clone(entity)));
        }
        if due.len() > PEEK_MAX
            && let Some((last, _)) = due.pop_back()
        {
            beyond = Beyond::At(last);
        }
        self.set(id, due, beyond);
    }

    /// An item that was taken is still to be visited; others have their turn before it.
    pub(crate) fn put_back(&mut self, id: QueueId, item: Item) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        let (mut due, beyond) = (std::mem::take(&mut queue.due), queue.beyond);
        due.push_back((item.visit, item.entity));
        self.set(id, due, beyond);
    }

    /// Tells when the first row of a queue is due, if it has any.
    pub(crate) fn surveyed(&mut self, id: QueueId, first: Option<Time>, now: Time) {
        self.peeked(id, Peeked { due: Vec::new(), later: first, low: first.unwrap_or(now) });
    }

    /// Tells when the first row of a queue is due, as somebody found out beside the loop, who may know less than we do by now. What is not known here is
    /// looked for.
    pub(crate) fn swept(&mut self, id: QueueId, first: Option<Time>) {
        let (Some(queue), Some(first)) = (self.queues.get_mut(&id), first) else { return };
        queue.low = queue.low.min(first);
        let is_known = queue.due.is_empty() && matches!(queue.beyond, Beyond::At(time) if time <= first);
        if !is_known {
            self.look_again(id);
        }
    }

    /// Shards with several queues of which nothing is known, at most so many.
    pub(crate) fn next_surveys(&mut self, max: usize) -> Vec<u32> {
        let (mut shards, mut last, mut count) = (Vec::new(), None, 0);
        for id in self.unknown_in_turn() {
            count = if last == Some(id.shard) { count + 1 } else { 1 };
            last = Some(id.shard);
            if count == SURVEY_ABOVE + 1 {
                shards.push(id.shard);
            }
            if shards.len() >= max {
                break;
            }
        }
        if let Some(last) = shards.last() {
            self.next_unknown = Some(QueueId { shard: last.saturating_add(1), stage: 0, line: Line::Fresh });
        }
        shards
    }

    /// All queues of which nothing is known, beginning where the last look ended.
    fn unknown_in_turn(&self) -> impl Iterator<Item = QueueId> {
        let first = self.next_unknown.unwrap_or(QueueId { shard: 0, stage: 0, line: Line::Fresh });
        self.unknown.range(first..).chain(self.unknown.range(..first)).copied()
    }

    /// All queues of a shard.
    pub(crate) fn queues_of(&self, shard: u32) -> Vec<QueueId> {
        let first = QueueId { shard, stage: 0, line: Line::Fresh };
        self.queues.range(first..).map(|(id, _)| *id).take_while(|id| id.shard == shard).collect()
    }

    /// The queues of a shard of which nothing is known.
    pub(crate) fn unknown_in(&self, shard: u32) -> Vec<QueueId> {
        let first = QueueId { shard, stage: 0, line: Line::Fresh };
        self.unknown.range(first..).take_while(|id| id.shard == shard).copied().collect()
    }

    /// The queues to look into, at most so many: half of them, if there are so many, because their time has come.
    pub(crate) fn next_peeks(&mut self, now: Time, max: usize) -> Vec<QueueId> {
        let due = self.later.iter().take_while(|(time, _)| *time <= now).map(|(_, id)| *id);
        let mut ids: Vec<QueueId> = due.take(max).collect();
        let unknown: Vec<QueueId> = self.unknown_in_turn().take(max).collect();
        ids.truncate(max - unknown.len().min(max / 2));
        ids.extend(unknown.into_iter().take(max - ids.len()).inspect(|id| self.next_unknown = Some(*id)));
        ids
    }

    /// Tells what was found in a queue, by a look that began at `now`.
    pub(crate) fn peeked(&mut self, id: QueueId, peeked: Peeked) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        // Only the fresh line is written to by others.
        let skew = if id.line == Line::Fresh { SKEW } else { Duration::ZERO };
        queue.low = peeked.low - skew;
        let beyond = peeked.later.map_or(Beyond::Empty, Beyond::At);
        self.set(id, peeked.due.into(), beyond);
    }

    /// Takes entities that are due in a line of a stage, at most so many, in turns over the shards; those that are busy stay.
    pub(crate) fn take(
        &mut self,
        stage: usize,
        line: Line,
        max: usize,
        mut fit: impl FnMut(u32, &Arc<str>) -> Fit,
    ) -> Vec<Item> {
        let mut taken: Vec<Item> = Vec::new();
        let mut turns = self.turns.remove(&(stage, line)).unwrap_or_default();
        // Shards in which nobody is free.
        let mut stuck = VecDeque::new();
        while taken.len() < max
            && let Some(shard) = turns.pop_front()
        {
            let id = QueueId { shard, stage, line };
            let Some(queue) = self.queues.get_mut(&id) else { continue };
            let fits = |entity: &Arc<str>| match fit(shard, entity) {
                Fit::Busy => None,
                Fit::Alone if !taken.is_empty() => None,
                _ if taken.iter().any(|item| item.entity == *entity && item.shard == shard) => None,
                fit => Some(fit),
            };
            let found = queue.due.iter().map(|(_, entity)| entity).map(fits).enumerate();
            let Some((at, fit)) = found.into_iter().find_map(|(at, fit)| Some((at, fit?))) else {
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
            if fit == Fit::Alone {
                break;
            }
        }
        turns.extend(stuck);
        if !turns.is_empty() {
            self.turns.insert((stage, line), turns);
        }
        taken
    }

    /// Whether anything is at hand in a line of a stage.
    pub(crate) fn has_due(&self, stage: usize, line: Line) -> bool {
        self.turns.contains_key(&(stage, line))
    }

    /// When the oldest visit at hand in a line of a stage was due.
    pub(crate) fn oldest(&self, stage: usize, line: Line) -> Option<Time> {
        let shards = self.turns.get(&(stage, line)).into_iter().flatten();
        let first = |shard: &u32| self.queues.get(&QueueId { stage, line, shard: *shard })?.due.front();
        shards.filter_map(first).map(|(visit, _)| *visit).min()
    }

    /// When the next queue has to be looked into; `None` if only a hint can change anything.
    pub(crate) fn next_time(&self, now: Time) -> Option<Time> {
        if self.unknown.is_empty() { self.later.first().map(|(time, _)| *time) } else { Some(now) }
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
        let has = !due.is_empty();
        (queue.due, queue.beyond) = (due, beyond);
        if !has {
            self.expect_beyond(id);
        }
        let turns = self.turns.entry((id.stage, id.line)).or_default();
        let place = turns.iter().position(|shard| *shard == id.shard);
        match (place, has) {
            (Some(place), false) => _ = turns.remove(place),
            (None, true) => turns.push_back(id.shard),
            _ => {}
        }
        if turns.is_empty() {
            self.turns.remove(&(id.stage, id.line));
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
        QueueId { shard, stage: 0, line: Line::Fresh }
    }

    fn rows(names: &[(i64, &str)]) -> Vec<(Time, Arc<str>)> {
        names.iter().map(|(ms, name)| (at(*ms), Arc::from(*name))).collect()
    }

    fn agenda(shards: u32) -> Agenda {
        let mut agenda = Agenda::new(1);
        agenda.serve(&(0..shards).collect(), at(0));
        for id in agenda.next_peeks(at(0), usize::MAX) {
            agenda.peeked(id, Peeked::default());
        }
        agenda
    }

    fn found(names: &[(i64, &str)], later: Option<i64>) -> Peeked {
        Peeked { due: rows(names), later: later.map(at), low: at(0) }
    }

    fn add(agenda: &mut Agenda, shard: u32, ms: i64, name: &str, now: i64) {
        agenda.added(queue(shard), at(ms), &Arc::from(name), at(now));
    }

    fn take(agenda: &mut Agenda, max: usize) -> Vec<String> {
        agenda
            .take(0, Line::Fresh, max, |_, _| Fit::Free)
            .iter()
            .map(|item| item.entity.to_string())
            .collect()
    }

    fn names(items: &[Item]) -> Vec<&str> {
        items.iter().map(|item| &*item.entity).collect()
    }

    #[test]
    fn shards_take_turns_however_much_one_of_them_has() {
        let mut agenda = agenda(2);
        agenda.peeked(queue(0), found(&[(1, "a1"), (2, "a2"), (3, "a3")], None));
        agenda.peeked(queue(1), found(&[(9, "b1")], None));
        assert_eq!(take(&mut agenda, 2), ["a1", "b1"]);
        assert_eq!(take(&mut agenda, 9), ["a2", "a3"]);
        assert!(!agenda.has_due(0, Line::Fresh));
    }

    #[test]
    fn an_entity_that_is_busy_holds_up_nobody_and_is_taken_when_it_is_free() {
        let mut agenda = agenda(1);
        let but_a = |_: u32, entity: &Arc<str>| if &**entity == "a" { Fit::Busy } else { Fit::Free };
        agenda.peeked(queue(0), found(&[(1, "a"), (2, "b")], None));
        assert_eq!(names(&agenda.take(0, Line::Fresh, 9, but_a)), ["b"]);
        assert!(agenda.take(0, Line::Fresh, 9, but_a).is_empty());
        assert_eq!(take(&mut agenda, 9), ["a"]);
    }

    #[test]
    fn a_queue_is_looked_into_when_its_first_row_is_due_and_not_before() {
        let mut agenda = agenda(1);
        assert_eq!(agenda.next_time(at(5)), None, "nothing but a hint changes anything");
        add(&mut agenda, 0, 50, "a", 5);
        add(&mut agenda, 0, 70, "b", 5);
        assert_eq!((agenda.next_time(at(5)), agenda.next_peeks(at(49), 9)), (Some(at(50)), vec![]));
        assert_eq!(agenda.next_peeks(at(50), 9), [queue(0)]);
        agenda.peeked(queue(0), found(&[(50, "a")], Some(70)));
        assert_eq!(agenda.next_peeks(at(99), 9), [], "one row is at hand");
        assert_eq!(agenda.next_time(at(99)), None, "so nothing has to be done before it is taken");
        take(&mut agenda, 1);
        assert_eq!(agenda.next_peeks(at(99), 9), [queue(0)]);
    }

    #[test]
    fn a_row_that_is_earlier_than_what_is_at_hand_is_not_overlooked() {
        let mut agenda = agenda(1);
        agenda.peeked(queue(0), found(&[(10, "a"), (20, "b")], Some(30)));
        add(&mut agenda, 0, 15, "c", 25);
        add(&mut agenda, 0, 15, "c", 25);
        assert_eq!(take(&mut agenda, 9), ["a", "c", "b"], "and nothing had to be looked for");
        add(&mut agenda, 0, 30, "d", 35);
        assert_eq!(take(&mut agenda, 9), [""; 0], "what lies beyond is read from there");
        assert_eq!(agenda.next_peeks(at(35), 9), [queue(0)]);
    }

    #[test]
    fn what_a_sweep_finds_is_looked_for_if_it_is_not_known() {
        let mut agenda = agenda(1);
        agenda.peeked(queue(0), found(&[], Some(50)));
        agenda.swept(queue(0), Some(at(50)));
        agenda.swept(queue(0), None);
        assert_eq!(agenda.next_time(at(10)), Some(at(50)), "that was known");
        agenda.swept(queue(0), Some(at(30)));
        assert_eq!((agenda.next_time(at(10)), agenda.low(queue(0))), (Some(at(10)), at(-2000)));
        agenda.peeked(queue(0), Peeked { due: rows(&[(30, "a")]), later: Some(at(50)), low: at(9000) });
        agenda.swept(queue(0), Some(at(40)));
        assert_eq!((take(&mut agenda, 9), agenda.low(queue(0))), (vec!["a".to_owned()], at(40)));
        assert_eq!(
            agenda.next_peeks(at(41), 9),
            [queue(0)],
            "there may be more before the next one that is known"
        );
    }

    #[test]
    fn what_is_at_hand_is_bounded_however_much_is_added() {
        let mut agenda = agenda(1);
        for n in (0..3 * PEEK_MAX as i64).rev() {
            add(&mut agenda, 0, n, &format!("e{n}"), 10_000);
        }
        let taken = take(&mut agenda, usize::MAX);
        assert_eq!((taken.len(), &*taken[0]), (PEEK_MAX, "e0"));
        assert_eq!(agenda.next_peeks(at(10_000), 9), [queue(0)], "the others are looked for");
    }

    #[test]
    fn one_that_must_be_alone_is_taken_alone() {
        let mut agenda = agenda(2);
        agenda.peeked(queue(0), found(&[(1, "a"), (2, "odd"), (3, "b")], None));
        let fit = |_: u32, entity: &Arc<str>| if &**entity == "odd" { Fit::Alone } else { Fit::Free };
        assert_eq!(names(&agenda.take(0, Line::Fresh, 9, fit)), ["a", "b"]);
        assert_eq!(names(&agenda.take(0, Line::Fresh, 9, fit)), ["odd"]);
        agenda.peeked(queue(1), found(&[(1, "odd"), (3, "b")], None));
        assert_eq!(names(&agenda.take(0, Line::Fresh, 9, fit)), ["odd"]);
    }

    #[test]
    fn one_that_was_put_back_lets_others_go_first() {
        let mut agenda = agenda(1);
        agenda.peeked(queue(0), found(&[(1, "a"), (2, "b")], None));
        let item = agenda.take(0, Line::Fresh, 1, |_, _| Fit::Free).remove(0);
        agenda.put_back(queue(0), item);
        assert_eq!(take(&mut agenda, 9), ["b", "a"]);
    }

    #[test]
    fn timers_of_a_new_shard_and_of_a_stage_that_was_away_are_late() {
        let mut agenda = Agenda::new(2);
        agenda.serve(&BTreeSet::from([7]), at(100));
        assert_eq!((agenda.late_before(0, 7), agenda.late_before(1, 7)), (at(100), at(100)));
        agenda.late_until(1, at(500));
        agenda.serve(&BTreeSet::from([7, 8]), at(900));
        assert_eq!((agenda.late_before(0, 7), agenda.late_before(1, 7)), (at(100), at(500)));
        assert_eq!(agenda.late_before(1, 8), at(900));
    }

    #[test]
    fn shards_that_are_gone_are_forgotten() {
        let mut agenda = agenda(3);
        agenda.peeked(queue(0), found(&[(1, "a")], None));
        add(&mut agenda, 1, 7, "b", 0);
        agenda.look_again(queue(2));
        agenda.serve(&BTreeSet::new(), at(0));
        assert!(!agenda.has_due(0, Line::Fresh));
        assert_eq!((agenda.next_time(at(0)), agenda.next_peeks(at(99), 9)), (None, vec![]));
        agenda.peeked(queue(0), found(&[(1, "a")], None));
        assert!(!agenda.has_due(0, Line::Fresh), "an answer that comes too late is ignored");
    }

    proptest! {
        /// Against a model: rows are written, looked for and taken at random. Whatever is due is taken in the end, each row once.
        #[test]
        fn every_row_that_is_due_is_taken_once(steps in proptest::collection::vec((0u8..4, 0u32..3, 0i64..50), 1..80)) {
            let mut agenda = agenda(3);
            let mut stored: BTreeMap<u32, BTreeSet<(Time, Arc<str>)>> = BTreeMap::new();
            let (mut now, mut written, mut taken) = (at(0), 0, Vec::new());
            let peek = |agenda: &mut Agenda, stored: &BTreeMap<u32, BTreeSet<(Time, Arc<str>)>>, now: Time, limit: usize| {
                for id in agenda.next_peeks(now, usize::MAX) {
                    let low = agenda.low(id);
                    let mut rows = stored.get(&id.shard).into_iter().flatten().filter(|row| id.line == Line::Fresh && row.0 >= low).peekable();
                    let low = rows.peek().map_or(now, |row| row.0);
                    let mut due = Vec::new();
                    let later = loop {
                        match rows.next() {
                            Some((visit, entity)) if *visit <= now && due.len() < limit => due.push((*visit, entity.clone())),
                            Some((visit, _)) => break Some(*visit),
                            None => break None,
                        }
                    };
                    agenda.peeked(id, Peeked { due, later, low });
                }
            };
            for (what, shard, number) in steps {
                match what {
                    0 => {
                        written += 1;
                        let entity: Arc<str> = format!("e{written}").into();
                        stored.entry(shard).or_default().insert((at(number), Arc::clone(&entity)));
                        agenda.added(queue(shard), at(number), &entity, now);
                    }
                    1 => now = now.max(at(number)),
                    2 => peek(&mut agenda, &stored, now, 2),
                    _ => {
                        for item in agenda.take(0, Line::Fresh, 2, |_, _| Fit::Free) {
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
                for item in agenda.take(0, Line::Fresh, 9, |_, _| Fit::Free) {
                    prop_assert!(stored.get_mut(&item.shard).unwrap().remove(&(item.visit, item.entity.clone())));
                    taken.push(item.entity);
                }
            }
            prop_assert_eq!(taken.len(), written);
        }
    }
}
