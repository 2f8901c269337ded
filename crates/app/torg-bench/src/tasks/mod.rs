//! `torg-bench tasks`: how fast a change of a value becomes decisions, and how many changes per
//! second are possible.
//!
//! - *Decide*: one value changes; the time until the decisions of all tasks that wait for it are
//!   durable. With 1000 tasks, and with many more tasks of which the same number is affected.
//! - *Start*: from a change to the first moment of the process that it starts, on an idle system.
//! - *Sustain*: values change as fast as callers can change them, while tasks fire. In the end
//!   every change has its firing, and every firing its change.
//! - Dagster with the same graph: a full evaluation, and one that is limited to the affected tasks.

mod base;
mod dagster;
mod decide;
mod executor;
mod graph;
mod options;
mod report;
mod start;
mod sustain;

use anyhow::Context as _;

use self::options::Part;
pub(crate) use self::options::TasksBench;
use self::report::Report;

use crate::process;

/// The measurements that have a store.
const SIDES: [&str; 4] = ["few", "many", "start", "sustain"];

pub(super) async fn run(args: TasksBench) -> anyhow::Result<()> {
    let outcome = measure(&args).await;
    // A failed run is cleaned up, too.
    let cleared = clear(&args).await;
    let report = outcome?;
    cleared?;
    process::answer(&report)
}

async fn clear(args: &TasksBench) -> anyhow::Result<()> {
    for side in SIDES {
        args.home(side)?.clear().await?;
    }
    let _ = std::fs::remove_dir_all(args.runs_folder());
    // The folder stays if it holds something else.
    let _ = std::fs::remove_dir(args.run.folder());
    Ok(())
}

async fn measure(args: &TasksBench) -> anyhow::Result<Report> {
    let mut report = Report {
        bench: "tasks",
        tasks: args.tasks,
        many_tasks: args.many_tasks,
        engine: args.run.engine(),
        ..Report::default()
    };
    args.run.say(&format!(
        "tasks on {}: {} and {} tasks, each waits on three of a fifth as many values, durable",
        args.run.engine(),
        args.tasks,
        args.many_tasks
    ));
    std::fs::create_dir_all(args.run.folder()).context("cannot make the folder of the run")?;
    if args.wants(Part::Decide) {
        decide::measure(args, &mut report).await?;
        dagster::measure(args, &mut report).await?;
    }
    if args.wants(Part::Start) {
        start::measure(args, &mut report).await?;
    }
    if args.wants(Part::Sustain) {
        sustain::measure(args, &mut report).await?;
    }
    Ok(report)
}
