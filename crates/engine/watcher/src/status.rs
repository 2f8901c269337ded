//! The status of the stages in this process, the last fights, and questions to the loop.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::budget::Fight;
use crate::latencies::Latencies;
use crate::limits::{FIGHTS_KEPT_MAX, INQUIRIES_MAX, INQUIRY_TIME_MAX};
use crate::rows::{Block, FailedAttempt, Line as LineRow, LineStatus, Status};
use crate::schedule::{Blocked, Line};
use clock::Time;

/// The status of a stage in one process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageStatus {
    /// Why the stage is not called; `None` if it may be.
    pub blocked: Option<Blocked>,
    /// Why each line waits in which something is due; a line that is not blocked is left out.
    pub lines: BTreeMap<Line, Blocked>,
    /// Timers that were due before this could not be served in time: they are in [`Line::Late`].
    pub late_before: Time,
    /// Set if the stage does not answer.
    pub down: Option<Outage>,
    /// Calls under way.
    pub calls: u64,
    /// Over the last few seconds.
    pub visits_per_s: f64,
    /// When the oldest visit at hand was due.
    pub oldest_due: Option<Time>,
    /// Since the process started to serve.
    pub counts: Counts,
    /// Since the process started to serve.
    pub latencies: Latencies,
    /// The last failures, the oldest first: at most
    /// [`FAILURES_KEPT_MAX`](crate::limits::FAILURES_KEPT_MAX).
    pub failed: Arc<Vec<FailedVisit>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedVisit {
    pub at: Time,
    pub entity: String,
    /// Truncated if it is long.
    pub error: String,
    /// Otherwise it is tried again.
    pub parked: bool,
}

/// A stage does not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    pub since: Time,
    /// The error of the last call.
    pub error: String,
}

/// A fight that this process saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenFight {
    pub at: Time,
    pub entity: String,
    pub fight: Fight,
}

/// Counts of the visits of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Answers that were saved.
    pub visits: u64,
    /// Those that changed the entity.
    pub changes: u64,
    /// Attempts that failed.
    pub failures: u64,
    /// Entities that were parked.
    pub parked: u64,
    /// Visits that must be made again because something changed meanwhile.
    pub conflicts: u64,
    /// Changes beyond the budget of an entity.
    pub fights: u64,
}

/// A question to the loop: which stage is visiting this entity?
#[derive(Debug)]
pub(crate) struct Inquiry {
    pub(crate) shard: u32,
    pub(crate) entity: Arc<str>,
    /// Receives the name of the stage; the system stage has the empty name.
    pub(crate) answer: oneshot::Sender<Option<String>>,
}

/// What the loop of this process publishes.
#[derive(Debug, Default)]
pub(crate) struct LiveStatus {
    published: Mutex<Published>,
    /// The oldest first.
    fights: Mutex<VecDeque<SeenFight>>,
    /// Where the loop receives questions.
    inquiries: Mutex<Option<mpsc::Sender<Inquiry>>>,
}

#[derive(Debug, Default)]
struct Published {
    /// The process that publishes; empty while no loop runs.
    instance: String,
    stages: BTreeMap<String, StageStatus>,
}

impl LiveStatus {
    /// The receiver for the loop that starts now.
    pub(crate) fn open_inquiries(&self) -> mpsc::Receiver<Inquiry> {
        let (sender, receiver) = mpsc::channel(INQUIRIES_MAX);
        *self.inquiries.lock() = Some(sender);
        receiver
    }

    /// The stage that is visiting an entity at the moment, as the loop of this process says; `None`
    /// if there is none, or if the loop is too busy to answer.
    pub(crate) async fn visitor(&self, shard: u32, entity: &str) -> Option<String> {
        let (answer, answered) = oneshot::channel();
        let inquiry = Inquiry { shard, entity: Arc::from(entity), answer };
        let sender = self.inquiries.lock().clone()?;
        sender.try_send(inquiry).ok()?;
        timeout(INQUIRY_TIME_MAX, answered).await.ok()?.ok()?
    }

    /// Remembers a fight, and forgets the oldest if there are too many.
    pub(crate) fn record_fight(&self, at: Time, entity: &str, fight: Fight) {
        let mut fights = self.fights.lock();
        if fights.len() >= FIGHTS_KEPT_MAX {
            fights.pop_front();
        }
        fights.push_back(SeenFight { at, entity: entity.to_owned(), fight });
    }

    pub(crate) fn fights(&self) -> Vec<SeenFight> {
        self.fights.lock().iter().cloned().collect()
    }

    pub(crate) fn publish(&self, instance: &str, stages: BTreeMap<String, StageStatus>) {
        let mut published = self.published.lock();
        instance.clone_into(&mut published.instance);
        published.stages = stages;
    }

    /// The status of the stages in the process of this name, if its loop runs here.
    pub(crate) fn of_instance(&self, instance: &str) -> Option<BTreeMap<String, StageStatus>> {
        let published = self.published.lock();
        (published.instance == instance).then(|| published.stages.clone())
    }

    /// The process that publishes; `None` before it starts.
    pub(crate) fn instance(&self) -> Option<String> {
        let published = self.published.lock();
        (!published.instance.is_empty()).then(|| published.instance.clone())
    }

    pub(crate) fn stages(&self) -> BTreeMap<String, StageStatus> {
        self.published.lock().stages.clone()
    }

    /// Whether a stage does not answer.
    pub(crate) fn is_down(&self, stage: &str) -> bool {
        self.published.lock().stages.get(stage).is_some_and(|status| status.down.is_some())
    }
}

/// For other processes, with at most this many failures.
pub(crate) fn to_row(stage: String, status: StageStatus, failures_max: usize) -> Status {
    let (block, until_ms) = block_to_row(status.blocked.as_ref());
    let line_status = |(line, blocked): (Line, Blocked)| {
        let (block, until_ms) = block_to_row(Some(&blocked));
        LineStatus { line: line_to_row(line).into(), block: block.into(), until_ms, ..LineStatus::default() }
    };
    let ms = |time: Option<Time>| time.map_or(0, Time::as_ms);
    let Counts { visits, changes, failures, parked, conflicts, fights } = status.counts;
    let (took, took_us) = status.latencies.to_row();
    let failed = status.failed.iter().skip(status.failed.len().saturating_sub(failures_max));
    let (down_since, down_error) =
        status.down.map_or((None, String::new()), |Outage { since, error }| (Some(since), error));
    Status {
        stage,
        block: block.into(),
        until_ms,
        down_since_ms: ms(down_since),
        down_error,
        calls: status.calls,
        visits_per_s: status.visits_per_s,
        oldest_due_ms: ms(status.oldest_due),
        visits,
        changes,
        failures,
        parked,
        conflicts,
        fights,
        lines: status.lines.into_iter().map(line_status).collect(),
        late_before_ms: status.late_before.as_ms(),
        took,
        took_us,
        failed: failed.map(failed_to_row).collect(),
        ..Status::default()
    }
}

pub(crate) fn from_row(row: &Status) -> StageStatus {
    let block = |block: Block, until_ms| block_from_row(block, Time::from_ms(until_ms));
    let blocked = block(row.block.as_known().unwrap_or_default(), row.until_ms);
    let line_status = |status: &LineStatus| {
        let line = line_from_row(status.line.as_known().unwrap_or_default())?;
        Some((line, block(status.block.as_known().unwrap_or_default(), status.until_ms)?))
    };
    let mut lines: BTreeMap<Line, Blocked> = row.lines.iter().filter_map(line_status).collect();
    if let (true, Some(blocked)) =
        (row.lines.is_empty(), blocked.as_ref().filter(|b| **b != Blocked::Nothing))
    {
        // An older process does not write lines.
        lines = Line::ALL.into_iter().map(|line| (line, blocked.clone())).collect();
    }
    let some = |ms: i64| (ms != 0).then(|| Time::from_ms(ms));
    let Status { visits, changes, failures, parked, conflicts, fights, .. } = *row;
    StageStatus {
        blocked,
        lines,
        late_before: Time::from_ms(row.late_before_ms),
        down: some(row.down_since_ms).map(|since| Outage { since, error: row.down_error.clone() }),
        calls: row.calls,
        visits_per_s: row.visits_per_s,
        oldest_due: some(row.oldest_due_ms),
        counts: Counts { visits, changes, failures, parked, conflicts, fights },
        latencies: Latencies::from_row(&row.took, row.took_us),
        failed: Arc::new(row.failed.iter().map(failed_from_row).collect()),
    }
}

fn failed_to_row(failed: &FailedVisit) -> FailedAttempt {
    let FailedVisit { at, entity, error, parked } = failed.clone();
    FailedAttempt { at_ms: at.as_ms(), entity, error, parked, ..FailedAttempt::default() }
}

fn failed_from_row(row: &FailedAttempt) -> FailedVisit {
    let FailedAttempt { at_ms, entity, error, parked, .. } = row.clone();
    FailedVisit { at: Time::from_ms(at_ms), entity, error, parked }
}

fn block_to_row(blocked: Option<&Blocked>) -> (Block, i64) {
    match blocked {
        None => (Block::BLOCK_UNSPECIFIED, 0),
        Some(Blocked::Nothing) => (Block::BLOCK_NOTHING_DUE, 0),
        Some(Blocked::Busy) => (Block::BLOCK_BUSY, 0),
        Some(Blocked::Calls) => (Block::BLOCK_CALLS, 0),
        Some(Blocked::Rate(until)) => (Block::BLOCK_RATE, until.as_ms()),
        Some(Blocked::Paused) => (Block::BLOCK_PAUSED, 0),
        Some(Blocked::Down(until)) => (Block::BLOCK_DOWN, until.as_ms()),
    }
}

fn block_from_row(block: Block, until: Time) -> Option<Blocked> {
    match block {
        Block::BLOCK_UNSPECIFIED => None,
        Block::BLOCK_NOTHING_DUE => Some(Blocked::Nothing),
        Block::BLOCK_BUSY => Some(Blocked::Busy),
        Block::BLOCK_CALLS => Some(Blocked::Calls),
        Block::BLOCK_RATE => Some(Blocked::Rate(until)),
        Block::BLOCK_PAUSED => Some(Blocked::Paused),
        Block::BLOCK_DOWN => Some(Blocked::Down(until)),
    }
}

fn line_to_row(line: Line) -> LineRow {
    match line {
        Line::Fresh => LineRow::LINE_FRESH,
        Line::Timer => LineRow::LINE_TIMER,
        Line::Late => LineRow::LINE_LATE,
        Line::Background => LineRow::LINE_BACKGROUND,
    }
}

fn line_from_row(line: LineRow) -> Option<Line> {
    match line {
        LineRow::LINE_UNSPECIFIED => None,
        LineRow::LINE_FRESH => Some(Line::Fresh),
        LineRow::LINE_TIMER => Some(Line::Timer),
        LineRow::LINE_LATE => Some(Line::Late),
        LineRow::LINE_BACKGROUND => Some(Line::Background),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const AT: Time = Time::from_ms(1_700_000_000_000);

    fn blocks() -> [Option<Blocked>; 7] {
        [
            None,
            Some(Blocked::Nothing),
            Some(Blocked::Busy),
            Some(Blocked::Calls),
            Some(Blocked::Rate(AT)),
            Some(Blocked::Paused),
            Some(Blocked::Down(AT)),
        ]
    }

    fn is_real(blocked: &Blocked) -> bool {
        *blocked != Blocked::Nothing
    }

    #[test]
    fn what_a_process_says_is_read_by_others_as_it_was_said() {
        for (blocked, line) in
            blocks().into_iter().flat_map(|block| Line::ALL.map(|line| (block.clone(), line)))
        {
            let counts = Counts { visits: 1, changes: 2, failures: 3, parked: 4, conflicts: 5, fights: 6 };
            let down = blocked.as_ref().map(|_| Outage { since: AT, error: "gone".to_owned() });
            let oldest_due = blocked.as_ref().map(|_| AT);
            let lines = blocked.clone().filter(is_real).map(|blocked| (line, blocked)).into_iter().collect();
            let (calls, visits_per_s, late_before) = (6, 7.5, AT);
            let mut latencies = Latencies::default();
            latencies.note(Duration::from_millis(3), 2);
            let failed = |entity: &str| FailedVisit {
                at: AT,
                entity: entity.to_owned(),
                error: "no price".to_owned(),
                parked: true,
            };
            let published = StageStatus {
                blocked,
                lines,
                late_before,
                down,
                calls,
                visits_per_s,
                oldest_due,
                counts,
                latencies,
                failed: Arc::new(vec![failed("a"), failed("b")]),
            };
            assert_eq!(from_row(&to_row("price".to_owned(), published.clone(), 2)), published);
            let read = from_row(&to_row("price".to_owned(), published, 1));
            assert_eq!(*read.failed, [failed("b")], "the last one");
        }
    }

    #[test]
    fn what_an_older_process_says_of_a_stage_holds_for_all_its_lines() {
        for blocked in blocks() {
            let published = StageStatus { blocked: blocked.clone(), ..StageStatus::default() };
            let read = from_row(&to_row("price".to_owned(), published, 0));
            assert_eq!(read.lines.len(), if blocked.as_ref().is_some_and(is_real) { 4 } else { 0 });
            assert!(read.lines.values().all(|line| Some(line) == blocked.as_ref()));
        }
    }

    #[test]
    fn the_last_fights_are_remembered_and_the_oldest_forgotten() {
        let status = LiveStatus::default();
        for n in 0..FIGHTS_KEPT_MAX + 5 {
            let fight = Fight { stages: Vec::new(), delay: Duration::from_secs(n as u64) };
            status.record_fight(AT, &format!("e{n}"), fight);
        }
        let fights = status.fights();
        assert_eq!(fights.len(), FIGHTS_KEPT_MAX);
        assert_eq!((&*fights[0].entity, &*fights[FIGHTS_KEPT_MAX - 1].entity), ("e5", "e104"));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_a_loop_that_does_not_answer() {
        let status = LiveStatus::default();
        assert_eq!(status.visitor(0, "a").await, None, "no loop runs");
        let loop_that_hangs = status.open_inquiries();
        for _ in 0..2 * INQUIRIES_MAX {
            assert_eq!(status.visitor(0, "a").await, None);
        }
        drop(loop_that_hangs);
        assert_eq!(status.visitor(0, "a").await, None, "it has ended");
    }
}
