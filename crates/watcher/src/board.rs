//! The board: what the loop of this process says of its stages, for whoever asks.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::rows::{Block, Status};
use crate::schedule::Blocked;
use crate::time::Time;

/// How a stage fares in one process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageStatus {
    /// What stands in the way of the next call; `None` if nothing does.
    pub blocked: Option<Blocked>,
    /// Since when the stage has not answered, and what the last call came to.
    pub down: Option<(Time, String)>,
    /// Calls under way.
    pub calls: u64,
    /// Visits in a second, over the last few seconds.
    pub visits_per_s: f64,
    /// When the oldest visit that is at hand was due.
    pub oldest_due: Option<Time>,
    /// What has happened since the process began to serve.
    pub counts: Counts,
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

/// What the loop of this process says.
#[derive(Debug, Default)]
pub(crate) struct Board {
    said: Mutex<Said>,
}

#[derive(Debug, Default)]
struct Said {
    /// The process that says it; empty while no loop runs.
    instance: String,
    stages: BTreeMap<String, StageStatus>,
}

impl Board {
    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// All that is said here.
    pub(crate) fn stages(&self) -> BTreeMap<String, StageStatus> {
        self.said().stages.clone()
    }

    /// Whether a stage is known not to answer.
    pub(crate) fn is_down(&self, stage: &str) -> bool {
        self.said().stages.get(stage).is_some_and(|status| status.down.is_some())
    }
}

/// As other processes read it.
pub(crate) fn to_row(stage: String, status: StageStatus) -> Status {
    let (block, until) = match status.blocked {
        None => (Block::BLOCK_UNSPECIFIED, None),
        Some(Blocked::Nothing) => (Block::BLOCK_NOTHING_DUE, None),
        Some(Blocked::Busy) => (Block::BLOCK_BUSY, None),
        Some(Blocked::Calls) => (Block::BLOCK_CALLS, None),
        Some(Blocked::Rate(until)) => (Block::BLOCK_RATE, Some(until)),
        Some(Blocked::Paused) => (Block::BLOCK_PAUSED, None),
        Some(Blocked::Down(until)) => (Block::BLOCK_DOWN, Some(until)),
    };
    let ms = |time: Option<Time>| time.map_or(0, Time::as_ms);
    let Counts { visits, changes, failures, parked, conflicts, fights } = status.counts;
    let (down_since, down_error) =
        status.down.map_or((None, String::new()), |(since, error)| (Some(since), error));
    Status {
        stage,
        block: block.into(),
        until_ms: ms(until),
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
        ..Status::default()
    }
}

/// What another process has written.
pub(crate) fn from_row(row: &Status) -> StageStatus {
    let until = Time::from_ms(row.until_ms);
    let blocked = match row.block.as_known().unwrap_or_default() {
        Block::BLOCK_UNSPECIFIED => None,
        Block::BLOCK_NOTHING_DUE => Some(Blocked::Nothing),
        Block::BLOCK_BUSY => Some(Blocked::Busy),
        Block::BLOCK_CALLS => Some(Blocked::Calls),
        Block::BLOCK_RATE => Some(Blocked::Rate(until)),
        Block::BLOCK_PAUSED => Some(Blocked::Paused),
        Block::BLOCK_DOWN => Some(Blocked::Down(until)),
    };
    let some = |ms: i64| (ms != 0).then(|| Time::from_ms(ms));
    let Status { visits, changes, failures, parked, conflicts, fights, .. } = *row;
    StageStatus {
        blocked,
        down: some(row.down_since_ms).map(|since| (since, row.down_error.clone())),
        calls: row.calls,
        visits_per_s: row.visits_per_s,
        oldest_due: some(row.oldest_due_ms),
        counts: Counts { visits, changes, failures, parked, conflicts, fights },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_says_is_read_by_others_as_it_was_said() {
        let at = Time::from_ms(1_700_000_000_000);
        let blocks = [
            None,
            Some(Blocked::Nothing),
            Some(Blocked::Busy),
            Some(Blocked::Calls),
            Some(Blocked::Rate(at)),
            Some(Blocked::Paused),
            Some(Blocked::Down(at)),
        ];
        for blocked in blocks {
            let counts = Counts { visits: 1, changes: 2, failures: 3, parked: 4, conflicts: 5, fights: 6 };
            let down = blocked.as_ref().map(|_| (at, "gone".to_owned()));
            let oldest_due = blocked.as_ref().map(|_| at);
            let said = StageStatus { blocked, down, calls: 6, visits_per_s: 7.5, oldest_due, counts };
            assert_eq!(from_row(&to_row("price".to_owned(), said.clone())), said);
        }
    }
}
