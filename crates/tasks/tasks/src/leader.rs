//! Decides while this process is the leader.
//!
//! ```text
//! values, ends of runs, actions, files, time ──► Planner::decide ──► one commit for some decisions ──► runs are started
//!         (hints wake up; rows tell)                                  (guarded by the fence)          (or found)
//! ```
//!
//! Every wake-up may be duplicated, late or lost: only the store counts, and a new leader reads it
//! completely. The mark of a changed value is forgotten only under the fence, so that an old leader
//! cannot remove what the new one has not seen.

mod commit;
mod events;
mod remote_runs;
mod rounds;

use std::sync::Arc;
use std::time::Duration;

use planner::Phase;
use store::{Hint, Hints, Read as _};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::core::{Core, run_id};
use crate::entity::{self, TaskEntity};
use crate::error::Result;
use crate::executor::ExecuteError;
use crate::limits::{ERROR_PAUSE, POLL_EVERY};
use crate::rows::decode;
use crate::spec::{RunContext, spec_of};
use crate::tables::{ENDS, KILLS, RUNS, SHARD};

use rounds::Leader;
use wire::torg::tasks::v1::TaskRun;

pub(crate) use commit::add_event;

/// Decides whenever this process is the leader, until `stop` turns true; tracks the runs of this
/// process at any time.
pub(crate) async fn run(core: Arc<Core>, stop: watch::Receiver<bool>) {
    tokio::join!(decide(&core, stop.clone()), kill_on_request(&core, stop));
}

async fn decide(core: &Arc<Core>, mut stop: watch::Receiver<bool>) {
    let mut serving = core.watcher.serving();
    let mut found_ours = false;
    while !*stop.borrow() {
        if !found_ours {
            found_ours = log_error(&track_local(core).await, "find the runs of this process");
        }
        let fence = serving.borrow_and_update().get(&SHARD).cloned();
        let Some(fence) = fence else {
            log_error(&remote_runs::report_ends(core).await, "report the ends of runs");
            tokio::select! {
                biased;
                () = stopped(&mut stop) => {}
                _ = serving.changed() => serving.mark_changed(),
                () = core.tracker.next_end() => {}
                () = sleep(POLL_EVERY) => {}
            }
            continue;
        };
        match Leader::begin(Arc::clone(core), fence).await {
            Ok(leader) => {
                leader.run(&mut serving, &mut stop).await;
                // A start whose commit is unknown may have left a run that nothing tracks.
                found_ours = false;
            }
            Err(error) => {
                tracing::warn!(%error, "cannot become the leader of tasks, will try again");
                sleep(ERROR_PAUSE).await;
            }
        }
        *core.leader() = None;
    }
}

/// Tracks every run that the store says is here.
async fn track_local(core: &Core) -> Result<()> {
    let tasks = entity::load_all(&core.store).await?.tasks;
    let definitions = crate::definitions::current(&core.store).await;
    // A failed read does not mean that the definition is gone.
    if let Err(error) = definitions.as_ref()
        && error.is_passing()
    {
        return Err(error.clone());
    }
    for task in tasks.iter().filter(|task| task.place == core.place) {
        let definition = match &definitions {
            Ok(definitions) => definitions.task(&task.name).cloned(),
            Err(_) => None,
        };
        track(core, task, definition).await?;
    }
    Ok(())
}

/// Tracks the current run of a task. A run whose end was reported is over and must not be started.
async fn track(core: &Core, task: &TaskEntity, definition: Option<Arc<taskfile::Task>>) -> Result<()> {
    let Phase::Running { run, since, seen, cause } = &task.state.phase else { return Ok(()) };
    let number = *run as i64;
    if core.store.get_one(&ENDS.key((SHARD, &*task.name, number))).await?.is_some() {
        return Ok(());
    }
    let row = core.store.get_one(&RUNS.key((SHARD, &*task.name, number))).await?;
    let row: TaskRun = row.map(|row| decode(&row)).transpose()?.unwrap_or_default();
    // Others count on the timeout that the run had when it was decided.
    let timeout = Some(Duration::from_millis(row.timeout_ms));
    let (seen, cause) = (seen.clone(), cause.clone());
    let context = RunContext { attempt: row.attempt.max(1), seen, cause, timeout };
    let spec = spec_of(definition, context, Arc::clone(&core.variables));
    core.tracker.track((task.name.clone(), *run), run_id(&task.name, &task.state, *run), *since, spec);
    Ok(())
}

/// Kills runs of this process on request.
async fn kill_on_request(core: &Core, mut stop: watch::Receiver<bool>) {
    let mut hints = core.store.hints();
    while !*stop.borrow() {
        log_error(&kill_requested(core).await, "kill runs");
        tokio::select! {
            biased;
            () = stopped(&mut stop) => {}
            _ = timeout(POLL_EVERY * 5, wait_for_table(&mut hints, KILLS.def().name)) => {}
        }
    }
}

async fn kill_requested(core: &Core) -> Result<()> {
    let page = core.store.scan(&KILLS.prefix((SHARD, &*core.place))).await?;
    for row in page.rows {
        let (.., task, run) = KILLS.parts(&row.key)?;
        if let Some(found) = entity::load(&core.store, &task).await?
            && found.state.running().is_some_and(|(number, _)| number == run as u64)
        {
            let killed = core.executor.kill(&run_id(&task, &found.state, run as u64)).await;
            // A run that was not started may still be.
            if let Err(ExecuteError::Transient(error) | ExecuteError::NotStarted(error)) = killed {
                tracing::warn!(task, run, error, "cannot kill a run, will try again");
                continue;
            }
        }
        let mut batch = store::Batch::new();
        batch.delete(row.key);
        let _: store::Outcome = core.store.commit(batch).await?;
    }
    Ok(())
}

/// Waits until a table changes. Never returns once the store is closed.
async fn wait_for_table(hints: &mut Hints, table: &str) {
    while let Some(hint) = hints.next().await {
        let about = match &hint {
            Hint::Put(key) => key.table().name,
            Hint::Changed { table, .. } => table,
            Hint::Anything => return,
        };
        if about == table {
            return;
        }
    }
    std::future::pending::<()>().await;
}

/// Waits for `stop`, or for its sender to go away.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

fn log_error(outcome: &Result<()>, doing: &str) -> bool {
    if let Err(error) = outcome {
        tracing::warn!(%error, "cannot {doing}, will try again");
    }
    outcome.is_ok()
}
