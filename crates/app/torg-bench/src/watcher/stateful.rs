//! Measures stateful visits: each changes the ad and its state and arms a timer. The references
//! take turns with it: plain commits of the same rows, and on PostgreSQL the peer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use watcher::{Time, Watcher};

use super::ad::{Ad, BODY_BYTES};
use super::base::{Base, PATIENCE};
use super::options::{SHARDS, WatcherBench};
use super::peer::Peer;
use super::plain::Plain;
use super::report::Report;
use super::stages::{Stateful, state_of};
use crate::at_work::AtWork;
use crate::data::mix;
use crate::figure::Figure;
use crate::machine::usage;
use crate::measure::Measure;
use crate::observe::Log;

const TIMERS_AHEAD: Duration = Duration::from_secs(24 * 3600);
/// One of this many ads is checked afterwards.
const LOOK_AT_EVERY: usize = 997;

/// A store in which every ad has been visited and has a timer.
pub(super) struct Visited {
    pub(super) base: Base,
    /// The second in which all timers are due.
    pub(super) timers_at: Time,
}

/// The measures of one side over all its turns, and its use of resources.
#[derive(Default)]
struct Side {
    work: Measure,
    cpu_s: f64,
    disk_bytes: u64,
}

impl Side {
    fn note(&mut self, work: Measure, before: (f64, u64)) {
        let after = usage();
        self.cpu_s += after.0 - before.0;
        self.disk_bytes += after.1 - before.1;
        self.work.then(work);
    }

    fn cpu_us(&self) -> f64 {
        self.cpu_s * 1e6 / self.work.count as f64
    }

    fn disk_kb(&self) -> f64 {
        self.disk_bytes as f64 / 1e3 / self.work.count as f64
    }
}

pub(super) async fn measure(
    args: &WatcherBench,
    peer: Option<&Peer>,
    report: &mut Report,
) -> anyhow::Result<Visited> {
    let base = Base::empty(args.home("stateful")?, args.config(SHARDS)).await?;
    let timers_at = base.clock.now() + TIMERS_AHEAD;
    let log = Log::new(&base.clock, args.entities);
    let watcher = base.watcher(vec![Arc::new(Stateful { log: log.clone(), timers_at })]).await?;
    let (mut ours, mut theirs, mut behind) = (Side::default(), Side::default(), Duration::ZERO);
    let (mut plain, mut peer_jobs) = (None, Measure::default());
    for turn in 0..args.turns {
        let numbers = args.entities * turn / args.turns..args.entities * (turn + 1) / args.turns;
        base.save(&watcher, numbers.clone(), BODY_BYTES).await?;
        base.send_off().await?;
        base.settle().await?;
        let before = usage();
        ours.note(visit_all(&watcher, &log, numbers.clone()).await?, before);
        behind += base.send_off().await?;
        require_saved(&watcher, numbers.clone()).await?;

        let plain = match &mut plain {
            Some(plain) => plain,
            none => none.insert(Plain::open(args, &base, timers_at).await?),
        };
        plain.fill(numbers.clone()).await?;
        let before = usage();
        theirs.note(plain.commit_all(numbers).await?, before);
        if let Some(peer) = peer {
            peer_jobs.then(peer.stateful(args.peer_jobs / args.turns).await?);
        }
    }
    plain.context("there is at least one turn")?.end().await?;
    note(args, report, &ours, &theirs, behind);
    note_peer(args, report, &peer_jobs);
    Ok(Visited { base, timers_at })
}

async fn visit_all(
    watcher: &Watcher<Ad>,
    log: &Log,
    numbers: std::ops::Range<u64>,
) -> anyhow::Result<Measure> {
    let start = Instant::now();
    let at_work = AtWork::start(watcher);
    log.reaches(numbers.end, PATIENCE).await?;
    at_work.stop().await?;
    Ok(Measure::of(numbers.end - numbers.start, start.elapsed()))
}

/// Checks some ads: the measured writes must be in the store.
async fn require_saved(watcher: &Watcher<Ad>, numbers: std::ops::Range<u64>) -> anyhow::Result<()> {
    for number in numbers.step_by(LOOK_AT_EVERY) {
        let id = mix(number);
        let found = watcher.load(&id).await?.context("an ad is gone")?;
        let state = watcher.state(&id, Stateful::ID).await?;
        let visited = found.version == 2 && state.bytes == state_of(number, 1);
        anyhow::ensure!(visited, "ad {number} has version {} and was not visited once", found.version);
    }
    Ok(())
}

fn note(args: &WatcherBench, report: &mut Report, ours: &Side, plain: &Side, behind: Duration) {
    report.stateful_per_s = Figure::of(ours.work.per_s());
    report.stateful_cpu_us = Figure::of(ours.cpu_us());
    report.stateful_disk_kb = Figure::of(ours.disk_kb());
    report.plain_per_s = Figure::of(plain.work.per_s());
    report.plain_cpu_us = Figure::of(plain.cpu_us());
    report.plain_disk_kb = Figure::of(plain.disk_kb());
    report.stateful_over_store = report.stateful_per_s.over(report.plain_per_s);
    report.outbox_behind_s = Figure::of(behind.as_secs_f64());
    args.run.say(&format!(
        "  stateful         {:>9.0} visits/s   plain commits of the same rows {:.0} /s   ratio {:.2}",
        ours.work.per_s(),
        plain.work.per_s(),
        report.stateful_over_store.or_zero()
    ));
    args.run.say(&format!(
        "  cost of one      {:>9.0} us of processor, {:.1} KB to disk   plain {:.0} us, {:.1} KB   changes were sent off {:.1} s later",
        ours.cpu_us(),
        ours.disk_kb(),
        plain.cpu_us(),
        plain.disk_kb(),
        behind.as_secs_f64()
    ));
}

fn note_peer(args: &WatcherBench, report: &mut Report, jobs: &Measure) {
    if jobs.count == 0 {
        return;
    }
    report.peer_stateful_per_s = Figure::of(jobs.per_s());
    report.ratio_peer = report.stateful_per_s.over(report.peer_stateful_per_s);
    args.run.say(&format!(
        "  graphile-worker  {:>9.0} jobs/s   ours over theirs {:.2}",
        jobs.per_s(),
        report.ratio_peer.or_zero()
    ));
}
