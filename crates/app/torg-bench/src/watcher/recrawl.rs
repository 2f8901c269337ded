//! Measures a re-crawl: every ad is visited again in the background while new ads are saved, which
//! must not wait much longer than without it. "Without" is measured before and after, so that other
//! load on the machine affects both.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::base::{Base, PATIENCE};
use super::fresh::{SAVES_PER_S, Saves};
use super::options::WatcherBench;
use super::pickup::{WARM_UP_S, waits};
use super::report::Report;
use super::stages::Noop;
use crate::at_work::AtWork;
use crate::figure::Figure;
use crate::observe::Log;

/// The longest time of saves, in seconds.
const SECONDS_MAX: u64 = 900;

/// Measures on a store whose ads below `first` have all been visited.
pub(super) async fn measure(
    args: &WatcherBench,
    base: &Base,
    first: u64,
    report: &mut Report,
) -> anyhow::Result<()> {
    base.send_off().await?;
    base.settle().await?;
    let last = first + Saves::numbers(SECONDS_MAX);
    let log = Log::counting(&base.clock, last, first);
    let watcher = base.watcher(vec![Arc::new(Noop { id: "noop".to_owned(), log: log.clone() })]).await?;
    let at_work = AtWork::start(&watcher);
    tokio::time::sleep(Duration::from_secs(WARM_UP_S)).await;
    let (begin, begin_us) = (Instant::now(), base.clock.elapsed_us());
    watcher.start_recrawl(None).await?;
    let mut outcome = Ok(());
    let all_visited = async {
        outcome = async {
            log.reaches(first, PATIENCE).await?;
            while !watcher.recrawl().await?.is_some_and(|recrawl| recrawl.done) {
                anyhow::ensure!(begin.elapsed() < PATIENCE * 15, "the re-crawl does not end");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Ok(())
        }
        .await;
    };
    let saves = Saves::make(base, &watcher, first..last, all_visited).await?;
    outcome?;
    let per_s = first as f64 / begin.elapsed().as_secs_f64();
    let fresh = saves.begun_within(begin_us..base.clock.elapsed_us()).waits(&log, &base.clock).await?;
    at_work.stop().await?;
    report.recrawl_per_s = Figure::of(per_s);
    report.fresh_beside_recrawl_p99_ms = Figure::of(fresh.from_return.percentile_ms(99));
    let (after, _) = waits(args, base, last).await?;
    let without = f64::midpoint(report.pickup_p99_ms.or_zero(), after.from_return.percentile_ms(99));
    report.fresh_p99_ratio = report.fresh_beside_recrawl_p99_ms.over(Figure::of(without));
    args.run.say(&format!(
        "  re-crawl         {per_s:>9.0} visits/s   {SAVES_PER_S} fresh saves/s beside it: {:.2} ms p99, {:.2} times the {without:.2} ms without",
        fresh.from_return.percentile_ms(99),
        report.fresh_p99_ratio.or_zero(),
    ));
    Ok(())
}
