//! Deciding, while this process has the right to.
//!
//! ```text
//! values, ends of runs, people, files, time ──► Board::decide ──► one commit for some decisions ──► runs are started
//!        (hints wake up; rows tell)                                 (guarded by the fence)          (found again if started already)
//! ```
//!
//! Everything that wakes the loop may come twice, late or not at all: what counts is what stands in the store, and that is read whole when this process begins to
//! decide. A mark that a value has changed is forgotten only under the fence, so that an old owner cannot take away what the new one has not seen.

mod commit;
mod foreign;
mod hear;
mod owner;

use std::sync::Arc;
use std::time::Duration;

use planner::board::Phase;
use runs::Spec;
use store::{Hint, Hints, Read as _};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::carrying::CarryError;
use crate::core::{Core, run_id};
use crate::entity::{self, TaskEntity};
use crate::error::Result;
use crate::limits::{ERROR_PAUSE, LOOK_EVERY};
use crate::rows::decode;
use crate::spec::{Facts, spec_of};
use crate::tables::{ENDS, KILLS, RUNS, SHARD};

use owner::Owner;
use wire::torg::tasks::v1::TaskRun;

pub(crate) use commit::add_event;

/// Decides whenever this process has the right to, until `stop` turns true; looks after the runs of this process at any time.
pub(crate) async fn run(core: Arc<Core>, stop: watch::Receiver<bool>) {
    tokio::join!(decide(&core, stop.clone()), obey(&core, stop));
}

async fn decide(core: &Arc<Core>, mut stop: watch::Receiver<bool>) {
    let mut serving = core.watcher.serving();
    let mut found_ours = false;
    while !*stop.borrow() {
        if !found_ours {
            found_ours = log_error(&attend_ours(core).await, "look for the runs of this process");
        }
        let fence = serving.borrow_and_update().get(&SHARD).cloned();
        let Some(fence) = fence else {
            log_error(&foreign::report_ends(core).await, "tell the ends of runs");
            tokio::select! {
                biased;
                () = turns_true(&mut stop) => {}
                _ = serving.changed() => serving.mark_changed(),
                () = core.attendant.next_end() => {}
                () = sleep(LOOK_EVERY) => {}
            }
            continue;
        };
        match Owner::begin(Arc::clone(core), fence).await {
            Ok(owner) => {
                owner.run(&mut serving, &mut stop).await;
                // Of a start whose commit nobody knows about, nobody else would look after the run.
                found_ours = false;
            }
            Err(error) => {
                tracing::warn!(%error, "cannot begin to decide on tasks, will try again");
                sleep(ERROR_PAUSE).await;
            }
        }
        *core.live() = None;
    }
}

/// Looks after every run that the store says is here.
async fn attend_ours(core: &Core) -> Result<()> {
    let tasks = entity::load_all(&core.store).await?.tasks;
    let definitions = crate::definitions::current(&core.store).await;
    // A task is gone only if that is known.
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
        attend(core, task, definition.as_deref()).await?;
    }
    Ok(())
}

/// Looks after the run of a task that is under way here. One whose end was told is over: it must not be started, if it was not.
async fn attend(core: &Core, task: &TaskEntity, definition: Option<&taskfile::Task>) -> Result<()> {
    let Phase::Running { run, since, seen, cause } = &task.state.phase else { return Ok(()) };
    let number = *run as i64;
    if core.store.get_one(&ENDS.key((SHARD, &*task.name, number))).await?.is_some() {
        return Ok(());
    }
    let row = core.store.get_one(&RUNS.key((SHARD, &*task.name, number))).await?;
    let row: TaskRun = row.map(|row| decode(&row)).transpose()?.unwrap_or_default();
    let spec = match definition {
        // Others go by the time that it was given when it was decided.
        Some(task) => spec_of(task, &Facts { attempt: row.attempt.max(1), seen, cause }, &core.variables)
            .map(|spec| Spec { timeout: Duration::from_millis(row.timeout_ms), ..spec }),
        None => Err("its definition was gone before it was started".to_owned()),
    };
    core.attendant.attend((task.name.clone(), *run), run_id(&task.name, &task.state, *run), *since, spec);
    Ok(())
}

/// Kills runs of this process that people want killed.
async fn obey(core: &Core, mut stop: watch::Receiver<bool>) {
    let mut hints = core.store.hints();
    while !*stop.borrow() {
        log_error(&kill_wanted(core).await, "kill runs");
        tokio::select! {
            biased;
            () = turns_true(&mut stop) => {}
            _ = timeout(LOOK_EVERY * 5, heard_of(&mut hints, KILLS.def().name)) => {}
        }
    }
}

async fn kill_wanted(core: &Core) -> Result<()> {
    let page = core.store.scan(&KILLS.prefix((SHARD, &*core.place))).await?;
    for row in page.rows {
        let (.., task, run) = KILLS.parts(&row.key)?;
        if let Some(found) = entity::load(&core.store, &task).await?
            && found.state.running().is_some_and(|(number, _)| number == run as u64)
        {
            let killed = core.carrier.kill(&run_id(&task, &found.state, run as u64)).await;
            // One that was not started may still be.
            if let Err(CarryError::Passing(error) | CarryError::NotStarted(error)) = killed {
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

/// Waits until something was written into a table. Ends at once when the store is closed.
async fn heard_of(hints: &mut Hints, table: &str) {
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

/// Waits until somebody wants a stop, or is gone.
async fn turns_true(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Whether it was done.
fn log_error(outcome: &Result<()>, doing: &str) -> bool {
    if let Err(error) = outcome {
        tracing::warn!(%error, "cannot {doing}, will try again");
    }
    outcome.is_ok()
}
