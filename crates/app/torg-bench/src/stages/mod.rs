//! `torg-bench stages`: the cost of an outside stage, the cost of troubled stages for the others,
//! and how fast photos are resized.
//!
//! - *No-op*: offers of 2 KB are queued; the stage is called for each, and its answers are saved.
//!   Behind gRPC, with the plug-in in a separate process, and in process, in turns.
//! - *Stateful*: every visit changes the offer and its state and arms a timer. The same sides, and
//!   Restate with a virtual object for each offer.
//! - *Idle*: the time of a call through the bridge at a low load.
//! - *Others*: eight outside stages beside a dead one and one that answers after two seconds, and
//!   the eight alone.
//! - *Photos*: 12 MP JPEGs to four sizes, beside `ImageMagick`.

mod base;
mod idle;
mod noted;
mod options;
mod others;
mod paced;
mod photos;
mod plugin;
mod report;
mod restate;
mod visits;
mod work;

use anyhow::Context as _;

pub(crate) use self::options::StagesBench;
use self::options::{Child, Part};
use self::plugin::Serving;
use self::report::Report;

use crate::process;

/// The sides that have a store.
const SIDES: [&str; 5] = ["grpc", "inprocess", "idle", "troubled", "alone"];

pub(super) async fn run(args: StagesBench) -> anyhow::Result<()> {
    match args.child {
        Some(Child::Plugin) => return plugin::in_child().await,
        Some(Child::Photos) => return photos::in_child(&args).await,
        None => {}
    }
    let outcome = measure(&args).await;
    // A failed run is cleaned up, too.
    let cleared = clear(&args).await;
    let report = outcome?;
    cleared?;
    process::answer(&report)
}

async fn clear(args: &StagesBench) -> anyhow::Result<()> {
    for side in SIDES {
        args.home(side)?.clear().await?;
    }
    // The folder stays if it holds something else.
    let _ = std::fs::remove_dir(args.run.folder());
    Ok(())
}

async fn measure(args: &StagesBench) -> anyhow::Result<Report> {
    let mut report = Report {
        bench: "stages",
        engine: args.run.engine(),
        offers: args.offers,
        calls: args.calls,
        batch: args.batch,
        ..Report::default()
    };
    args.run.say(&format!(
        "stages on {}: {} offers of 2 KB, {} calls of {} offers at a time, durable; the plug-in in a process of its own",
        args.run.engine(),
        args.offers,
        args.calls,
        args.batch
    ));
    std::fs::create_dir_all(args.run.folder()).context("cannot make the folder of the run")?;
    let serving = Serving::start().await?;
    if args.wants(Part::Noop) {
        visits::noop(args, &serving, &mut report).await?;
    }
    if args.wants(Part::Stateful) {
        visits::stateful(args, &serving, &mut report).await?;
        restate::measure(args, &mut report).await?;
    }
    if args.wants(Part::Idle) {
        idle::measure(args, &serving, &mut report).await?;
    }
    if args.wants(Part::Others) {
        others::measure(args, &serving, &mut report).await?;
    }
    drop(serving);
    if args.wants(Part::Photos) {
        photos::measure(args, &mut report).await?;
    }
    Ok(report)
}
