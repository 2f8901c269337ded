//! What all parts of the crate share.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use clock::Clock;
use ctl::Ctl;
use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use planner::{Planner, Snapshot, TaskState};
use runs::RunId;
use store::Store;
use watcher::Watcher;

use crate::definitions::{self, Definitions};
use crate::entity::{self, All, TaskEntity};
use crate::error::Result;
use crate::executor::Executor;
use crate::run_tracker::RunTracker;
use crate::spec::Variables;
use crate::time::timestamp;

pub(crate) struct Core {
    pub(crate) store: Store,
    pub(crate) ctl: Ctl,
    pub(crate) watcher: Watcher<TaskEntity>,
    pub(crate) clock: Clock,
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) tracker: RunTracker,
    /// Where the runs of this process are.
    pub(crate) place: String,
    /// The environment for `${NAME}` in task files.
    pub(crate) variables: Variables,
    /// The planner, while this process is the leader.
    leader: Mutex<Option<LeaderState>>,
    /// Cached: reading a hundred thousand definitions takes seconds.
    read: Mutex<Definitions>,
    pub(crate) decisions: AtomicU64,
    pub(crate) alerts: AtomicU64,
}

/// What the leader knows of all tasks.
pub(crate) struct LeaderState {
    pub(crate) planner: Planner,
    pub(crate) definitions: Definitions,
}

impl Core {
    pub(crate) fn new(
        store: Store,
        ctl: Ctl,
        watcher: Watcher<TaskEntity>,
        executor: Arc<dyn Executor>,
        place: String,
        variables: Variables,
    ) -> Self {
        let clock = watcher.clock().clone();
        let tracker = RunTracker::new(Arc::clone(&executor), clock.clone());
        Self {
            store,
            ctl,
            watcher,
            clock,
            executor,
            tracker,
            place,
            variables,
            leader: Mutex::default(),
            read: Mutex::default(),
            decisions: AtomicU64::default(),
            alerts: AtomicU64::default(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        timestamp(self.clock.now())
    }

    pub(crate) fn leader(&self) -> MutexGuard<'_, Option<LeaderState>> {
        self.leader.lock()
    }

    /// The deployed definitions, from the store. They are read once per deployment.
    pub(crate) async fn definitions(&self) -> Result<Definitions> {
        let newest = definitions::newest(&self.store).await?.map_or(0, |deployment| deployment.number);
        let read = self.read.lock().clone();
        if read.number == newest {
            return Ok(read);
        }
        let current = definitions::current(&self.store).await?;
        current.clone_into(&mut self.read.lock());
        Ok(current)
    }

    pub(crate) async fn load(&self) -> Result<(LeaderState, Vec<TaskEntity>)> {
        let definitions = self.definitions().await?;
        let All { tasks, damaged } = entity::load_all(&self.store).await?;
        let plans = definitions.plans().iter().filter(|plan| !damaged.contains(&*plan.name));
        let values = self.ctl.all().await?;
        let snapshot = Snapshot {
            limits: definitions.limits().clone(),
            plans: plans.cloned().collect(),
            states: tasks.iter().map(|task| (task.name.clone(), task.state.clone())).collect(),
            values: values.into_iter().map(|(parameter, current)| (parameter, current.value)).collect(),
        };
        Ok((LeaderState { planner: Planner::new(snapshot, self.now()), definitions }, tasks))
    }
}

/// The id of a run. It differs between stores, and between tasks that had the same name at
/// different times, because a folder of runs may outlive both.
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
