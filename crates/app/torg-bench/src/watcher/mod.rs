//! `torg-bench watcher`: throughput and latency of stages, beside plain commits of the same rows
//! and, on PostgreSQL, beside a job queue.
//!
//! - *Burn-down*: ads of 2 KB are queued for a stage that does nothing; visits/s until all are
//!   visited.
//! - *Stateful*: every visit changes the ad and its state and arms a timer. The references take
//!   turns with it: plain commits of the same rows, and graphile-worker.
//! - *Pick-up*: from the save of an ad to the call of the stage. *Timers*: all due in one second,
//!   beside fresh saves. *Re-crawl*: beside fresh saves.
//! - *Idle*: processor time of a watcher with nothing to do. *Depth*: memory of a watcher with very
//!   deep queues.

mod ad;
mod base;
mod burndown;
mod child;
mod depth;
mod fresh;

mod idle;

mod options;
mod peer;
mod pickup;
mod plain;
mod recrawl;
mod report;
mod stages;
mod stateful;
mod timers;

use self::base::Base;
pub(crate) use self::options::WatcherBench;
use self::options::{Child, Part};
use self::peer::Peer;
use self::report::Report;

use crate::process;

/// The parts that have a store.
const PARTS: [&str; 5] = ["burndown", "stateful", "plain", "idle", "depth"];

pub(super) async fn run(args: WatcherBench) -> anyhow::Result<()> {
    match args.child {
        Some(Child::Idle) => return idle::in_child(&args).await,
        Some(Child::DepthFill) => return depth::fill_in_child(&args).await,
        Some(Child::DepthWork) => return depth::work_in_child(&args).await,
        None => {}
    }
    let outcome = measure(&args).await;
    // A failed run is cleaned up, too.
    let cleared = clear(&args).await;
    let report = outcome?;
    cleared?;
    process::answer(&report)
}

async fn clear(args: &WatcherBench) -> anyhow::Result<()> {
    for part in PARTS {
        args.home(part)?.clear().await?;
    }
    if args.run.postgres().is_none() {
        // The folder stays if it holds something else.
        let _ = std::fs::remove_dir(args.run.folder());
    }
    Ok(())
}

async fn measure(args: &WatcherBench) -> anyhow::Result<Report> {
    let mut report = Report {
        bench: "watcher",
        engine: args.run.engine(),
        entities: args.entities,
        calls: args.calls,
        batch: args.batch,
        cache_mb: args.cache_mb,
        ..Report::default()
    };
    args.run.say(&format!(
        "watcher on {}: {} ads of 2 KB in {} shards, {} calls of {} ads at a time, durable",
        args.run.engine(),
        args.entities,
        options::SHARDS,
        args.calls,
        args.batch
    ));
    let peer = Peer::find(args);
    if [Part::Burndown, Part::Pickup, Part::Recrawl].into_iter().any(|part| args.wants(part)) {
        let base = burndown::measure(args, &mut report).await?;
        fresh(args, &base, peer.as_ref(), &mut report).await?;
        base.end().await?;
    }
    if args.wants(Part::Stateful) || args.wants(Part::Timers) {
        let visited = stateful::measure(args, peer.as_ref(), &mut report).await?;
        if args.wants(Part::Timers) {
            timers::measure(args, &visited, &mut report).await?;
        }
        visited.base.end().await?;
    }
    if args.wants(Part::Idle) {
        idle::measure(args, &mut report).await?;
    }
    if args.wants(Part::Depth) {
        depth::measure(args, &mut report).await?;
    }
    Ok(report)
}

/// The measurements with ads that are saved one by one.
async fn fresh(
    args: &WatcherBench,
    base: &Base,
    peer: Option<&Peer>,
    report: &mut Report,
) -> anyhow::Result<()> {
    if !args.wants(Part::Pickup) && !args.wants(Part::Recrawl) {
        return Ok(());
    }
    let ads = pickup::measure(args, base, args.entities, report).await?;
    if let Some(peer) = peer {
        peer.pickup(args, report).await?;
    }
    if args.wants(Part::Recrawl) {
        recrawl::measure(args, base, ads, report).await?;
    }
    Ok(())
}
