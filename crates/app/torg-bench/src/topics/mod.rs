//! `torg-bench topics`: appends to a topic, catch-up reads, and tail reads, beside the bare engine.
//!
//! Callers append at the same time, ten messages per call and then one per call. Readers go through
//! the partitions from the first offset. At last one message at a time is appended while a reader
//! waits for it. On fjall the reference is fjall itself, without Torg's code: it appends rows of
//! the same size under (partition, offset), in durable groups as large as Torg's can be, and scans
//! them. On PostgreSQL it is a plain client that inserts the same groups in one statement each.
//! Kafka is measured without a reference.

mod bare_fjall;
mod ours;
mod plain_postgres;

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use store::{StoreOptions, StoreUrl};

use self::bare_fjall::BareFjall;
use self::ours::Ours;
use self::plain_postgres::PlainPostgres;
use super::TopicsBench;
use super::data::Bodies;
use super::machine::{RssPeak, usage};
use super::measure::{Measure, ratio, round};
use super::process;

/// Messages in one call of the callers that append several.
const CALL_MESSAGES: u64 = 10;
/// Partitions that are read at the same time, on both sides.
const READERS: u32 = 2;
/// Messages in one page, on both sides.
const PAGE_MESSAGES: usize = 1000;

#[derive(Debug, Default, Serialize)]
struct Report {
    bench: &'static str,
    engine: &'static str,
    log: &'static str,
    append_per_s: f64,
    append_one_per_s: f64,
    raw_append_per_s: f64,
    ratio_append: f64,
    read_per_s: f64,
    raw_read_per_s: f64,
    ratio_read: f64,
    tail_p50_ms: f64,
    tail_p99_ms: f64,
    append_mb_per_s: f64,
    cpu_us_per_message: f64,
    rss_mb: u64,
    raw_cpu_us_per_message: f64,
    disk_kb_per_message: f64,
    raw_disk_kb_per_message: f64,
    raw_group_messages: u64,
    payload_bytes: usize,
}

/// What both sides write.
struct Load {
    payloads: Bodies,
    payload_bytes: usize,
    partitions: u32,
    callers: u64,
}

impl Load {
    /// The most messages that a commit of Torg can carry: every caller waits for its call.
    fn group(&self) -> u64 {
        (self.callers * CALL_MESSAGES).min(topics::limits::GROUP_MESSAGES_FULL as u64)
    }
}

/// The side that Torg is compared with.
enum Reference {
    None,
    Fjall(BareFjall),
    Postgres(PlainPostgres),
}

impl Reference {
    async fn appends(&mut self, load: &Load, time: Duration) -> anyhow::Result<Measure> {
        match self {
            Self::None => Ok(Measure::default()),
            Self::Fjall(bare) => bare.appends(load, time),
            Self::Postgres(plain) => plain.appends(load, time).await,
        }
    }

    async fn reads(&mut self, load: &Load, time: Duration) -> anyhow::Result<Measure> {
        match self {
            Self::None => Ok(Measure::default()),
            Self::Fjall(bare) => bare.reads(load, time),
            Self::Postgres(plain) => plain.reads(load, time).await,
        }
    }

    /// Waits until the engine's background threads are idle.
    fn settle(&self) {
        if let Self::Fjall(bare) = self {
            bare.settle();
        }
    }
}

/// The measures of a side and its use of resources.
#[derive(Default)]
struct Appended {
    measure: Measure,
    cpu_s: f64,
    disk_bytes: u64,
}

impl Appended {
    async fn then(&mut self, appends: impl Future<Output = anyhow::Result<Measure>>) -> anyhow::Result<()> {
        let before = usage();
        self.measure.then(appends.await?);
        let after = usage();
        self.cpu_s += after.0 - before.0;
        self.disk_bytes += after.1 - before.1;
        Ok(())
    }

    fn cpu_us(&self) -> f64 {
        self.cpu_s * 1e6 / self.measure.count.max(1) as f64
    }

    fn disk_kb(&self) -> f64 {
        self.disk_bytes as f64 / 1e3 / self.measure.count.max(1) as f64
    }
}

pub(super) async fn run(args: TopicsBench) -> anyhow::Result<()> {
    let folder = args.run.folder();
    let outcome = measure(&args, &folder).await;
    if args.run.postgres().is_none() {
        // This run created the folder.
        let _ = std::fs::remove_dir_all(&folder);
    }
    let report = outcome?;
    process::answer(&report)
}

async fn measure(args: &TopicsBench, folder: &Path) -> anyhow::Result<Report> {
    let say = |line: String| args.run.say(&line);
    let postgres = args.run.postgres();
    let (url, engine) = match postgres {
        Some(url) => (url.parse::<StoreUrl>()?, "postgres"),
        None => (StoreUrl::Fjall(folder.join("ours")), "fjall"),
    };
    let load = Load {
        payloads: Bodies::of_bytes(args.payload_bytes),
        payload_bytes: args.payload_bytes,
        partitions: args.partitions,
        callers: args.callers,
    };
    let options = StoreOptions::default();
    let ours = Ours::open(&url, &options, &args.topics, load).await?;
    let load = ours.load();
    let mut reference = match (ours.log_name(), postgres) {
        ("store", Some(url)) => Reference::Postgres(PlainPostgres::open(url, load).await?),
        ("store", None) => {
            Reference::Fjall(BareFjall::open(&folder.join("bare"), options.engine_cache_bytes(), load)?)
        }
        _ => Reference::None,
    };
    let mut report = Report {
        bench: "topics",
        engine,
        log: ours.log_name(),
        payload_bytes: args.payload_bytes,
        raw_group_messages: load.group(),
        ..Report::default()
    };
    say(format!(
        "topics in {} on {engine}: messages of {} bytes, {} partitions, {} callers, durable; reference in groups of {}",
        report.log, load.payload_bytes, load.partitions, load.callers, report.raw_group_messages
    ));
    let peak = RssPeak::watch();
    take_turns(args, &ours, &mut reference, &mut report, &say).await?;
    report.rss_mb = peak.mb();
    say(format!("  memory           {:>9} MiB at its peak, the reference included", report.rss_mb));
    drop(reference);
    ours.close().await?;
    Ok(report)
}

/// Appends and reads of both sides, in turns, so that other load on the machine affects both.
async fn take_turns(
    args: &TopicsBench,
    ours: &Ours,
    reference: &mut Reference,
    report: &mut Report,
    say: &impl Fn(String),
) -> anyhow::Result<()> {
    let time = Duration::from_secs(args.seconds);
    let load = ours.load();
    let (mut appends, mut raw_appends) = (Appended::default(), Appended::default());
    let (mut single, mut tail) = (Measure::default(), Measure::default());
    let (mut reads, mut raw_reads) = (Measure::default(), Measure::default());
    for _ in 0..args.turns {
        settle(ours, reference).await;
        appends.then(ours.appends(CALL_MESSAGES, time)).await?;
        settle(ours, reference).await;
        raw_appends.then(reference.appends(load, time)).await?;
        settle(ours, reference).await;
        reads.then(ours.reads(time / 2).await?);
        raw_reads.then(reference.reads(load, time / 2).await?);
        single.then(ours.appends(1, time / 2).await?);
        settle(ours, reference).await;
        tail.then(ours.tail(time / 2).await?);
    }
    report.append_per_s = round(appends.measure.per_s());
    report.append_one_per_s = round(single.per_s());
    report.raw_append_per_s = round(raw_appends.measure.per_s());
    report.ratio_append = round(ratio(appends.measure.per_s(), raw_appends.measure.per_s()));
    report.read_per_s = round(reads.per_s());
    report.raw_read_per_s = round(raw_reads.per_s());
    report.ratio_read = round(ratio(reads.per_s(), raw_reads.per_s()));
    report.tail_p50_ms = round(tail.quantile_ms(500));
    report.tail_p99_ms = round(tail.p99_ms());
    report.append_mb_per_s = round(appends.measure.per_s() * load.payload_bytes as f64 / 1e6);
    report.cpu_us_per_message = round(appends.cpu_us());
    report.raw_cpu_us_per_message = round(raw_appends.cpu_us());
    report.disk_kb_per_message = round(appends.disk_kb());
    report.raw_disk_kb_per_message = round(raw_appends.disk_kb());
    print(report, &appends.measure, &single, say);
    Ok(())
}

async fn settle(ours: &Ours, reference: &Reference) {
    reference.settle();
    ours.settle().await;
}

fn print(report: &Report, appends: &Measure, single: &Measure, say: &impl Fn(String)) {
    let rates = |name: &str, ours: f64, raw: f64, ratio: f64, rest: String| {
        say(format!("  {name:<16} {ours:>9.0} /s   reference {raw:>9.0} /s   ratio {ratio:.2}{rest}"));
    };
    let times = |measure: &Measure| {
        format!("   p50 {:.2} ms, p99 {:.2} ms a call", measure.quantile_ms(500), measure.p99_ms())
    };
    let Report { append_per_s, raw_append_per_s, ratio_append, .. } = *report;
    rates("append", append_per_s, raw_append_per_s, ratio_append, times(appends));
    rates("read", report.read_per_s, report.raw_read_per_s, report.ratio_read, String::new());
    say(format!("  append one       {:>9.0} /s{}", report.append_one_per_s, times(single)));
    say(format!(
        "  tail             {:>9.2} ms p50, {:.2} ms p99 from an append to a waiting reader",
        report.tail_p50_ms, report.tail_p99_ms
    ));
    say(format!(
        "  cost of one      {:>9.1} us of processor, {:.2} KB to disk   reference {:.1} us, {:.2} KB",
        report.cpu_us_per_message,
        report.disk_kb_per_message,
        report.raw_cpu_us_per_message,
        report.raw_disk_kb_per_message
    ));
}
