//! Measures the burn-down of a queue: all ads are queued for one stage that does nothing, then the
//! watcher runs until all are visited.

use std::sync::Arc;
use std::time::Instant;

use super::ad::BODY_BYTES;
use super::base::{Base, PATIENCE};
use super::options::{SHARDS, WatcherBench};
use super::report::Report;
use super::stages::Noop;
use crate::at_work::AtWork;
use crate::figure::Figure;
use crate::machine::usage;
use crate::measure::Measure;
use crate::observe::Log;

/// The returned store has only visited ads.
pub(super) async fn measure(args: &WatcherBench, report: &mut Report) -> anyhow::Result<Base> {
    let base = Base::empty(args.home("burndown")?, args.config(SHARDS)).await?;
    let log = Log::new(&base.clock, args.entities);
    let watcher = base.watcher(vec![Arc::new(Noop { id: "noop".to_owned(), log: log.clone() })]).await?;
    let saves = base.save(&watcher, 0..args.entities, BODY_BYTES).await?;
    report.save_per_s = Figure::of(saves.per_s());
    args.run.say(&format!(
        "  saves            {:>9.0} /s   {} ads a batch",
        saves.per_s(),
        super::base::SAVE_STEP
    ));
    base.send_off().await?;
    base.settle().await?;
    let (start, (cpu, _)) = (Instant::now(), usage());
    let at_work = AtWork::start(&watcher);
    log.reaches(args.entities, PATIENCE).await?;
    at_work.stop().await?;
    let visits = Measure::of(args.entities, start.elapsed());
    let cpu_us = (usage().0 - cpu) * 1e6 / args.entities as f64;
    report.burndown_per_s = Figure::of(visits.per_s());
    report.burndown_cpu_us = Figure::of(cpu_us);
    args.run.say(&format!(
        "  burn-down        {:>9.0} visits/s   {cpu_us:.0} us of processor a visit",
        visits.per_s()
    ));
    Ok(base)
}
