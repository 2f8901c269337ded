//! Runs whose process is another one than the process that decides.

use std::collections::BTreeMap;

use buffa::{EnumValue, Message as _};
use ctl::messages;
use jiff::Timestamp;
use planner::board::Outcome;
use store::{Batch, Read as _, Row};
use wire::torg::tasks::v1::{TaskRun, TaskRunEnd, task_run};

use crate::attendant::{Ended, RunKey};
use crate::core::Core;
use crate::entity;
use crate::error::Result;
use crate::limits::FOREIGN_GRACE;
use crate::rows::{damaged, decode, needed_time};
use crate::tables::{ENDS, RUNS, SHARD};

/// When a run of another place counts as lost, if nobody tells its end before.
pub(super) type Deadlines = BTreeMap<RunKey, Timestamp>;

/// Tells whoever decides how runs of this process ended.
pub(super) async fn report_ends(core: &Core) -> Result<()> {
    for (key, ended) in core.attendant.ended() {
        let (task, run) = &key;
        let under_way = entity::load(&core.store, task).await?;
        let under_way = under_way.and_then(|task| task.state.running());
        if under_way.is_some_and(|(number, _)| number == *run) {
            let mut batch = Batch::new();
            batch.set(ENDS.key((SHARD, &**task, *run as i64)), end_message(&ended).encode_to_vec());
            let _: store::Outcome = core.store.commit(batch).await?;
        }
        core.attendant.forget(&key);
    }
    Ok(())
}

/// The deadline of a run that is at another place.
pub(super) async fn deadline(core: &Core, key: &RunKey, since: Timestamp) -> Result<Timestamp> {
    let row = core.store.get_one(&RUNS.key((SHARD, &*key.0, key.1 as i64))).await?;
    let timeout_ms = row.map(|row| decode::<TaskRun>(&row)).transpose()?.map_or(0, |run| run.timeout_ms);
    let time = jiff::SignedDuration::from_millis(i64::try_from(timeout_ms).unwrap_or(i64::MAX));
    let grace = jiff::SignedDuration::try_from(FOREIGN_GRACE).unwrap_or_default();
    Ok(since.checked_add(time).and_then(|over| over.checked_add(grace)).unwrap_or(Timestamp::MAX))
}

fn end_message(ended: &Ended) -> TaskRunEnd {
    use task_run::Outcome as Kind;
    let (outcome, error, wrote) = match &ended.outcome {
        Outcome::Succeeded { wrote } => (Kind::OUTCOME_SUCCEEDED, String::new(), messages::seen(wrote)),
        Outcome::Failed { error } => (Kind::OUTCOME_FAILED, error.clone(), BTreeMap::new()),
        Outcome::Lost => (Kind::OUTCOME_LOST, String::new(), BTreeMap::new()),
    };
    TaskRunEnd {
        outcome: EnumValue::Known(outcome),
        error,
        wrote,
        end_time: Some(messages::time(ended.at)).into(),
        ..Default::default()
    }
}

/// An end that another process has told.
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
