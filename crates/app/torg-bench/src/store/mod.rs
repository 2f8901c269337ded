//! `torg-bench store`: updates of offers, beside the bare engine with the same rows.
//!
//! An update checks the offer's version, writes the offer (2 KB) and its outbox row (2 KB), moves
//! it in two queues and two lists (four small rows), and adds to two counters. On fjall the
//! reference is fjall itself, in groups of 128, without Torg's code. On PostgreSQL it is a plain
//! client with one transaction for each update, on as many connections as Torg has callers.

mod bare_fjall;
mod ours;
mod plain_postgres;
mod queue;

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use store::{StoreOptions, StoreUrl};

use self::bare_fjall::BareFjall;
use self::ours::Ours;
use self::plain_postgres::PlainPostgres;
use super::StoreBench;
use super::machine::{RssPeak, usage};
use super::measure::{Measure, ratio, round};
use super::process;

#[derive(Debug, Default, Serialize)]
struct Report {
    bench: &'static str,
    engine: &'static str,
    rows: u64,
    updates_per_s: f64,
    raw_updates_per_s: f64,
    ratio_updates: f64,
    reads_per_s: f64,
    raw_reads_per_s: f64,
    ratio_reads: f64,
    mixed_updates_per_s: f64,
    mixed_reads_per_s: f64,
    p99_ms: f64,
    grown_rows: u64,
    grown_updates_per_s: f64,
    growth_ratio: f64,
    poll_fresh_p99_ms: f64,
    poll_drained_p99_ms: f64,
    poll_ratio: f64,
    load_per_s: f64,
    cpu_us_per_update: f64,
    disk_kb_per_update: f64,
    raw_cpu_us_per_update: f64,
    raw_disk_kb_per_update: f64,
    cache_mb: u64,
    rss_mb: u64,
}

/// The side that Torg is compared with.
enum Reference {
    None,
    Fjall(BareFjall),
    Postgres(PlainPostgres),
}

impl Reference {
    async fn updates(&mut self, time: Duration) -> anyhow::Result<Measure> {
        match self {
            Self::None => Ok(Measure::default()),
            Self::Fjall(bare) => bare.updates(time),
            Self::Postgres(plain) => plain.updates(time).await,
        }
    }

    async fn reads(&mut self, time: Duration) -> anyhow::Result<Measure> {
        match self {
            Self::None => Ok(Measure::default()),
            Self::Fjall(bare) => bare.reads(time),
            Self::Postgres(plain) => plain.reads(time).await,
        }
    }

    /// Waits until the engine's background threads are idle.
    fn settle(&self) {
        if let Self::Fjall(bare) = self {
            bare.settle();
        }
    }
}

pub(super) async fn run(args: StoreBench) -> anyhow::Result<()> {
    let folder = args.run.folder();
    let outcome = measure(&args, &folder).await;
    if args.run.postgres().is_none() {
        // This run created the folder.
        let _ = std::fs::remove_dir_all(&folder);
    }
    let report = outcome?;
    process::answer(&report)
}

async fn measure(args: &StoreBench, folder: &Path) -> anyhow::Result<Report> {
    anyhow::ensure!(args.rows >= args.callers as u64, "--rows must not be less than --callers");
    let say = |line: String| args.run.say(&line);
    let (url, engine) = match args.run.postgres() {
        Some(url) => (url.parse::<StoreUrl>()?, "postgres"),
        None => (StoreUrl::Fjall(folder.join("ours")), "fjall"),
    };
    let options = StoreOptions { cache_bytes: args.cache_mb << 20, ..StoreOptions::default() };
    let mut ours = Ours::open(&url, &options, args.callers).await?;
    let mut report =
        Report { bench: "store", engine, rows: args.rows, cache_mb: args.cache_mb, ..Report::default() };
    say(format!("store on {engine}: {} offers of 2 KB, {} callers, durable", args.rows, args.callers));
    let peak = RssPeak::watch();
    let load = ours.load_to(args.rows).await?;
    report.rss_mb = peak.mb();
    drop(peak);
    report.load_per_s = round(load.per_s());
    say(format!("  load             {:>9.0} offers/s", load.per_s()));
    let mut reference = match (args.alone, args.run.postgres()) {
        (true, _) => Reference::None,
        (false, Some(url)) => Reference::Postgres(PlainPostgres::load(url, args.rows, args.callers).await?),
        (false, None) => {
            let cache_bytes = options.engine_cache_bytes();
            Reference::Fjall(BareFjall::load(&folder.join("bare"), cache_bytes, args.rows)?)
        }
    };
    take_turns(args, &mut ours, &mut reference, &mut report, &say).await?;
    drop(reference);
    mixed(args, &mut ours, &mut report, &say).await?;
    queue::measure(&ours, &mut report, &say).await?;
    if args.grown_rows > args.rows {
        grow(args, &mut ours, &mut report, &say).await?;
    }
    say(format!(
        "  memory           {:>9} MiB at its peak during loads, {} of them cache",
        report.rss_mb, args.cache_mb
    ));
    ours.close().await?;
    Ok(report)
}

/// Updates and reads of both sides, in turns, so that other load on the machine affects both.
async fn take_turns(
    args: &StoreBench,
    ours: &mut Ours,
    reference: &mut Reference,
    report: &mut Report,
    say: &impl Fn(String),
) -> anyhow::Result<()> {
    let time = Duration::from_secs(args.seconds);
    let (mut updates, mut raw_updates) = (Measure::default(), Measure::default());
    let (mut reads, mut raw_reads) = (Measure::default(), Measure::default());
    let (mut cpu, mut disk, mut raw_cpu, mut raw_disk) = (0.0, 0, 0.0, 0);
    for _ in 0..args.turns {
        settle(ours, reference).await;
        let before = usage();
        updates.then(ours.updates(time).await?);
        let after = usage();
        cpu += after.0 - before.0;
        disk += after.1 - before.1;
        settle(ours, reference).await;
        let before = usage();
        raw_updates.then(reference.updates(time).await?);
        let after = usage();
        raw_cpu += after.0 - before.0;
        raw_disk += after.1 - before.1;
        settle(ours, reference).await;
        reads.then(ours.reads(time / 2).await?);
        raw_reads.then(reference.reads(time / 2).await?);
    }
    report.updates_per_s = round(updates.per_s());
    report.raw_updates_per_s = round(raw_updates.per_s());
    report.ratio_updates = round(ratio(updates.per_s(), raw_updates.per_s()));
    report.reads_per_s = round(reads.per_s());
    report.raw_reads_per_s = round(raw_reads.per_s());
    report.ratio_reads = round(ratio(reads.per_s(), raw_reads.per_s()));
    report.p99_ms = round(updates.p99_ms());
    report.cpu_us_per_update = round(cpu * 1e6 / updates.count as f64);
    report.disk_kb_per_update = round(disk as f64 / 1e3 / updates.count as f64);
    report.raw_cpu_us_per_update = round(raw_cpu * 1e6 / raw_updates.count.max(1) as f64);
    report.raw_disk_kb_per_update = round(raw_disk as f64 / 1e3 / raw_updates.count.max(1) as f64);
    let line = |name: &str, ours: &Measure, raw: &Measure, ratio: f64| {
        say(format!(
            "  {name:<16} {:>9.0} /s   reference {:>9.0} /s   ratio {ratio:.2}   p50 {:.2} ms, p99 {:.2} ms",
            ours.per_s(),
            raw.per_s(),
            ours.quantile_ms(500),
            ours.p99_ms()
        ));
    };
    line("updates", &updates, &raw_updates, report.ratio_updates);
    line("reads", &reads, &raw_reads, report.ratio_reads);
    say(format!(
        "  cost of one      {:>9.0} us of processor, {:.1} KB to disk   reference {:.0} us, {:.1} KB",
        report.cpu_us_per_update,
        report.disk_kb_per_update,
        report.raw_cpu_us_per_update,
        report.raw_disk_kb_per_update
    ));
    Ok(())
}

async fn settle(ours: &Ours, reference: &Reference) {
    reference.settle();
    ours.settle().await;
}

async fn mixed(
    args: &StoreBench,
    ours: &mut Ours,
    report: &mut Report,
    say: &impl Fn(String),
) -> anyhow::Result<()> {
    ours.settle().await;
    let (updates, reads) = ours.mixed(Duration::from_secs(args.seconds)).await?;
    report.mixed_updates_per_s = round(updates.per_s());
    report.mixed_reads_per_s = round(reads.per_s());
    say(format!("  mixed            {:>9.0} updates/s beside {:.0} reads/s", updates.per_s(), reads.per_s()));
    Ok(())
}

async fn grow(
    args: &StoreBench,
    ours: &mut Ours,
    report: &mut Report,
    say: &impl Fn(String),
) -> anyhow::Result<()> {
    // The reference is dropped by now: the memory in use belongs to the store.
    let peak = RssPeak::watch();
    ours.load_to(args.grown_rows).await?;
    report.rss_mb = report.rss_mb.max(peak.mb());
    drop(peak);
    let mut updates = Measure::default();
    for _ in 0..args.turns {
        ours.settle().await;
        updates.then(ours.updates(Duration::from_secs(args.seconds)).await?);
    }
    report.grown_rows = args.grown_rows;
    report.grown_updates_per_s = round(updates.per_s());
    report.growth_ratio = round(ratio(updates.per_s(), report.updates_per_s));
    say(format!(
        "  at {} offers {:>9.0} updates/s   {:.2} of the rate at {}",
        args.grown_rows,
        updates.per_s(),
        report.growth_ratio,
        args.rows
    ));
    Ok(())
}
