//! `torg-bench console`: response times of console pages over many offers and stages.
//!
//! Offers are loaded in this process. Then a `torg serve` of the same program opens the store, with
//! stages in a separate process, two of which do not answer. It gets feeds, values and tasks.
//! Several clients request pages as browsers do, one after the other, while a re-crawl keeps all
//! stages busy. After the re-crawl the overview stays open in many browsers; the report compares
//! the processor time of the server with that of the same server without viewers.

mod base;
mod client;
mod others;
mod pages;
mod plugin;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use console::limits::OVERVIEW_REFRESH_INTERVAL;
use serde::Serialize;
use serde_json::json;

use self::client::Client;
use self::plugin::Plugin;
use crate::figure::Figure;
use crate::process;
use crate::processor::{Look, peak_mb};
use crate::serving::Serving;

/// The console's benchmark.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConsoleBench {
    /// Where the run makes its folder, and removes it again; by default beside the current one.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Offers of many sellers.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1000..))]
    offers: u64,
    /// Stages, of which two are built in and two do not answer.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(5..=60))]
    stages: u64,
    /// Times that each page is asked for.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(20..))]
    times: u64,
    /// People who ask for pages at the same time.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=32))]
    people: u64,
    /// Browsers in which the overview stays open.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=500))]
    viewers: u64,
    /// Seconds for which it stays open, and for which the server is looked at without.
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(5..))]
    seconds: u64,
    /// Prints only the JSON line.
    #[arg(long)]
    json: bool,
    /// Serves the stages of a run; for the run itself.
    #[arg(long, hide = true)]
    child: bool,
}

impl ConsoleBench {
    fn folder(&self) -> PathBuf {
        let own = || PathBuf::from(format!("torg-bench-{}", std::process::id()));
        self.folder.clone().unwrap_or_else(own).join("console")
    }

    fn say(&self, line: &str) {
        if !self.json {
            process::print_line(line);
        }
    }
}

#[derive(Debug, Default, Serialize)]
struct Report {
    bench: &'static str,
    offers: u64,
    stages: u64,
    /// Of the slowest page.
    p95_ms: Figure,
    p50_ms: Figure,
    /// Of all pages, with requests for other pages in between, so that caches hold little of the
    /// page.
    rested_p95_ms: Figure,
    /// The overview with all its resources, as a browser with an empty cache loads it.
    page_kb: Figure,
    /// In hundredths of one core, minus the use of the same server without viewers.
    viewers_cpu_pct: Figure,
    viewers: u64,
    rss_mb: Figure,
}

pub(super) async fn run(args: ConsoleBench) -> anyhow::Result<()> {
    if args.child {
        return plugin::in_child().await;
    }
    clear(&args)?;
    let outcome = measure(&args).await;
    // After a failed run its store and the server's log stay.
    let report = outcome.with_context(|| format!("see {}", args.folder().join("server.log").display()))?;
    clear(&args)?;
    process::answer(&report)
}

fn clear(args: &ConsoleBench) -> anyhow::Result<()> {
    let folder = args.folder();
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    // The folder stays if it holds something else.
    if let Some(parent) = folder.parent() {
        let _ = std::fs::remove_dir(parent);
    }
    Ok(())
}

async fn measure(args: &ConsoleBench) -> anyhow::Result<Report> {
    args.say(&format!("console over {} offers and {} stages", args.offers, args.stages));
    let sample = base::fill(args).await?;
    let plugin = Plugin::start().await?;
    let file = plugin.declare(args).await?;
    let settings = [
        ("TORG_STAGES_BUILT_IN", "expiry,evolution".to_owned()),
        ("TORG_STAGES_FILE", file.display().to_string()),
    ];
    let serving = Serving::start(&args.folder(), &settings).await?;
    let mut client = Client::connect(serving.address).await?;
    others::make(args, &mut client).await?;
    recrawl(&mut client, "StartRecrawl", &json!({"perSecond": 500})).await?;
    let mut report = Report {
        bench: "console",
        offers: args.offers,
        stages: args.stages,
        viewers: args.viewers,
        ..Report::default()
    };
    let taken = pages::all(args, serving.address, &sample).await?;
    report.p95_ms = Figure::of(taken.slowest.quantile_ms(950));
    report.p50_ms = Figure::of(taken.slowest.quantile_ms(500));
    report.rested_p95_ms = Figure::of(taken.rested.quantile_ms(950));
    // The first connection was idle for longer than the server allows.
    let mut client = Client::connect(serving.address).await?;
    // By now the page has all its figures and plots.
    report.page_kb = Figure::of(pages::first_page_kb(&mut client).await?);
    args.say(&format!(
        "  first page       {:>9.1} KB with its style, script and icon",
        report.page_kb.or_zero()
    ));
    recrawl(&mut client, "PauseRecrawl", &json!({})).await?;
    report.viewers_cpu_pct = Figure::of(viewers(args, &serving).await?);
    args.say(&format!(
        "  viewers          {:>9.2} % of a core for {} overviews that stay open",
        report.viewers_cpu_pct.or_zero(),
        args.viewers
    ));
    report.rss_mb = peak_mb(serving.process).map_or_else(Figure::default, Figure::of);
    serving.stop().await?;
    Ok(report)
}

async fn recrawl(client: &mut Client, method: &str, body: &serde_json::Value) -> anyhow::Result<()> {
    let answer =
        client.post(&format!("/torg.stages.v1.StageAdminService/{method}"), &body.to_string()).await?;
    anyhow::ensure!(answer.status == 200, "{method}: {}", String::from_utf8_lossy(&answer.body));
    Ok(())
}

/// The processor time that the server spends on open overviews, in hundredths of a core.
async fn viewers(args: &ConsoleBench, serving: &Serving) -> anyhow::Result<f64> {
    let time = Duration::from_secs(args.seconds);
    // The work that the re-crawl left behind finishes first.
    tokio::time::sleep(time / 4).await;
    let before = alone(serving, time).await;
    // Viewers do not refresh at the same moments.
    let apart = |viewer: u64| OVERVIEW_REFRESH_INTERVAL * viewer as u32 / args.viewers as u32;
    let look = Look::now(Some(serving.process));
    let opened: Vec<_> = (0..args.viewers)
        .map(|viewer| tokio::spawn(pages::stay(serving.address, apart(viewer), time)))
        .collect();
    for viewer in opened {
        viewer.await??;
    }
    let with_viewers = look.spent().server_s;
    let after = alone(serving, time).await;
    let percent = |seconds: f64| 100.0 * seconds / time.as_secs_f64();
    args.say(&format!(
        "  server           {:>9.2} % of a core without them before, {:.2} after",
        percent(before),
        percent(after)
    ));
    Ok(percent(with_viewers - f64::midpoint(before, after)))
}

/// The processor time of the server without viewers, in seconds.
async fn alone(serving: &Serving, time: Duration) -> f64 {
    let look = Look::now(Some(serving.process));
    tokio::time::sleep(time).await;
    look.spent().server_s
}
