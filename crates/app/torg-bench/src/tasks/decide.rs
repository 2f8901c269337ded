//! Measures the time from one change to the durable decisions of all tasks that it affects.

use std::collections::BTreeSet;
use std::time::Instant;

use clock::Clock;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::base::{Base, PATIENCE, change};
use super::executor::{AtOnce, Started};
use super::graph::{TASKS_A_PARAMETER, readers, task_file, task_name};
use super::options::TasksBench;
use super::report::Report;
use crate::figure::Figure;
use crate::measure::Measure;

/// The value that changes: the same as in the Dagster measurement.
const PARAMETER: u64 = 5;
/// Changes that are not counted.
const WARM_UP: u64 = 20;

pub(super) async fn measure(args: &TasksBench, report: &mut Report) -> anyhow::Result<()> {
    let Changes { called: few, since_stored } = changes(args, "few", args.tasks).await?;
    report.stored_to_decision_ms = Figure::of(since_stored.quantile_ms(500));
    report.change_to_decision_ms = Figure::of(few.quantile_ms(500));
    report.change_to_decision_p99_ms = Figure::of(few.p99_ms());
    args.run.say(&format!(
        "  {:>6} tasks   one change to all decisions, durable   p50 {:.2} ms   p99 {:.2} ms   of which after the change was stored {:.2} ms",
        args.tasks,
        few.quantile_ms(500),
        few.p99_ms(),
        since_stored.quantile_ms(500)
    ));
    if args.many_tasks == 0 {
        return Ok(());
    }
    let many = changes(args, "many", args.many_tasks).await?.called;
    report.many_change_to_decision_ms = Figure::of(many.quantile_ms(500));
    report.growth_ratio = report.many_change_to_decision_ms.over(report.change_to_decision_ms);
    args.run.say(&format!(
        "  {:>6} tasks   one change to all decisions, durable   p50 {:.2} ms   p99 {:.2} ms   over the former {:.2}",
        args.many_tasks,
        many.quantile_ms(500),
        many.p99_ms(),
        report.growth_ratio.or_zero()
    ));
    Ok(())
}

/// The time until all consequences of a change are decided.
struct Changes {
    /// From the call that changes the value.
    called: Measure,
    /// From the moment at which the change was durable, as Dagster's evaluations are timed.
    since_stored: Measure,
}

/// Changes one value again and again. After each change it waits until every task that reads the
/// value was started: a start follows its commit.
async fn changes(args: &TasksBench, side: &str, tasks: u64) -> anyhow::Result<Changes> {
    let (executor, mut started) = AtOnce::new(Clock::system());
    let base = Base::start(args.home(side)?, executor, task_file(tasks, "[\"true\"]")).await?;
    base.make_values(tasks / TASKS_A_PARAMETER).await?;
    // The first release: every task fires.
    let mut first = BTreeSet::new();
    while first.len() < tasks as usize {
        first.insert(next(&mut started).await?.task);
    }
    base.settle().await?;
    base.home.settle(&base.store).await?;
    while started.try_recv().is_ok() {}
    let affected: BTreeSet<String> = readers(PARAMETER, tasks).into_iter().map(task_name).collect();
    let (mut called, mut since_stored) = (Measure::default(), Measure::default());
    for round in 0..WARM_UP + args.rounds {
        let began = Instant::now();
        base.ctl.set(vec![change(PARAMETER, 2 + round.cast_signed())], "bench", "").await?;
        let stored = Instant::now();
        let mut fired = BTreeSet::new();
        while fired.len() < affected.len() {
            let run = next(&mut started).await?;
            anyhow::ensure!(
                affected.contains(&run.task),
                "{} fired, and nothing of it has changed",
                run.task
            );
            anyhow::ensure!(fired.insert(run.task.clone()), "{} fired twice", run.task);
        }
        if round >= WARM_UP {
            called.note(began, 1);
            since_stored.note(stored, 1);
        }
        // The ends of these runs are committed and exported before the next change.
        base.settle().await?;
        base.exported().await?;
    }
    anyhow::ensure!(started.try_recv().is_err(), "a task fired for nothing");
    base.stop().await?;
    Ok(Changes { called, since_stored })
}

async fn next(started: &mut mpsc::UnboundedReceiver<Started>) -> anyhow::Result<Started> {
    let next = timeout(PATIENCE, started.recv()).await;
    next.ok().flatten().ok_or_else(|| anyhow::anyhow!("nothing was started for {PATIENCE:?}"))
}
