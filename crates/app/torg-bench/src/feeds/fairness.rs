//! Measures the load times of many small sellers at once: alone, and while a big seller loads.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use feedfile::generate::{Kind, Plan, Size};
use wire::torg::feeds::v1::load::State;

use super::market::{Market, clear};
use super::options::FeedsBench;
use super::report::Report;
use crate::figure::Figure;
use crate::observe::Times;

pub(super) const SIDE: &str = "fairness";
const BIG: &str = "big";
/// Words of a description: half a million offers have to fit into one file.
const WORDS: u64 = 10;
/// Offers of the big seller that are published when the small ones begin, or a tenth of all if that
/// is less.
const UNDER_WAY: u64 = 5000;

pub(super) async fn measure(args: &FeedsBench, report: &mut Report) -> anyhow::Result<()> {
    let market = Market::open(args, SIDE).await?;
    // The first loads run with cold caches.
    small_ones(args, &market, "first").await?;
    let alone = small_ones(args, &market, "alone").await?;
    let (beside, big_per_s) = beside_big(args, &market).await?;
    market.close().await?;
    clear(args, SIDE).await?;
    report.big_seller = args.big_seller;
    report.big_offers_per_s = Figure::of(big_per_s);
    report.small_sellers = args.small_sellers;
    report.small_offers = args.small_offers;
    report.small_alone_p50_ms = Figure::of(alone.percentile_ms(50));
    report.small_alone_p95_ms = Figure::of(alone.percentile_ms(95));
    report.small_beside_p50_ms = Figure::of(beside.percentile_ms(50));
    report.small_beside_p95_ms = Figure::of(beside.percentile_ms(95));
    report.small_p50_ratio = report.small_beside_p50_ms.over(report.small_alone_p50_ms);
    report.small_p95_ratio = report.small_beside_p95_ms.over(report.small_alone_p95_ms);
    args.run.say(&format!(
        "  {} small sellers  p50 {:.0} and p95 {:.0} ms from upload to done, all at once; beside a big one ({} offers, {big_per_s:.0} /s) {:.0} and {:.0} ms: ratios {:.2} and {:.2} (goal below 2)",
        args.small_sellers,
        report.small_alone_p50_ms.or_zero(),
        report.small_alone_p95_ms.or_zero(),
        args.big_seller,
        report.small_beside_p50_ms.or_zero(),
        report.small_beside_p95_ms.or_zero(),
        report.small_p50_ratio.or_zero(),
        report.small_p95_ratio.or_zero()
    ));
    Ok(())
}

/// The load times of the small sellers while the big one loads, and the offers per second of the
/// big one.
async fn beside_big(args: &FeedsBench, market: &Market) -> anyhow::Result<(Times, f64)> {
    let plan = Plan::new(Kind::OwnXml, 2, Size::Offers(args.big_seller));
    let file = market.write("big.xml", &Plan { words_max: WORDS, ..plan })?;
    let (big, start) = (market.feed(BIG).await?, Instant::now());
    let number = market.upload(&big, &file).await?;
    let begun = UNDER_WAY.min(args.big_seller / 10);
    loop {
        let load = market.feeds.load(&big, number).await?;
        if load.counts.as_option().is_some_and(|counts| counts.created >= begun) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let beside = small_ones(args, market, "beside").await?;
    let state = market.feeds.load(&big, number).await?.state.as_known();
    anyhow::ensure!(
        state != Some(State::STATE_DONE),
        "the big seller was done before the small ones: take more with --big-seller"
    );
    market.done(&big, number).await?;
    Ok((beside, args.big_seller as f64 / start.elapsed().as_secs_f64()))
}

/// Starts the loads of all small sellers at once. Each is timed from its upload to its end.
async fn small_ones(args: &FeedsBench, market: &Market, name: &str) -> anyhow::Result<Times> {
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    for number in 0..args.small_sellers {
        let seller = format!("{name}-{number}");
        market.feed(&seller).await?;
        let plan = Plan::new(Kind::OwnXml, number, Size::Offers(args.small_offers));
        files.push((seller.clone(), market.write(&format!("{seller}.xml"), &plan)?));
    }
    let loads = files.iter().map(|(seller, file)| async move {
        let feed = feeds::FeedName { seller: seller.clone(), namespace: "default".to_owned() };
        let start = Instant::now();
        let number = market.upload(&feed, file).await?;
        let load = market.done(&feed, number).await?;
        let took = start.elapsed();
        let created = load.counts.as_option().map_or(0, |counts| counts.created);
        anyhow::ensure!(created == args.small_offers, "not all offers of {seller} were published: {load:?}");
        anyhow::Ok(u64::try_from(took.as_micros()).unwrap_or(u64::MAX))
    });
    let times = futures::future::try_join_all(loads).await?;
    Ok(times.into_iter().collect())
}
