//! Measures timers: every ad has one that is due within the same second, while new ads are saved.

use std::sync::Arc;

use watcher::Time;

use super::base::PATIENCE;
use super::fresh::{SAVES_PER_S, Saves};
use super::options::WatcherBench;
use super::report::Report;
use super::stages::{Noop, Stateful, timer_of};
use super::stateful::Visited;
use crate::at_work::AtWork;
use crate::figure::Figure;
use crate::observe::{Log, Times};

/// The time from the start of the watcher and of saves to the first timer.
const BEFORE_MS: i64 = 5000;
/// The longest time of saves, in seconds.
const SECONDS_MAX: u64 = 900;

pub(super) async fn measure(
    args: &WatcherBench,
    visited: &Visited,
    report: &mut Report,
) -> anyhow::Result<()> {
    let Visited { base, timers_at } = visited;
    let (first, last) = (args.entities, args.entities + Saves::numbers(SECONDS_MAX));
    base.send_off().await?;
    base.settle().await?;
    let log = Log::counting(&base.clock, last, args.entities);
    // The stage that armed the timers is replaced by one that does nothing.
    let stage = Noop { id: Stateful::ID.to_owned(), log: log.clone() };
    let watcher = base.watcher(vec![Arc::new(stage)]).await?;
    base.clock.jump_to(Time::from_ms(timers_at.as_ms() - BEFORE_MS));
    let due_us = base.clock.as_elapsed_us(*timers_at);
    let at_work = AtWork::start(&watcher);
    let mut outcome = Ok(());
    let all_visited = async { outcome = log.reaches(args.entities, PATIENCE).await };
    let saves = Saves::make(base, &watcher, first..last, all_visited).await?;
    outcome?;
    let done_us = base.clock.elapsed_us();
    let fresh = saves.begun_within(due_us..done_us).waits(&log, &base.clock).await?;
    at_work.stop().await?;
    let late = |number| {
        let due_us = base.clock.as_elapsed_us(timer_of(number, *timers_at));
        // A clock of milliseconds may be ahead by a part of a millisecond.
        Some(log.visited_us(number)?.saturating_sub(due_us))
    };
    let late: Times = (0..args.entities).filter_map(late).collect();
    anyhow::ensure!(
        late.len() as u64 == args.entities,
        "only {} of {} timers came",
        late.len(),
        args.entities
    );
    let per_s = args.entities as f64 * 1e6 / done_us.saturating_sub(due_us).max(1) as f64;
    note(args, report, &late, &fresh.from_return, per_s);
    Ok(())
}

fn note(args: &WatcherBench, report: &mut Report, late: &Times, fresh: &Times, per_s: f64) {
    report.timer_late_p50_ms = Figure::of(late.percentile_ms(50));
    report.timer_late_p99_ms = Figure::of(late.percentile_ms(99));
    report.timers_per_s = Figure::of(per_s);
    report.fresh_beside_timers_p99_ms = Figure::of(fresh.percentile_ms(99));
    report.fresh_beside_timers_ratio = report.fresh_beside_timers_p99_ms.over(report.pickup_p99_ms);
    args.run.say(&format!(
        "  timers           {:>9.0} visits/s   {} due in one second: late by {:.0} ms p50, {:.0} ms p99",
        per_s,
        late.len(),
        late.percentile_ms(50),
        late.percentile_ms(99),
    ));
    args.run.say(&format!(
        "                   {SAVES_PER_S} fresh saves/s beside them: {:.2} ms p99 ({} saves), {:.1} times the p99 without",
        fresh.percentile_ms(99),
        fresh.len(),
        report.fresh_beside_timers_ratio.or_zero(),
    ));
}
