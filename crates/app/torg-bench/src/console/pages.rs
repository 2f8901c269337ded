//! Requests every page of the console and measures its response time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use console::limits::{OVERVIEW_REFRESH_INTERVAL, SHARED_FOR};

use super::ConsoleBench;
use super::base::Sample;
use super::client::Client;
use super::others::LOADED;
use crate::measure::{Measure, join};

/// Rounds in which each page is requested after a pause.
const RESTED_ROUNDS: usize = 20;

/// Response times of pages.
pub(super) struct Taken {
    /// The slowest page, when requests follow each other without a pause.
    pub(super) slowest: Measure,
    /// All pages together, with requests for other pages in between. One page alone has too few
    /// requests: a single slow one would decide its figure.
    pub(super) rested: Measure,
}

/// Requests every page many times, prints the time of each and returns the summary.
pub(super) async fn all(args: &ConsoleBench, address: SocketAddr, sample: &Sample) -> anyhow::Result<Taken> {
    let one = |path: &str| Arc::new(vec![path.to_owned()]);
    let each = |start: &str, names: &[String]| {
        Arc::new(names.iter().map(|name| format!("{start}{name}")).collect::<Vec<_>>())
    };
    let (seller, namespace) = LOADED;
    let feed = format!("/console/feeds/{seller}/{namespace}");
    let pages = [
        ("overview", one("/console/")),
        ("calls", one("/console/calls")),
        ("stages", one("/console/stages")),
        ("stage", each("/console/stages/", &["expiry", "look-00", "dead-00"].map(str::to_owned))),
        (
            "waiting",
            each("/console/stages/", &["expiry/waiting?lane=timers", "dead-00/waiting"].map(str::to_owned)),
        ),
        ("offer", each("/console/offers/", &sample.offers)),
        ("offers", one("/console/offers")),
        // An id in a feed that does not exist: this runs every lookup of the search.
        ("search", each("/console/offers?q=none%2F", &sample.sellers)),
        ("sellers", one("/console/sellers")),
        ("seller", each("/console/sellers/", &sample.sellers)),
        ("feeds", one("/console/feeds")),
        ("feed", one(&feed)),
        ("load", one(&format!("{feed}/loads/1"))),
        ("categories", one(&format!("{feed}/categories"))),
        ("tasks", one("/console/tasks")),
        ("task", each("/console/tasks/report", &["000", "017", "099"].map(str::to_owned))),
        ("values", one("/console/values")),
        ("value", each("/console/values/table", &["0000.rows", "0017.rows", "0999.rows"].map(str::to_owned))),
        ("topics", one("/console/topics")),
        ("topic", one("/console/topics/offers")),
        ("cluster", one("/console/cluster")),
        ("actions", one("/console/actions")),
    ];
    let rested = rested(address, &pages).await?;
    let (mut slowest, mut all_rested) = (Measure::default(), Measure::default());
    for ((name, paths), rested) in pages.into_iter().zip(rested) {
        let workers = (0..args.people).map(|_| tokio::spawn(ask(address, Arc::clone(&paths), args.times)));
        let measure = join(workers.collect()).await.with_context(|| format!("the page {name}"))?;
        args.say(&format!(
            "  {name:<16} {:>9.1} ms p50, {:>7.1} ms p95; asked seldom {:>7.1} ms p50, {:>7.1} ms p95",
            measure.quantile_ms(500),
            measure.quantile_ms(950),
            rested.quantile_ms(500),
            rested.quantile_ms(950)
        ));
        if measure.quantile_ms(950) > slowest.quantile_ms(950) {
            slowest = measure;
        }
        all_rested.then(rested);
    }
    args.say(&format!("  all              asked seldom {:>9.1} ms p95", all_rested.quantile_ms(950)));
    Ok(Taken { slowest, rested: all_rested })
}

async fn ask(address: SocketAddr, paths: Arc<Vec<String>>, times: u64) -> anyhow::Result<Measure> {
    let mut client = Client::connect(address).await?;
    let mut measure = Measure::default();
    let begun = Instant::now();
    for path in paths.iter().cycle().take(times as usize) {
        let start = Instant::now();
        let answer = client.get(path, "").await?;
        measure.note(start, 1);
        anyhow::ensure!(answer.status == 200, "{path}: {}", answer.status);
    }
    measure.elapsed = begun.elapsed();
    Ok(measure)
}

/// Requests every page in turn, so rarely that caches hold little from the previous request.
async fn rested(address: SocketAddr, pages: &[(&str, Arc<Vec<String>>)]) -> anyhow::Result<Vec<Measure>> {
    let mut measures = vec![Measure::default(); pages.len()];
    for round in 0..RESTED_ROUNDS {
        for ((name, paths), measure) in pages.iter().zip(&mut measures) {
            tokio::time::sleep(SHARED_FOR).await;
            let path = &paths[round % paths.len()];
            let mut client = Client::connect(address).await?;
            let start = Instant::now();
            let answer = client.get(path, "").await.with_context(|| format!("the page {name}"))?;
            measure.note(start, 1);
            anyhow::ensure!(answer.status == 200, "{path}: {}", answer.status);
        }
    }
    Ok(measures)
}

/// Kilobytes of the overview with all its resources.
pub(super) async fn first_page_kb(client: &mut Client) -> anyhow::Result<f64> {
    let page = client.get("/console/", "").await?;
    anyhow::ensure!(page.status == 200, "the overview: {}", page.status);
    let text = String::from_utf8_lossy(&page.body).into_owned();
    let mut bytes = page.body.len();
    for part in text.split("/console/assets/").skip(1) {
        let name = part.split('"').next().unwrap_or_default();
        let asset = client.get(&format!("/console/assets/{name}"), "").await?;
        anyhow::ensure!(asset.status == 200, "{name}: {}", asset.status);
        bytes += asset.body.len();
    }
    Ok(bytes as f64 / 1000.0)
}

/// The overview, open in a browser that opens it after this delay.
pub(super) async fn stay(address: SocketAddr, after: Duration, time: Duration) -> anyhow::Result<()> {
    let mut client = Client::connect(address).await?;
    let end = Instant::now() + time;
    tokio::time::sleep(after).await;
    client.get("/console/", "").await?;
    while Instant::now() < end {
        tokio::time::sleep(OVERVIEW_REFRESH_INTERVAL.min(end - Instant::now())).await;
        let answer = client.get("/console/", "torg-live: 1\r\n").await?;
        anyhow::ensure!(answer.status == 200, "the overview: {}", answer.status);
    }
    Ok(())
}
