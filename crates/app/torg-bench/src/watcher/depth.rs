//! Measures the memory of a watcher that starts when very many ads are due. The ads are small so
//! that many of them are saved soon. One process saves them; another, whose memory is measured,
//! visits them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::ad::SMALL_BODY_BYTES;
use super::base::Base;
use super::child;
use super::options::{Child, SHARDS, WatcherBench};
use super::report::Report;
use super::stages::Noop;
use crate::at_work::AtWork;
use crate::figure::Figure;
use crate::machine::{RssPeak, rss_mb};
use crate::observe::Log;
use crate::process::answer;

/// The watcher runs for this many times the seconds of a measurement, or until nothing is due.
const TIMES: u32 = 3;

#[derive(Serialize, Deserialize)]
struct Filled {
    saves_per_s: f64,
}

#[derive(Serialize, Deserialize)]
struct Depth {
    before_mb: u64,
    peak_mb: u64,
    visits_per_s: f64,
}

pub(super) async fn measure(args: &WatcherBench, report: &mut Report) -> anyhow::Result<()> {
    let Filled { saves_per_s } = child::run(args, Child::DepthFill).await?;
    let Depth { before_mb, peak_mb, visits_per_s } = child::run(args, Child::DepthWork).await?;
    report.deep = args.deep;
    report.deep_visits_per_s = Figure::of(visits_per_s);
    report.rss_mb = Figure::of(peak_mb as f64);
    report.rss_before_mb = Figure::of(before_mb as f64);
    args.run.say(&format!(
        "  depth            {peak_mb:>9} MiB in use at most, {before_mb} before, cache {} MiB   {} small ads due ({saves_per_s:.0} saves/s), {visits_per_s:.0} visits/s",
        args.cache_mb, args.deep
    ));
    args.home("depth")?.clear().await
}

/// The process that saves.
pub(super) async fn fill_in_child(args: &WatcherBench) -> anyhow::Result<()> {
    let base = Base::empty(args.home("depth")?, args.config(SHARDS)).await?;
    let stage = Noop { id: "noop".to_owned(), log: Log::new(&base.clock, 0) };
    let watcher = base.watcher(vec![Arc::new(stage)]).await?;
    let saves_per_s = base.save(&watcher, 0..args.deep, SMALL_BODY_BYTES).await?.per_s();
    base.settle().await?;
    base.store.close().await?;
    answer(&Filled { saves_per_s })
}

/// The process that visits.
pub(super) async fn work_in_child(args: &WatcherBench) -> anyhow::Result<()> {
    let base = Base::existing(args.home("depth")?, args.config(SHARDS)).await?;
    let log = Log::new(&base.clock, args.deep);
    let watcher = base.watcher(vec![Arc::new(Noop { id: "noop".to_owned(), log: log.clone() })]).await?;
    let before_mb = rss_mb();
    let peak = RssPeak::watch();
    let (start, at_work) = (Instant::now(), AtWork::start(&watcher));
    let time = Duration::from_secs(args.seconds) * TIMES;
    // Not all ads need a visit: the queues stay deep all the time.
    if let Ok(outcome) = tokio::time::timeout(time, log.reaches(args.deep, time)).await {
        outcome?;
    }
    at_work.stop().await?;
    let visits_per_s = log.count() as f64 / start.elapsed().as_secs_f64();
    let peak_mb = peak.mb();
    anyhow::ensure!(log.count() > 0, "nothing was visited");
    base.store.close().await?;
    answer(&Depth { before_mb, peak_mb, visits_per_s })
}
