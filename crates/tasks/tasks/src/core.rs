//! What all parts of the scheduler share.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clock::Clock;
use ctl::Ctl;
use jiff::Timestamp;
use planner::board::{Board, Input, TaskState};
use runs::RunId;
use store::Store;
use watcher::Watcher;

use crate::attendant::Attendant;
use crate::carrying::Carrier;
use crate::definitions::{self, Definitions};
use crate::entity::{self, All, TaskEntity};
use crate::error::Result;
use crate::spec::Variables;
use crate::time::timestamp;

pub(crate) struct Core {
    pub(crate) store: Store,
    pub(crate) ctl: Ctl,
    pub(crate) watcher: Watcher<TaskEntity>,
    pub(crate) clock: Clock,
    pub(crate) carrier: Arc<dyn Carrier>,
    pub(crate) attendant: Attendant,
    /// Where this process's runs are.
    pub(crate) place: String,
    /// The environment of the scheduler.
    pub(crate) variables: Variables,
    /// The board, while this process decides.
    live: Mutex<Option<Live>>,
    /// The definitions that were read last: reading a hundred thousand takes seconds.
    read: Mutex<Definitions>,
    /// Decisions that were committed.
    pub(crate) decisions: AtomicU64,
    /// Alerts that were committed.
    pub(crate) alerts: AtomicU64,
}

/// What is known of all tasks.
pub(crate) struct Live {
    pub(crate) board: Board,
    pub(crate) definitions: Definitions,
}

impl Core {
    pub(crate) fn new(
        store: Store,
        ctl: Ctl,
        watcher: Watcher<TaskEntity>,
        carrier: Arc<dyn Carrier>,
        place: String,
        variables: Variables,
    ) -> Self {
        let clock = watcher.clock().clone();
        let attendant = Attendant::new(Arc::clone(&carrier), clock.clone());
        Self {
            store,
            ctl,
            watcher,
            clock,
            carrier,
            attendant,
            place,
            variables,
            live: Mutex::default(),
            read: Mutex::default(),
            decisions: AtomicU64::default(),
            alerts: AtomicU64::default(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        timestamp(self.clock.now())
    }

    /// The board of this process, if it decides.
    pub(crate) fn live(&self) -> MutexGuard<'_, Option<Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The definitions that are at work, from the store. They are read once for each deployment.
    pub(crate) async fn definitions(&self) -> Result<Definitions> {
        let newest = definitions::newest(&self.store).await?.map_or(0, |deployment| deployment.number);
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if read.number == newest {
            return Ok(read);
        }
        let current = definitions::current(&self.store).await?;
        current.clone_into(&mut self.read.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(current)
    }

    /// All that is known, from the store.
    pub(crate) async fn load(&self) -> Result<(Live, Vec<TaskEntity>)> {
        let definitions = self.definitions().await?;
        let All { tasks, damaged } = entity::load_all(&self.store).await?;
        let plans = definitions.plans().iter().filter(|plan| !damaged.contains(&*plan.name));
        let values = self.ctl.all().await?;
        let input = Input {
            settings: definitions.settings(),
            plans: plans.cloned().collect(),
            states: tasks.iter().map(|task| (task.name.clone(), task.state.clone())).collect(),
            values: values.into_iter().map(|(parameter, current)| (parameter, current.value)).collect(),
        };
        Ok((Live { board: Board::new(input, self.now()), definitions }, tasks))
    }
}

/// The id of a run. It is another one for another store, and for a task that is new under an old name: a folder of runs may outlive both.
pub(crate) fn run_id(task: &str, state: &TaskState, run: u64) -> RunId {
    let since = state.known_since.as_millisecond();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let fit = task.len() <= 80 && task.chars().all(plain) && !task.starts_with('.');
    let name = if fit {
        task.to_owned()
    } else {
        let shown: String = task.chars().filter(|letter| plain(*letter) && *letter != '.').take(40).collect();
        format!("{shown}-{:016x}", xxhash_rust::xxh3::xxh3_64(task.as_bytes()))
    };
    let id = format!("{name}.{since:x}.{run}");
    id.parse().unwrap_or_else(|error| unreachable!("{id}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_of_every_task_has_an_id_of_its_own_that_names_a_folder() {
        let state = TaskState::new(Timestamp::from_second(1_700_000_000).unwrap());
        let later = TaskState::new(Timestamp::from_second(1_700_000_001).unwrap());
        let long = "x".repeat(200);
        let names = ["sales", "sales.1", "отчёт", "отчёты", ".hidden", "a b", "a_b", &long, "-"];
        let mut ids: Vec<String> = Vec::new();
        for name in names {
            for state in [&state, &later] {
                ids.extend([1, 2].map(|run| run_id(name, state, run).to_string()));
            }
        }
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count);
        assert_eq!(run_id("sales", &state, 7).to_string(), "sales.18bcfe56800.7");
    }
}
