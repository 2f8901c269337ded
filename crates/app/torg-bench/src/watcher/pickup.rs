//! Measures how long a saved ad waits for its visit on an otherwise idle system.

use std::sync::Arc;

use super::base::Base;
use super::fresh::{SAVES_PER_S, Saves, Waits};
use super::options::WatcherBench;
use super::report::Report;
use super::stages::Noop;
use crate::at_work::AtWork;
use crate::figure::Figure;
use crate::observe::Log;

/// The first saves, while the watcher takes its shards, do not count.
pub(super) const WARM_UP_S: u64 = 2;

/// Measures on a store whose ads below `first` have all been visited. Returns the number after the
/// last ad.
pub(super) async fn measure(
    args: &WatcherBench,
    base: &Base,
    first: u64,
    report: &mut Report,
) -> anyhow::Result<u64> {
    let (waits, last) = waits(args, base, first).await?;
    report.pickup_p50_ms = Figure::of(waits.from_return.percentile_ms(50));
    report.pickup_p99_ms = Figure::of(waits.from_return.percentile_ms(99));
    report.pickup_from_begin_p50_ms = Figure::of(waits.from_begin.percentile_ms(50));
    report.pickup_from_begin_p99_ms = Figure::of(waits.from_begin.percentile_ms(99));
    args.run.say(&format!(
        "  pick-up          {:>9.2} ms p50, {:.2} ms p99 from the commit's return   {:.2} and {:.2} ms from its begin   {SAVES_PER_S} saves/s for {} s",
        waits.from_return.percentile_ms(50),
        waits.from_return.percentile_ms(99),
        waits.from_begin.percentile_ms(50),
        waits.from_begin.percentile_ms(99),
        args.seconds
    ));
    Ok(last)
}

/// How long ads wait on an otherwise idle system, and the number after the last of them.
pub(super) async fn waits(args: &WatcherBench, base: &Base, first: u64) -> anyhow::Result<(Waits, u64)> {
    let last = first + Saves::numbers(args.seconds + WARM_UP_S);
    base.send_off().await?;
    base.settle().await?;
    let log = Log::new(&base.clock, last);
    let watcher = base.watcher(vec![Arc::new(Noop { id: "noop".to_owned(), log: log.clone() })]).await?;
    let at_work = AtWork::start(&watcher);
    let warm_us = base.clock.elapsed_us() + WARM_UP_S * 1_000_000;
    let saves = Saves::make(base, &watcher, first..last, std::future::pending()).await?;
    saves.waits(&log, &base.clock).await?;
    let waits = saves.begun_within(warm_us..u64::MAX).waits(&log, &base.clock).await?;
    at_work.stop().await?;
    Ok((waits, last))
}
