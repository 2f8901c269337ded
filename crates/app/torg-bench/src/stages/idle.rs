//! Measures the latency that the gRPC bridge adds at a low load: offers come one by one.

use std::sync::Arc;

use super::base::Base;
use super::noted::{Calls, Noted};
use super::options::StagesBench;
use super::paced;
use super::plugin::Serving;
use super::report::Report;
use super::work::NOOP;
use crate::at_work::AtWork;
use crate::figure::Figure;
use crate::observe::Log;

const OFFERS_PER_S: u32 = 50;
/// The first offers, while connections are opened, do not count.
const WARM_UP_S: u64 = 2;

pub(super) async fn measure(
    args: &StagesBench,
    serving: &Serving,
    report: &mut Report,
) -> anyhow::Result<()> {
    let (warm, last) =
        (WARM_UP_S * u64::from(OFFERS_PER_S), (WARM_UP_S + args.seconds) * u64::from(OFFERS_PER_S));
    let base = Base::empty(args, "idle").await?;
    let (log, calls) = (Log::new(&base.clock, last), Calls::default());
    let stage = serving.stage(args, &base, NOOP).await?;
    base.set_stages(vec![Arc::new(Noted { stage, log: log.clone(), calls: calls.clone() })])?;
    let at_work = AtWork::start(&base.offers.watcher());
    let saved = paced::publish(&base, 0..warm, OFFERS_PER_S).await?;
    paced::waits(&base, &saved, std::slice::from_ref(&log)).await?;
    calls.take();
    let saved = paced::publish(&base, warm..last, OFFERS_PER_S).await?;
    let waits = paced::waits(&base, &saved, std::slice::from_ref(&log)).await?;
    at_work.stop().await?;
    let calls = calls.take();
    report.bridge_p50_ms = Figure::of(calls.percentile_ms(50));
    report.bridge_p99_ms = Figure::of(calls.percentile_ms(99));
    args.run.say(&format!(
        "  bridge, idle     {:>9.2} ms p50, {:.2} ms p99 for a call, of {} calls; from the publishing of an offer to the answer {:.2} ms p50; {OFFERS_PER_S} offers/s",
        calls.percentile_ms(50),
        calls.percentile_ms(99),
        calls.len(),
        waits.percentile_ms(50)
    ));
    base.end().await
}
