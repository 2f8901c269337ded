//! Measures eight outside stages beside a dead one and one that answers after two seconds, and the
//! same eight alone, in turns.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use offers::StoredOffer;
use watcher::Stage;

use super::base::{Base, PATIENCE};
use super::noted::{Calls, Noted};
use super::options::StagesBench;
use super::paced;
use super::plugin::{Serving, nowhere};
use super::report::Report;
use super::work::{OTHERS, SLOW, other};
use crate::at_work::AtWork;
use crate::figure::Figure;
use crate::measure::Measure;
use crate::observe::{Log, Times};

/// Offers that are published per second while their waiting times are measured: far below the
/// capacity of the machine.
const OFFERS_PER_S: u32 = 20;
/// The first offers, while the watcher detects the slow stages, do not count.
const WARM_UP_S: u64 = 5;
/// Few and long: at the start of a turn the watcher has no statistics of the stages.
const TURNS: u64 = 2;

/// Eight stages, with or without trouble beside them.
struct Side {
    base: Base,
    logs: Vec<Log>,
    work: Measure,
    waits: Times,
}

impl Side {
    async fn open(
        args: &StagesBench,
        serving: &Serving,
        name: &str,
        in_trouble: bool,
    ) -> anyhow::Result<Self> {
        let base = Base::empty(args, name).await?;
        let (mut stages, mut logs): (Vec<Arc<dyn Stage<StoredOffer>>>, _) = (Vec::new(), Vec::new());
        for number in 0..OTHERS {
            let log = Log::new(&base.clock, args.shared_offers + paced_offers(args));
            let stage = serving.stage(args, &base, &other(number)).await?;
            stages.push(Arc::new(Noted { stage, log: log.clone(), calls: Calls::default() }));
            logs.push(log);
        }
        if in_trouble {
            stages.push(serving.stage(args, &base, SLOW).await?);
            stages.push(nowhere(args, &base).await?);
        }
        base.set_stages(stages)?;
        Ok(Self { base, logs, work: Measure::default(), waits: Times::default() })
    }

    /// Publishes offers, then waits until the eight have visited all of them.
    async fn turn(&mut self, numbers: Range<u64>) -> anyhow::Result<()> {
        self.base.publish(numbers.clone()).await?;
        let start = Instant::now();
        let at_work = AtWork::start(&self.base.offers.watcher());
        for log in &self.logs {
            log.reaches(numbers.end, PATIENCE).await?;
        }
        let took = start.elapsed();
        self.work.then(Measure::of((numbers.end - numbers.start) * OTHERS as u64, took));
        at_work.stop().await
    }

    /// Publishes offers at a pace while the watcher runs, and measures how long they wait for each
    /// of the eight.
    async fn wait(&mut self, args: &StagesBench) -> anyhow::Result<()> {
        let at_work = AtWork::start(&self.base.offers.watcher());
        let first = args.shared_offers;
        let warm = first + WARM_UP_S * u64::from(OFFERS_PER_S);
        let saved = paced::publish(&self.base, first..warm, OFFERS_PER_S).await?;
        paced::waits(&self.base, &saved, &self.logs).await?;
        let saved = paced::publish(&self.base, warm..first + paced_offers(args), OFFERS_PER_S).await?;
        self.waits = paced::waits(&self.base, &saved, &self.logs).await?;
        at_work.stop().await
    }
}

fn paced_offers(args: &StagesBench) -> u64 {
    (WARM_UP_S + args.seconds) * u64::from(OFFERS_PER_S)
}

pub(super) async fn measure(
    args: &StagesBench,
    serving: &Serving,
    report: &mut Report,
) -> anyhow::Result<()> {
    let mut troubled = Side::open(args, serving, "troubled", true).await?;
    let mut alone = Side::open(args, serving, "alone", false).await?;
    for turn in 0..TURNS {
        let all = args.shared_offers;
        let numbers = all * turn / TURNS..all * (turn + 1) / TURNS;
        alone.turn(numbers.clone()).await?;
        troubled.turn(numbers).await?;
    }
    alone.wait(args).await?;
    troubled.wait(args).await?;
    report.others_per_s = Figure::of(troubled.work.per_s());
    report.eight_alone_per_s = Figure::of(alone.work.per_s());
    report.others_throughput_ratio = report.others_per_s.over(report.eight_alone_per_s);
    report.others_p99_ms = Figure::of(troubled.waits.percentile_ms(99));
    report.eight_alone_p99_ms = Figure::of(alone.waits.percentile_ms(99));
    report.others_p99_ratio = report.others_p99_ms.over(report.eight_alone_p99_ms);
    args.run.say(&format!(
        "  eight stages     {:>9.0} visits/s beside a dead and a slow one, {:.0} alone: ratio {:.2}   waits {:.2} ms p99, {:.2} alone: ratio {:.2}",
        troubled.work.per_s(),
        alone.work.per_s(),
        report.others_throughput_ratio.or_zero(),
        troubled.waits.percentile_ms(99),
        alone.waits.percentile_ms(99),
        report.others_p99_ratio.or_zero()
    ));
    troubled.base.end().await?;
    alone.base.end().await
}
