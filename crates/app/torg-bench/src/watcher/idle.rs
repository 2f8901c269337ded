//! Measures the processor time of an idle watcher with many shards and many stages, in a separate
//! process.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use watcher::Stage;

use super::ad::Ad;
use super::base::Base;
use super::child;
use super::options::{Child, WatcherBench};
use super::report::Report;
use super::stages::Noop;
use crate::at_work::AtWork;
use crate::figure::Figure;
use crate::machine::usage;
use crate::observe::Log;
use crate::process::answer;

const SHARDS: u32 = 256;
const STAGES: u32 = 20;
/// Time to take the shards and poll all queues once.
const START_UP: Duration = Duration::from_secs(5);
/// Long enough for several heartbeats of the leases.
const SECONDS: u64 = 10;

#[derive(Serialize, Deserialize)]
struct Idle {
    cpu_pct: f64,
}

pub(super) async fn measure(args: &WatcherBench, report: &mut Report) -> anyhow::Result<()> {
    let Idle { cpu_pct } = child::run(args, Child::Idle).await?;
    report.idle_cpu_pct = Figure::of(cpu_pct);
    args.run.say(&format!(
        "  idle             {cpu_pct:>9.2} % of a core   {SHARDS} shards, {STAGES} stages, {SECONDS} s"
    ));
    args.home("idle")?.clear().await
}

/// The separate process.
pub(super) async fn in_child(args: &WatcherBench) -> anyhow::Result<()> {
    let base = Base::empty(args.home("idle")?, args.config(SHARDS)).await?;
    let log = Log::new(&base.clock, 0);
    let stage = |n| Arc::new(Noop { id: format!("stage{n}"), log: log.clone() }) as Arc<dyn Stage<Ad>>;
    let at_work = AtWork::start(&base.watcher((0..STAGES).map(stage).collect()).await?);
    tokio::time::sleep(START_UP).await;
    let before = usage();
    tokio::time::sleep(Duration::from_secs(SECONDS)).await;
    let cpu_pct = (usage().0 - before.0) * 100.0 / SECONDS as f64;
    at_work.stop().await?;
    base.store.close().await?;
    answer(&Idle { cpu_pct })
}
