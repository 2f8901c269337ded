//! Measures the time from a change to the first moment of the process that it starts.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clock::Clock;
use runs::{Options, Runner, Verb};

use super::base::{Base, PATIENCE, change};
use super::options::TasksBench;
use super::report::Report;
use crate::figure::Figure;
use node::roles::tasks::SUPERVISE;

/// The only task prints the time of its start.
const TASK: &str =
    "tasks:\n  stamp:\n    when: {grew: {of: bench.parameter_0, by: 1}}\n    run: [\"date\", \"+%s%N\"]\n";
/// Starts that are not counted.
const WARM_UP: u64 = 5;

pub(super) async fn measure(args: &TasksBench, report: &mut Report) -> anyhow::Result<()> {
    let runner = Runner::open(Options {
        folder: args.runs_folder(),
        supervisor: Verb::of_this_program(SUPERVISE),
        callbacks: None,
        clock: Clock::system(),
    })?;
    let base = Base::start(args.home("start")?, Arc::new(runner), TASK.to_owned()).await?;
    let mut took = Vec::new();
    for round in 1..=WARM_UP + args.starts {
        let changed = SystemTime::now().duration_since(UNIX_EPOCH)?;
        base.ctl.set(vec![change(0, round.cast_signed())], "bench", "").await?;
        let stamp = stamp(&base, round).await?;
        if round > WARM_UP {
            took.push(stamp.saturating_sub(changed));
        }
    }
    base.stop().await?;
    took.sort_unstable();
    let at = |thousandths: usize| {
        let place = (took.len() * thousandths / 1000).min(took.len().saturating_sub(1));
        took.get(place).map_or(0.0, |took| took.as_secs_f64() * 1000.0)
    };
    report.event_to_start_p50_ms = Figure::of(at(500));
    report.event_to_start_p99_ms = Figure::of(at(990));
    args.run.say(&format!(
        "  idle           one change to the first moment of the process   p50 {:.2} ms   p99 {:.2} ms",
        at(500),
        at(990)
    ));
    Ok(())
}

/// The time that this run printed, once its end is committed.
async fn stamp(base: &Base, run: u64) -> anyhow::Result<Duration> {
    let began = Instant::now();
    loop {
        if let Some(last) = base.tasks.runs("stamp", None, 1).await.unwrap_or_default().first()
            && last.number == run
            && last.end_time.is_set()
        {
            let (_, piece) = base.tasks.log("stamp", Some(run), 0, 1000).await?;
            let text = String::from_utf8_lossy(&piece.bytes).trim().to_owned();
            let nanos = text.parse().with_context(|| format!("the run said {text:?}, and no time"))?;
            return Ok(Duration::from_nanos(nanos));
        }
        anyhow::ensure!(began.elapsed() < PATIENCE, "run {run} did not end");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
