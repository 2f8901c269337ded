//! Runs of processes other than the leader.

use std::collections::BTreeMap;

use buffa::Message as _;
use ctl::messages;
use jiff::Timestamp;
use planner::Outcome;
use store::{Batch, Read as _, Row};
use wire::torg::tasks::v1::{TaskRun, TaskRunEnd, task_run};

use crate::core::Core;
use crate::entity;
use crate::error::Result;
use crate::limits::REMOTE_GRACE;
use crate::rows::{damaged, decode, needed_time, outcome_message};
use crate::run_tracker::{Ended, RunKey};
use crate::tables::{ENDS, RUNS, SHARD};

/// When a remote run counts as lost, unless its end is reported before.
pub(super) type Deadlines = BTreeMap<RunKey, Timestamp>;

/// Reports ends of local runs to the leader.
pub(super) async fn report_ends(core: &Core) -> Result<()> {
    for (key, ended) in core.tracker.ended() {
        let (task, run) = &key;
        let under_way = entity::load(&core.store, task).await?;
        let under_way = under_way.and_then(|task| task.state.running());
        if under_way.is_some_and(|(number, _)| number == *run) {
            let mut batch = Batch::new();
            batch.set(ENDS.key((SHARD, &**task, *run as i64)), end_message(&ended).encode_to_vec());
            let _: store::Outcome = core.store.commit(batch).await?;
        }
        core.tracker.forget(&key);
    }
    Ok(())
}

pub(super) async fn deadline(core: &Core, key: &RunKey, since: Timestamp) -> Result<Timestamp> {
    let row = core.store.get_one(&RUNS.key((SHARD, &*key.0, key.1 as i64))).await?;
    let timeout_ms = row.map(|row| decode::<TaskRun>(&row)).transpose()?.map_or(0, |run| run.timeout_ms);
    let time = jiff::SignedDuration::from_millis(i64::try_from(timeout_ms).unwrap_or(i64::MAX));
    let grace = jiff::SignedDuration::try_from(REMOTE_GRACE).unwrap_or_default();
    Ok(since.checked_add(time).and_then(|over| over.checked_add(grace)).unwrap_or(Timestamp::MAX))
}

fn end_message(ended: &Ended) -> TaskRunEnd {
    let (outcome, error) = outcome_message(&ended.outcome);
    let wrote = match &ended.outcome {
        Outcome::Succeeded { wrote } => messages::seen(wrote),
        Outcome::Failed { .. } | Outcome::Lost => BTreeMap::new(),
    };
    let end_time = Some(messages::time(ended.at)).into();
    TaskRunEnd { outcome, error, wrote, end_time, ..Default::default() }
}

/// An end that another process reported.
pub(super) fn read_end(row: &Row) -> Result<(RunKey, Ended)> {
    use task_run::Outcome as Kind;
    let (_, task, run) = ENDS.parts(&row.key)?;
    let end: TaskRunEnd = decode(row)?;
    let outcome = match end.outcome.as_known() {
        Some(Kind::OUTCOME_SUCCEEDED) => {
            let wrote = messages::read_seen(&end.wrote).map_err(|detail| damaged(row, detail))?;
            Outcome::Succeeded { wrote }
        }
        Some(Kind::OUTCOME_FAILED) => Outcome::Failed { error: end.error },
        _ => Outcome::Lost,
    };
    let at = needed_time(end.end_time.as_option()).map_err(|detail| damaged(row, detail))?;
    Ok(((task.as_str().into(), run as u64), Ended { outcome, at }))
}
