//! `torg-bench offers`: the ad store through the port of a serving process, beside the same calls
//! without RPC and beside a hand-made service.
//!
//! Offers are loaded in this process. Then a `torg serve` of the same program opens the store, and
//! this process is its gRPC client. Measured are *writes*, *reads*, both together (*mixed*), both
//! at the rates that a marketplace needs, and the *cabinet* of a seller with very many offers. Then
//! the server stops, and the same calls run without it. The hand-made service takes turns with the
//! writes.

pub(super) mod ads;
mod base;
mod book;
mod cabinet;
pub(super) mod door;
mod drive;
mod handmade;
pub(super) mod load;
mod options;

mod report;
mod server;
mod texts;

use anyhow::Context as _;

use self::base::Base;
use self::book::Book;
use self::door::Door;
use self::drive::{Load, Pace, Reached};
use self::handmade::Handmade;
pub(crate) use self::options::OffersBench;

use self::report::{Report, figure, over};
use self::server::Server;
use crate::measure::Measure;
use crate::process;
use crate::processor::{Look, Spent, peak_mb};

/// The big seller needs this many offers for a measurement.
const BIG_SELLER_MIN: u64 = 1000;
/// Concurrent calls at set rates, as a multiple of those in a closed loop: some calls are late.
const CALLERS_AT_RATES: u64 = 2;

pub(super) async fn run(args: OffersBench) -> anyhow::Result<()> {
    anyhow::ensure!(
        args.big_seller == 0 || args.big_seller >= BIG_SELLER_MIN,
        "--big-seller is 0, or {BIG_SELLER_MIN} or more"
    );
    base::clear(&args).await?;
    let outcome = measure(&args).await;
    // After a failed run its store and the server's log stay.
    let report = outcome.with_context(|| format!("see {}", args.folder().join("server.log").display()))?;
    base::clear(&args).await?;
    process::answer(&report)
}

async fn measure(args: &OffersBench) -> anyhow::Result<Report> {
    let mut report = Report {
        bench: "offers",
        engine: args.run.engine(),
        offers: args.offers,
        big_seller: args.big_seller,
        callers: args.callers,
        connections: args.connections,
        gzip: args.gzip,
        ..Report::default()
    };
    args.run.say(&format!(
        "offers on {}: {} of many sellers and {} of one, 2 KB, one in 200 of 100 KB; {} callers on {} connections; 80 % changes, 10 % new, 10 % moves",
        args.run.engine(),
        args.offers,
        args.big_seller,
        args.callers,
        args.connections
    ));
    let book = load::fill(args, &mut report).await?;
    let mut handmade = Handmade::load(args, &book).await?;
    base::put_away(args).await?;
    let server = Server::start(args).await?;
    through_rpc(args, &server, &book, handmade.as_mut(), &mut report).await?;
    report.rss_mb = peak_mb(server.process).and_then(figure);
    args.run.say(&format!(
        "  memory           {:>9.0} MiB at most in the server",
        report.rss_mb.unwrap_or_default()
    ));
    server.stop().await?;
    if let Some(handmade) = handmade {
        handmade.end().await?;
    }
    without_rpc(args, &book, &mut report).await?;
    report.rpc_over_store = over(report.writes_per_s, report.store_writes_per_s);
    report.rpc_over_store_reads = over(report.reads_per_s, report.store_reads_per_s);
    report.ratio_handmade = over(report.writes_per_s, report.handmade_writes_per_s);
    say_ratios(args, &report);
    Ok(report)
}

async fn through_rpc(
    args: &OffersBench,
    server: &Server,
    book: &Book,
    handmade: Option<&mut Handmade>,
    report: &mut Report,
) -> anyhow::Result<()> {
    writes(args, server, book, handmade, report).await?;
    let doors = server.doors();
    let alone = Load::reads(args.callers, args.time());
    let (reached, spent) = warmed(args, Some(server), &doors, book, alone).await?;
    let Reached { reads, .. } = reached;
    report.reads_per_s = figure(reads.per_s());
    report.reads_p50_ms = figure(reads.quantile_ms(500));
    report.reads_p99_ms = figure(reads.p99_ms());
    report.server_cpu_us_per_read = figure(spent.server_s * 1e6 / reads.count.max(1) as f64);
    report.client_cpu_us_per_read = figure(spent.client_s * 1e6 / reads.count.max(1) as f64);
    say(args, "reads", &reads, &spent);

    let together = Load { writers: args.callers, ..alone };
    let (Reached { writes, reads }, spent) = warmed(args, Some(server), &doors, book, together).await?;
    report.mixed_writes_per_s = figure(writes.per_s());
    report.mixed_reads_per_s = figure(reads.per_s());
    report.p99_ms = figure(writes.p99_ms());
    report.mixed_reads_p99_ms = figure(reads.p99_ms());
    say_both(args, "mixed", &writes, &reads, &spent);

    let callers = args.callers * CALLERS_AT_RATES;
    let pace = Pace::Rates { writes: args.write_rate, reads: args.read_rate };
    let asked = Load { writers: callers, readers: callers, pace, ..alone };
    let (Reached { writes, reads }, spent) = warmed(args, Some(server), &doors, book, asked).await?;
    report.asked_writes_per_s = figure(args.write_rate as f64);
    report.asked_reads_per_s = figure(args.read_rate as f64);
    report.reached_writes_per_s = figure(writes.per_s());
    report.reached_reads_per_s = figure(reads.per_s());
    report.reached_writes_p99_ms = figure(writes.p99_ms());
    report.reached_reads_p99_ms = figure(reads.p99_ms());
    args.run.say(&format!(
        "  asked for        {:>9} writes/s beside {} reads/s:",
        args.write_rate, args.read_rate
    ));
    say_both(args, "reached", &writes, &reads, &spent);

    if args.big_seller > 0 {
        cabinet::measure(args, server, book.ads(), report).await?;
    }
    Ok(())
}

/// Writes alone, in turns with the hand-made service.
async fn writes(
    args: &OffersBench,
    server: &Server,
    book: &Book,
    mut handmade: Option<&mut Handmade>,
    report: &mut Report,
) -> anyhow::Result<()> {
    let (doors, load) = (server.doors(), Load::writes(args.callers, args.time()));
    let (mut ours, mut theirs, mut client_s, mut server_s, mut behind_s) =
        (Measure::default(), Measure::default(), 0.0, 0.0, 0.0_f64);
    for _ in 0..args.turns {
        Load { time: args.warm_up_time(), ..load }.run(&doors, book).await?;
        let before = server.exported().await?;
        let look = Look::now(Some(server.process));
        let Reached { writes, .. } = load.run(&doors, book).await?;
        // The background work that the calls cause counts too.
        let behind = server.exports(before + writes.count.cast_signed()).await?;
        let spent = look.spent();
        say(args, "writes", &writes, &spent);
        behind_s = behind_s.max(behind.as_secs_f64());
        (client_s, server_s) = (client_s + spent.client_s, server_s + spent.server_s);
        ours.then(writes);
        if let Some(handmade) = &mut handmade {
            handmade.writes(args.warm_up_time()).await?;
            let look = Look::now(None);
            let writes = handmade.writes(args.time()).await?;
            say(args, "hand-made writes", &writes, &look.spent());
            theirs.then(writes);
        }
    }
    report.writes_per_s = figure(ours.per_s());
    report.writes_p50_ms = figure(ours.quantile_ms(500));
    report.writes_p99_ms = figure(ours.p99_ms());
    report.server_cpu_us_per_write = figure(server_s * 1e6 / ours.count.max(1) as f64);
    report.client_cpu_us_per_write = figure(client_s * 1e6 / ours.count.max(1) as f64);
    report.topic_behind_s = figure(behind_s);
    if handmade.is_some() {
        report.handmade_writes_per_s = figure(theirs.per_s());
        report.handmade_p99_ms = figure(theirs.p99_ms());
    }
    Ok(())
}

/// The same calls in this process.
async fn without_rpc(args: &OffersBench, book: &Book, report: &mut Report) -> anyhow::Result<()> {
    let base = Base::open(args).await?;
    let doors = [Door::Store(base.offers.clone())];
    let load = Load::writes(args.callers, args.time());
    Load { time: args.warm_up_time(), ..load }.run(&doors, book).await?;
    base.send_off().await?;
    let look = Look::now(None);
    let Reached { writes, .. } = load.run(&doors, book).await?;
    base.send_off().await?;
    let spent = look.spent();
    report.store_writes_per_s = figure(writes.per_s());
    report.store_cpu_us_per_write = figure(spent.client_s * 1e6 / writes.count.max(1) as f64);
    say(args, "no RPC: writes", &writes, &spent);
    let (reached, spent) = warmed(args, None, &doors, book, Load::reads(args.callers, args.time())).await?;
    let Reached { reads, .. } = reached;
    report.store_reads_per_s = figure(reads.per_s());
    report.store_cpu_us_per_read = figure(spent.client_s * 1e6 / reads.count.max(1) as f64);
    say(args, "no RPC: reads", &reads, &spent);
    base.close().await
}

/// Runs a load after a shorter one of the same kind.
async fn warmed(
    args: &OffersBench,
    server: Option<&Server>,
    doors: &[Door],
    book: &Book,
    load: Load,
) -> anyhow::Result<(Reached, Spent)> {
    Load { time: args.warm_up_time(), ..load }.run(doors, book).await?;
    let look = Look::now(server.map(|server| server.process));
    let reached = load.run(doors, book).await?;
    Ok((reached, look.spent()))
}

fn say(args: &OffersBench, what: &str, measure: &Measure, spent: &Spent) {
    let count = measure.count.max(1) as f64;
    args.run.say(&format!(
        "  {what:<16} {:>9.0} /s   p50 {:.2} and p99 {:.2} ms; {:.0} us of processor each in the server, {:.0} in this process; {}",
        measure.per_s(),
        measure.quantile_ms(500),
        measure.p99_ms(),
        spent.server_s * 1e6 / count,
        spent.client_s * 1e6 / count,
        spent.line()
    ));
}

fn say_both(args: &OffersBench, what: &str, writes: &Measure, reads: &Measure, spent: &Spent) {
    args.run.say(&format!(
        "  {what:<16} {:>9.0} writes/s beside {:.0} reads/s; p99 {:.2} and {:.2} ms; {}",
        writes.per_s(),
        reads.per_s(),
        writes.p99_ms(),
        reads.p99_ms(),
        spent.line()
    ));
}

fn say_ratios(args: &OffersBench, report: &Report) {
    let text =
        |ratio: Option<f64>| ratio.map_or_else(|| "not measured".to_owned(), |ratio| format!("{ratio:.2}"));
    args.run.say(&format!(
        "  ratios           writes over the hand-made service {} (goal {}); RPC over no RPC, writes {} (goal 0.35), reads {}; big seller {} (goal 2)",
        text(report.ratio_handmade),
        if args.run.postgres().is_some() { 3 } else { 5 },
        text(report.rpc_over_store),
        text(report.rpc_over_store_reads),
        text(report.big_seller_ratio)
    ));
}
