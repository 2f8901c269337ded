//! Measures visits of one stage, in process and behind gRPC, in turns: from queued offers to saved
//! visits.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use offers::StoredOffer;
use watcher::Stage;

use super::base::{Base, PATIENCE};
use super::noted::{Calls, Noted};
use super::options::StagesBench;
use super::plugin::Serving;
use super::report::Report;
use super::work::{NOOP, Noop, STATEFUL, Stateful};
use crate::at_work::AtWork;
use crate::figure::Figure;
use crate::measure::Measure;
use crate::observe::Log;
use crate::processor::Look;

/// One way to call a stage, with its results of all turns.
struct Side {
    base: Base,
    log: Log,
    work: Measure,
    /// Seconds of a core, in this process and in the plug-in.
    ours_s: f64,
    plugin_s: f64,
}

impl Side {
    async fn open(
        args: &StagesBench,
        name: &str,
        stage: impl AsyncFnOnce(&Base) -> anyhow::Result<Arc<dyn Stage<StoredOffer>>>,
    ) -> anyhow::Result<Self> {
        let base = Base::empty(args, name).await?;
        let log = Log::new(&base.clock, args.offers);
        let stage = stage(&base).await?;
        base.set_stages(vec![Arc::new(Noted { stage, log: log.clone(), calls: Calls::default() })])?;
        Ok(Self { base, log, work: Measure::default(), ours_s: 0.0, plugin_s: 0.0 })
    }

    /// Publishes offers, then waits until all of them are visited.
    async fn turn(&mut self, numbers: Range<u64>, plugin: u32) -> anyhow::Result<()> {
        self.base.publish(numbers.clone()).await?;
        let (look, start) = (Look::now(Some(plugin)), Instant::now());
        let at_work = AtWork::start(&self.base.offers.watcher());
        self.log.reaches(numbers.end, PATIENCE).await?;
        at_work.stop().await?;
        self.work.then(Measure::of(numbers.end - numbers.start, start.elapsed()));
        let spent = look.spent();
        self.ours_s += spent.client_s;
        self.plugin_s += spent.server_s;
        Ok(())
    }

    fn cpu_us(&self) -> f64 {
        self.ours_s * 1e6 / self.work.count.max(1) as f64
    }

    fn plugin_us(&self) -> f64 {
        self.plugin_s * 1e6 / self.work.count.max(1) as f64
    }
}

/// A stage that is called and does nothing.
pub(super) async fn noop(args: &StagesBench, serving: &Serving, report: &mut Report) -> anyhow::Result<()> {
    let (grpc, in_process) = both(args, serving, NOOP, Arc::new(Noop)).await?;
    report.grpc_per_s = Figure::of(grpc.work.per_s());
    report.grpc_cpu_us = Figure::of(grpc.cpu_us());
    report.plugin_cpu_us = Figure::of(grpc.plugin_us());
    report.inprocess_per_s = Figure::of(in_process.work.per_s());
    report.inprocess_cpu_us = Figure::of(in_process.cpu_us());
    report.ratio_grpc = report.grpc_per_s.over(report.inprocess_per_s);
    say(args, "asked, no-op", &grpc, &in_process);
    end(grpc, in_process).await
}

/// A stage that changes the offer and its state and arms a timer.
pub(super) async fn stateful(
    args: &StagesBench,
    serving: &Serving,
    report: &mut Report,
) -> anyhow::Result<()> {
    let (grpc, in_process) = both(args, serving, STATEFUL, Arc::new(Stateful)).await?;
    report.stateful_grpc_per_s = Figure::of(grpc.work.per_s());
    report.stateful_inprocess_per_s = Figure::of(in_process.work.per_s());
    report.ratio_stateful_grpc = report.stateful_grpc_per_s.over(report.stateful_inprocess_per_s);
    say(args, "stateful", &grpc, &in_process);
    end(grpc, in_process).await
}

async fn both(
    args: &StagesBench,
    serving: &Serving,
    id: &str,
    inside: Arc<dyn Stage<StoredOffer>>,
) -> anyhow::Result<(Side, Side)> {
    let mut grpc = Side::open(args, "grpc", async |base: &Base| {
        Ok(serving.stage(args, base, id).await? as Arc<dyn Stage<StoredOffer>>)
    })
    .await?;
    let mut in_process = Side::open(args, "inprocess", async |_: &Base| Ok(inside)).await?;
    for turn in 0..args.turns {
        let numbers = args.offers * turn / args.turns..args.offers * (turn + 1) / args.turns;
        grpc.turn(numbers.clone(), serving.process).await?;
        in_process.turn(numbers, serving.process).await?;
    }
    Ok((grpc, in_process))
}

async fn end(grpc: Side, in_process: Side) -> anyhow::Result<()> {
    grpc.base.end().await?;
    in_process.base.end().await
}

fn say(args: &StagesBench, what: &str, grpc: &Side, in_process: &Side) {
    args.run.say(&format!(
        "  {what:<16} {:>9.0} offers/s behind gRPC, {:.0} us of processor each and {:.0} in the plug-in   in process {:.0} /s, {:.0} us   ratio {:.2}",
        grpc.work.per_s(),
        grpc.cpu_us(),
        grpc.plugin_us(),
        in_process.work.per_s(),
        in_process.cpu_us(),
        grpc.work.per_s() / in_process.work.per_s()
    ));
}
