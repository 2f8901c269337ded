//! What this process knows of the queues of its shards, and which entity is next. It does no input
//! or output: the loop asks it which queues to scan, reports what was found, and takes what is due.
//!
//! For each queue it holds a few rows that are due, and what lies beyond them: unknown, nothing, or
//! a first row at some time. That bounds its memory whatever the depth of the queues. It also knows
//! a time before which there is nothing, so that scans do not walk over deleted rows again and
//! again.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::limits::SCAN_ROWS_MAX;
use crate::schedule::Line;
use clock::Time;

/// How far the clocks of other processes that write to our queues may be behind before a row is
/// overlooked for a while.
const SKEW: Duration = Duration::from_secs(2);

/// With more unknown queues than this in a shard, the shard is surveyed instead of scanned queue by
/// queue.
const SURVEY_ABOVE: usize = 3;

/// One line of one stage in one shard. Stages are numbered; zero is the system stage. Queues of one
/// shard are adjacent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueueId {
    pub(crate) shard: u32,
    pub(crate) stage: usize,
    pub(crate) line: Line,
}

/// What lies behind the rows at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beyond {
    Unknown,
    Empty,
    /// Nothing is due before this time.
    At(Time),
}

#[derive(Debug)]
struct Queue {
    /// Oldest first.
    due: VecDeque<(Time, Arc<str>)>,
    beyond: Beyond,
    /// There are no rows before this time.
    low: Time,
}

/// The result of a scan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scanned {
    /// Rows that are due and not being visited, oldest first.
    pub(crate) due: Vec<(Time, Arc<str>)>,
    /// When the first row behind them is due; `None` if there is none.
    pub(crate) later: Option<Time>,
    /// There are no rows before this time.
    pub(crate) low: Time,
}

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

#[derive(Debug, Default)]
pub(crate) struct ReadyQueues {
    stages: usize,
    queues: BTreeMap<QueueId, Queue>,
    /// By stage and shard: timers before this came due while they could not be served.
    late_before: BTreeMap<(usize, u32), Time>,
    /// Queues with nothing at hand, of which nothing is known.
    unknown: BTreeSet<QueueId>,
    /// Where the next round of unknown queues begins.
    next_unknown: Option<QueueId>,
    /// Queues with nothing at hand, whose first row is due at some time.
    later: BTreeSet<(Time, QueueId)>,
    /// Shards with rows at hand, by stage and line; the first one is next.
    turns: BTreeMap<(usize, Line), VecDeque<u32>>,
}

impl ReadyQueues {
    /// The number of stages includes the system stage.
    pub(crate) fn new(stages: usize) -> Self {
        Self { stages, ..Self::default() }
    }

    /// Sets the shards of this process. Of a new one nothing is known, and its timers that are due
    /// are late.
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
                self.reset(QueueId { shard, stage, line });
            }
        }
    }

    /// The boundary between late timers and timers.
    pub(crate) fn late_before(&self, stage: usize, shard: u32) -> Time {
        self.late_before.get(&(stage, shard)).copied().unwrap_or(Time::FIRST)
    }

    /// Where a scan of a queue begins.
    pub(crate) fn low(&self, id: QueueId) -> Time {
        self.queues.get(&id).map_or(Time::FIRST, |queue| queue.low)
    }

    /// Something may have been written to a queue: it is scanned again when nothing is at hand.
    pub(crate) fn rescan(&mut self, id: QueueId) {
        if let Some(queue) = self.queues.get_mut(&id) {
            let due = std::mem::take(&mut queue.due);
            self.set(id, due, Beyond::Unknown);
        }
    }

    /// Forgets what is known of a queue.
    pub(crate) fn reset(&mut self, id: QueueId) {
        if let Some(queue) = self.queues.get_mut(&id) {
            queue.low = Time::FIRST;
            self.set(id, VecDeque::new(), Beyond::Unknown);
        }
    }

    /// The same, but what is at hand stays.
    pub(crate) fn sweep(&mut self, id: QueueId) {
        if let Some(queue) = self.queues.get_mut(&id) {
            queue.low = Time::FIRST;
            self.rescan(id);
        }
    }

    /// Tries nothing of a queue before this time: the store refuses the results.
    pub(crate) fn delay_until(&mut self, id: QueueId, time: Time) {
        self.set(id, VecDeque::new(), Beyond::At(time));
    }

    /// Scans a queue at this time at the latest.
    fn rescan_at(&mut self, id: QueueId, time: Time) {
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
            return self.rescan_at(id, visit);
        }
        let mut due = std::mem::take(&mut queue.due);
        let mut beyond = queue.beyond;
        let place = due.partition_point(|row| (row.0, &row.1) < (visit, entity));
        if due.get(place).is_none_or(|row| row.1 != *entity) {
            due.insert(place, (visit, Arc::clone(entity)));
        }
        if due.len() > SCAN_ROWS_MAX
            && let Some((last, _)) = due.pop_back()
        {
            beyond = Beyond::At(last);
        }
        self.set(id, due, beyond);
    }

    /// Returns an item that was taken; others go first.
    pub(crate) fn put_back(&mut self, id: QueueId, item: Item) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        let (mut due, beyond) = (std::mem::take(&mut queue.due), queue.beyond);
        due.push_back((item.visit, item.entity));
        self.set(id, due, beyond);
    }

    /// Reports when the first row of a queue is due, if it has any.
    pub(crate) fn surveyed(&mut self, id: QueueId, first: Option<Time>, now: Time) {
        self.scanned(id, Scanned { due: Vec::new(), later: first, low: first.unwrap_or(now) });
    }

    /// The same from a sweep beside the loop, which may know less than we do by now. What is
    /// unknown here is scanned.
    pub(crate) fn swept(&mut self, id: QueueId, first: Option<Time>) {
        let (Some(queue), Some(first)) = (self.queues.get_mut(&id), first) else { return };
        queue.low = queue.low.min(first);
        let is_known = queue.due.is_empty() && matches!(queue.beyond, Beyond::At(time) if time <= first);
        if !is_known {
            self.rescan(id);
        }
    }

    /// At most `max` shards with several unknown queues.
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

    /// All unknown queues, from where the last round ended.
    fn unknown_in_turn(&self) -> impl Iterator<Item = QueueId> {
        let first = self.next_unknown.unwrap_or(QueueId { shard: 0, stage: 0, line: Line::Fresh });
        self.unknown.range(first..).chain(self.unknown.range(..first)).copied()
    }

    pub(crate) fn queues_of(&self, shard: u32) -> Vec<QueueId> {
        let first = QueueId { shard, stage: 0, line: Line::Fresh };
        self.queues.range(first..).map(|(id, _)| *id).take_while(|id| id.shard == shard).collect()
    }

    /// The unknown queues of a shard.
    pub(crate) fn unknown_in(&self, shard: u32) -> Vec<QueueId> {
        let first = QueueId { shard, stage: 0, line: Line::Fresh };
        self.unknown.range(first..).take_while(|id| id.shard == shard).copied().collect()
    }

    /// The queues to scan, at most `max`: up to half of them unknown ones, the others because their
    /// time has come.
    pub(crate) fn next_scans(&mut self, now: Time, max: usize) -> Vec<QueueId> {
        let due = self.later.iter().take_while(|(time, _)| *time <= now).map(|(_, id)| *id);
        let mut ids: Vec<QueueId> = due.take(max).collect();
        let unknown: Vec<QueueId> = self.unknown_in_turn().take(max).collect();
        ids.truncate(max - unknown.len().min(max / 2));
        ids.extend(unknown.into_iter().take(max - ids.len()).inspect(|id| self.next_unknown = Some(*id)));
        ids
    }

    /// Reports the result of a scan.
    pub(crate) fn scanned(&mut self, id: QueueId, scanned: Scanned) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        // Only the fresh line is written to by other processes.
        let skew = if id.line == Line::Fresh { SKEW } else { Duration::ZERO };
        queue.low = scanned.low - skew;
        let beyond = scanned.later.map_or(Beyond::Empty, Beyond::At);
        self.set(id, scanned.due.into(), beyond);
    }

    /// Takes at most `max` entities that are due in a line of a stage, with the shards in turn;
    /// busy ones stay.
    pub(crate) fn take(
        &mut self,
        stage: usize,
        line: Line,
        max: usize,
        mut fit: impl FnMut(u32, &Arc<str>) -> Fit,
    ) -> Vec<Item> {
        let mut taken: Vec<Item> = Vec::new();
        let mut turns = self.turns.remove(&(stage, line)).unwrap_or_default();
        // Shards in which every entity is busy.
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

    /// The entities at hand of the stages that `of` marks.
    pub(crate) fn at_hand(&self, of: &[bool]) -> BTreeSet<(u32, Arc<str>)> {
        let mut entities = BTreeSet::new();
        for ((stage, line), shards) in &self.turns {
            if of.get(*stage).copied().unwrap_or(false) {
                let queues = shards.iter().filter_map(|shard| {
                    Some((*shard, self.queues.get(&QueueId { shard: *shard, stage: *stage, line: *line })?))
                });
                entities.extend(queues.flat_map(|(shard, queue)| {
                    queue.due.iter().map(move |(_, entity)| (shard, Arc::clone(entity)))
                }));
            }
        }
        entities
    }

    pub(crate) fn has_due(&self, stage: usize, line: Line) -> bool {
        self.turns.contains_key(&(stage, line))
    }

    /// When the oldest visit at hand in a line of a stage was due.
    pub(crate) fn oldest(&self, stage: usize, line: Line) -> Option<Time> {
        let shards = self.turns.get(&(stage, line)).into_iter().flatten();
        let first = |shard: &u32| self.queues.get(&QueueId { stage, line, shard: *shard })?.due.front();
        shards.filter_map(first).map(|(visit, _)| *visit).min()
    }

    /// When the next queue must be scanned; `None` if only a hint can change anything.
    pub(crate) fn next_time(&self, now: Time) -> Option<Time> {
        if self.unknown.is_empty() { self.later.first().map(|(time, _)| *time) } else { Some(now) }
    }

    /// Nothing is at hand in a queue: schedules its next scan.
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
mod tests;
