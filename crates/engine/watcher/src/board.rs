//! The board: what the loop of this process says of its stages, the last fights that it has seen, and a way to ask it what it is doing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::budget::Fight;
use crate::limits::{FIGHTS_KEPT_MAX, INQUIRIES_MAX, INQUIRY_TIME_MAX, LATE_PAUSE, LATE_PAUSE_MAX};
use crate::rows::{Block, FailedAttempt, Line as LineRow, LineStatus, Status};
use crate::schedule::{Blocked, Line};
use crate::time::Time;
use crate::times::Times;

/// How a stage fares in one process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageStatus {
    /// What stands in the way of the next call; `None` if nothing does.
    pub blocked: Option<Blocked>,
    /// What stands in the way of each line in which something is due; nothing stands in the way of a line that is not there.
    pub lines: BTreeMap<Line, Blocked>,
    /// Timers that were due before this are taken to have come due while nobody could serve them: they stand in [`Line::Late`].
    pub late_before: Time,
    /// Whether the stage is down: it does not answer.
    pub down: Option<Outage>,
    /// Calls under way.
    pub calls: u64,
    /// Visits in a second, over the last few seconds.
    pub visits_per_s: f64,
    /// When the oldest visit that is at hand was due.
    pub oldest_due: Option<Time>,
    /// What has happened since the process began to serve.
    pub counts: Counts,
    /// How long visits took since the process began to serve.
    pub times: Times,
    /// The last failures, the oldest first: at most [`FAILURES_KEPT_MAX`](crate::limits::FAILURES_KEPT_MAX).
    pub failed: Arc<Vec<FailedVisit>>,
}

/// A visit that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedVisit {
    /// When.
    pub at: Time,
    /// The entity.
    pub entity: String,
    /// What the stage said, cut if it is long.
    pub error: String,
    /// Whether it was parked; otherwise it is tried again.
    pub parked: bool,
}

/// A stage does not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Since when.
    pub since: Time,
    /// What the last call came to.
    pub error: String,
}

/// A fight that was seen by this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenFight {
    /// When.
    pub at: Time,
    /// The entity over which stages fight.
    pub entity: String,
    /// Who fights, and what comes of it.
    pub fight: Fight,
}

/// What has happened to the visits of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Answers that were saved.
    pub visits: u64,
    /// Those of them that changed the entity.
    pub changes: u64,
    /// Attempts that failed.
    pub failures: u64,
    /// Entities that were parked.
    pub parked: u64,
    /// Visits that had to be made again because something changed meanwhile.
    pub conflicts: u64,
    /// Changes beyond the budget of an entity: stages fight over it.
    pub fights: u64,
}

/// A question to the loop: which stage is visiting this entity?
#[derive(Debug)]
pub(crate) struct Inquiry {
    pub(crate) shard: u32,
    pub(crate) entity: Arc<str>,
    /// Hears the name of the stage; the system stage has the empty name.
    pub(crate) answer: oneshot::Sender<Option<String>>,
}

/// What the loop of this process says.
#[derive(Debug, Default)]
pub(crate) struct Board {
    said: Mutex<Said>,
    /// The last fights, the oldest first.
    fights: Mutex<VecDeque<SeenFight>>,
    /// Stages that took too long to say whether they want an entity.
    late: Mutex<BTreeMap<String, Late>>,
    /// Where the loop hears questions.
    inquiries: Mutex<Option<mpsc::Sender<Inquiry>>>,
}

/// A stage that took too long to answer a question.
#[derive(Debug)]
struct Late {
    /// When it may be asked again, with one call.
    until: Time,
    pause: Duration,
    /// That call is under way.
    is_tried: bool,
}

#[derive(Debug, Default)]
struct Said {
    /// The process that says it; empty while no loop runs.
    instance: String,
    stages: BTreeMap<String, StageStatus>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    fn said(&self) -> MutexGuard<'_, Said> {
        locked(&self.said)
    }

    /// Whether a stage may be asked. One that took too long is asked again after a while, with one call first.
    pub(crate) fn may_ask(&self, stage: &str, now: Time) -> bool {
        match locked(&self.late).get_mut(stage) {
            None => true,
            Some(late) if now < late.until => false,
            Some(late) => {
                (late.until, late.is_tried) = (now + late.pause, true);
                true
            }
        }
    }

    /// A stage answered a question in time, or not.
    pub(crate) fn answered_in_time(&self, stage: &str, in_time: bool, now: Time) {
        let mut late = locked(&self.late);
        if in_time {
            late.remove(stage);
            return;
        }
        let pause = match late.get(stage) {
            None => LATE_PAUSE,
            Some(late) if late.is_tried => (late.pause * 2).min(LATE_PAUSE_MAX),
            // It was asked about others at the same time.
            Some(_) => return,
        };
        late.insert(stage.to_owned(), Late { until: now + pause, pause, is_tried: false });
    }

    /// Where the loop that begins to run is to hear questions.
    pub(crate) fn take_inquiries(&self) -> mpsc::Receiver<Inquiry> {
        let (sender, receiver) = mpsc::channel(INQUIRIES_MAX);
        *locked(&self.inquiries) = Some(sender);
        receiver
    }

    /// The stage that is visiting an entity at this moment, in the words of the loop of this process; `None` if nobody is, or it is too busy to say.
    pub(crate) async fn visitor(&self, shard: u32, entity: &str) -> Option<String> {
        let (answer, answered) = oneshot::channel();
        let inquiry = Inquiry { shard, entity: Arc::from(entity), answer };
        let sender = locked(&self.inquiries).clone()?;
        sender.try_send(inquiry).ok()?;
        timeout(INQUIRY_TIME_MAX, answered).await.ok()?.ok()?
    }

    /// Remembers a fight, and forgets the oldest if there are too many.
    pub(crate) fn note_fight(&self, at: Time, entity: &str, fight: Fight) {
        let mut fights = locked(&self.fights);
        if fights.len() >= FIGHTS_KEPT_MAX {
            fights.pop_front();
        }
        fights.push_back(SeenFight { at, entity: entity.to_owned(), fight });
    }

    /// The last fights, the oldest first.
    pub(crate) fn fights(&self) -> Vec<SeenFight> {
        locked(&self.fights).iter().cloned().collect()
    }

    /// Replaces what is said.
    pub(crate) fn say(&self, instance: &str, stages: BTreeMap<String, StageStatus>) {
        let mut said = self.said();
        instance.clone_into(&mut said.instance);
        said.stages = stages;
    }

    /// What the loop of that process says of its stages, if it runs here.
    pub(crate) fn said_by(&self, instance: &str) -> Option<BTreeMap<String, StageStatus>> {
        let said = self.said();
        (said.instance == instance).then(|| said.stages.clone())
    }

    /// Who says it; `None` if nothing was said yet.
    pub(crate) fn instance(&self) -> Option<String> {
        let said = self.said();
        (!said.instance.is_empty()).then(|| said.instance.clone())
    }

    /// All that is said here.
    pub(crate) fn stages(&self) -> BTreeMap<String, StageStatus> {
        self.said().stages.clone()
    }

    /// Whether a stage is known not to answer.
    pub(crate) fn is_down(&self, stage: &str) -> bool {
        self.said().stages.get(stage).is_some_and(|status| status.down.is_some())
    }
}

/// As other processes read it, with no more than so many failures.
pub(crate) fn to_row(stage: String, status: StageStatus, failures_max: usize) -> Status {
    let (block, until_ms) = block_to_row(status.blocked.as_ref());
    let line_status = |(line, blocked): (Line, Blocked)| {
        let (block, until_ms) = block_to_row(Some(&blocked));
        LineStatus { line: line_to_row(line).into(), block: block.into(), until_ms, ..LineStatus::default() }
    };
    let ms = |time: Option<Time>| time.map_or(0, Time::as_ms);
    let Counts { visits, changes, failures, parked, conflicts, fights } = status.counts;
    let (took, took_us) = status.times.to_row();
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

/// What another process has written.
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
        // Whoever wrote this knows no lines.
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
        times: Times::from_row(&row.took, row.took_us),
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
            let mut times = Times::default();
            times.note(Duration::from_millis(3), 2);
            let failed = |entity: &str| FailedVisit {
                at: AT,
                entity: entity.to_owned(),
                error: "no price".to_owned(),
                parked: true,
            };
            let said = StageStatus {
                blocked,
                lines,
                late_before,
                down,
                calls,
                visits_per_s,
                oldest_due,
                counts,
                times,
                failed: Arc::new(vec![failed("a"), failed("b")]),
            };
            assert_eq!(from_row(&to_row("price".to_owned(), said.clone(), 2)), said);
            let read = from_row(&to_row("price".to_owned(), said, 1));
            assert_eq!(*read.failed, [failed("b")], "the last one");
        }
    }

    #[test]
    fn what_an_older_process_says_of_a_stage_holds_for_all_its_lines() {
        for blocked in blocks() {
            let said = StageStatus { blocked: blocked.clone(), ..StageStatus::default() };
            let read = from_row(&to_row("price".to_owned(), said, 0));
            assert_eq!(read.lines.len(), if blocked.as_ref().is_some_and(is_real) { 4 } else { 0 });
            assert!(read.lines.values().all(|line| Some(line) == blocked.as_ref()));
        }
    }

    #[test]
    fn the_last_fights_are_remembered_and_the_oldest_forgotten() {
        let board = Board::default();
        for n in 0..FIGHTS_KEPT_MAX + 5 {
            let fight = Fight { stages: Vec::new(), delay: Duration::from_secs(n as u64) };
            board.note_fight(AT, &format!("e{n}"), fight);
        }
        let fights = board.fights();
        assert_eq!(fights.len(), FIGHTS_KEPT_MAX);
        assert_eq!((&*fights[0].entity, &*fights[FIGHTS_KEPT_MAX - 1].entity), ("e5", "e104"));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_a_loop_that_does_not_answer() {
        let board = Board::default();
        assert_eq!(board.visitor(0, "a").await, None, "no loop runs");
        let loop_that_hangs = board.take_inquiries();
        for _ in 0..2 * INQUIRIES_MAX {
            assert_eq!(board.visitor(0, "a").await, None);
        }
        drop(loop_that_hangs);
        assert_eq!(board.visitor(0, "a").await, None, "it has ended");
    }
}

#[cfg(test)]
mod late {
    use super::*;

    fn at(s: i64) -> Time {
        Time::from_ms(s * 1000)
    }

    #[test]
    fn a_stage_that_takes_too_long_to_answer_is_asked_again_with_one_call_after_a_growing_pause() {
        let board = Board::default();
        assert!(board.may_ask("slow", at(0)));
        board.answered_in_time("slow", false, at(1));
        // It was asked twice at the same time.
        board.answered_in_time("slow", false, at(1));
        assert!(!board.may_ask("slow", at(30)) && board.may_ask("quick", at(30)));
        assert!(board.may_ask("slow", at(31)), "it is tried");
        assert!(!board.may_ask("slow", at(31)), "by one call");
        board.answered_in_time("slow", false, at(32));
        assert!(!board.may_ask("slow", at(91)) && board.may_ask("slow", at(92)), "after twice as long");
        board.answered_in_time("slow", true, at(93));
        assert!(board.may_ask("slow", at(93)) && board.may_ask("slow", at(93)));
    }
}
