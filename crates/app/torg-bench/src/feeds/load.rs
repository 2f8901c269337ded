//! Measures how fast a file becomes live offers. A second file with few changes must update only
//! the changed offers. The reference is the writes of `bench offers`.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Instant;

use anyhow::Context as _;
use feedfile::generate::{Kind, Plan, Size};
use feeds::FeedName;
use serde::Deserialize;
use tokio::process::Command;
use wire::torg::feeds::v1::Counts;

use super::market::{Market, clear};
use super::options::FeedsBench;
use super::report::Report;
use crate::figure::Figure;
use crate::machine::usage;
use crate::process::last_line;

pub(super) const SIDE: &str = "load";
/// One of this many offers is different in the second file.
const CHANGED_EVERY: u64 = 100;
const SELLER: &str = "seller";
/// The most offers that `bench offers` gets; it uses as many offers as this run, of many sellers.
const OTHERS_MAX: u64 = 200_000;

pub(super) async fn measure(args: &FeedsBench, report: &mut Report) -> anyhow::Result<()> {
    let market = Market::open(args, SIDE).await?;
    let feed = market.feed(SELLER).await?;
    let plan = Plan::new(Kind::OwnXml, 1, Size::Offers(args.offers));
    load(args, &market, &feed, &plan, report).await?;
    reload(args, &market, &feed, &Plan { changed_every: CHANGED_EVERY, ..plan }, report).await?;
    market.close().await?;
    clear(args, SIDE).await?;
    if args.seconds > 0 {
        beside_writes(args, report).await?;
    }
    Ok(())
}

async fn load(
    args: &FeedsBench,
    market: &Market,
    feed: &FeedName,
    plan: &Plan,
    report: &mut Report,
) -> anyhow::Result<()> {
    let file = market.write("first.xml", plan)?;
    let megabytes = file.metadata()?.len() as f64 / 1e6;
    let (start, (cpu, _)) = (Instant::now(), usage());
    let number = market.upload(feed, &file).await?;
    let load = market.done(feed, number).await?;
    let seconds = start.elapsed().as_secs_f64();
    let behind = market.send_off().await?;
    let cpu_us = (usage().0 - cpu) * 1e6 / args.offers as f64;
    let counts = load.counts.as_option().cloned().unwrap_or_default();
    anyhow::ensure!(counts.created == args.offers, "not all offers were published: {load:?}");
    report.e2e_offers_per_s = Figure::of(args.offers as f64 / seconds);
    report.e2e_mb_s = Figure::of(megabytes / seconds);
    report.e2e_cpu_us = Figure::of(cpu_us);
    report.topic_behind_s = Figure::of(behind.as_secs_f64());
    args.run.say(&format!(
        "  load             {:>9.0} offers/s from the file to live offers with answers stored ({megabytes:.0} MB in {seconds:.1} s); {cpu_us:.0} us of processor each; the topic {:.1} s behind",
        report.e2e_offers_per_s.or_zero(),
        behind.as_secs_f64()
    ));
    Ok(())
}

async fn reload(
    args: &FeedsBench,
    market: &Market,
    feed: &FeedName,
    plan: &Plan,
    report: &mut Report,
) -> anyhow::Result<()> {
    let file = market.write("second.xml", plan)?;
    market.settle().await?;
    let (versions, exported) = (market.versions().await?, market.exported().await?);
    let (start, (cpu, _)) = (Instant::now(), usage());
    let number = market.upload(feed, &file).await?;
    let load = market.done(feed, number).await?;
    let seconds = start.elapsed().as_secs_f64();
    market.send_off().await?;
    let cpu_us = (usage().0 - cpu) * 1e6 / args.offers as f64;
    let changed = args.offers / CHANGED_EVERY;
    let counts = load.counts.as_option().cloned().unwrap_or_default();
    let Counts { created, changed: counted, unchanged, removed, rejected, .. } = &counts;
    anyhow::ensure!(
        (*created, *counted, *unchanged, *removed, *rejected) == (0, changed, args.offers - changed, 0, 0),
        "{changed} offers were changed, but the load says otherwise: {counts:?}"
    );
    let messages = market.exported().await? - exported;
    anyhow::ensure!(
        messages == changed.cast_signed(),
        "{changed} offers were changed, and {messages} changes were exported"
    );
    only_changed_are_newer(plan, &versions, &market.versions().await?)?;
    report.reload_offers_per_s = Figure::of(args.offers as f64 / seconds);
    report.reload_speedup = report.reload_offers_per_s.over(report.e2e_offers_per_s);
    report.reload_changed = changed;
    report.reload_messages = messages.cast_unsigned();
    args.run.say(&format!(
        "  load again       {:>9.0} offers/s, of which {changed} are different: ratio {:.2} (goal 5); {cpu_us:.0} us of processor each; {messages} new versions and messages",
        report.reload_offers_per_s.or_zero(),
        report.reload_speedup.or_zero()
    ));
    Ok(())
}

/// Checks that changed offers have the next version and all others keep theirs.
fn only_changed_are_newer(
    plan: &Plan,
    before: &BTreeMap<String, u64>,
    after: &BTreeMap<String, u64>,
) -> anyhow::Result<()> {
    anyhow::ensure!(before.len() == after.len(), "{} offers became {}", before.len(), after.len());
    for (id, version) in after {
        let number = id.strip_prefix("o-").and_then(|number| number.parse().ok());
        let is_changed = plan.is_changed(number.context("an offer has another id than its file")?);
        let had = before.get(id).with_context(|| format!("offer {id} is new"))?;
        anyhow::ensure!(
            *version == had + u64::from(is_changed),
            "offer {id} had version {had} and has {version}, although it was {} changed",
            if is_changed { "once" } else { "not" }
        );
    }
    Ok(())
}

/// The figures of `bench offers` that matter here.
#[derive(Deserialize)]
struct Writes {
    writes_per_s: f64,
    store_writes_per_s: f64,
}

/// `bench offers` with as many offers, in a separate process.
async fn beside_writes(args: &FeedsBench, report: &mut Report) -> anyhow::Result<()> {
    let store = match args.run.postgres() {
        Some(url) => url.to_owned(),
        None => format!("fjall:{}", args.folder().join("writes").display()),
    };
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    command.args(["offers", "--json", "--big-seller", "0", "--store", &store]);
    command.args(["--offers", &args.offers.min(OTHERS_MAX).to_string()]);
    command.args(["--seconds", &args.seconds.to_string()]);
    let output = command.stderr(Stdio::inherit()).kill_on_drop(true).output().await?;
    anyhow::ensure!(output.status.success(), "bench offers failed: {}", output.status);
    let writes: Writes = last_line(&output.stdout).context("bench offers gave no answer")?;
    report.offers_writes_per_s = Figure::of(writes.writes_per_s);
    report.offers_store_writes_per_s = Figure::of(writes.store_writes_per_s);
    report.e2e_over_offers = report.e2e_offers_per_s.over(report.offers_writes_per_s);
    report.e2e_over_store_writes = report.e2e_offers_per_s.over(report.offers_store_writes_per_s);
    args.run.say(&format!(
        "  bench offers     {:>9.0} writes/s through RPC, {:.0} without: the load's offers/s over them {:.2} (goal 0.6) and {:.2}",
        writes.writes_per_s,
        writes.store_writes_per_s,
        report.e2e_over_offers.or_zero(),
        report.e2e_over_store_writes.or_zero()
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions(all: &[(&str, u64)]) -> BTreeMap<String, u64> {
        all.iter().map(|(id, version)| ((*id).to_owned(), *version)).collect()
    }

    #[test]
    fn a_version_too_many_or_too_few_is_noticed() {
        let plan = Plan { changed_every: 2, ..Plan::new(Kind::OwnXml, 1, Size::Offers(2)) };
        let before = versions(&[("o-1", 1), ("o-2", 1)]);
        let judge = |after: &[(&str, u64)]| only_changed_are_newer(&plan, &before, &versions(after));
        assert!(judge(&[("o-1", 1), ("o-2", 2)]).is_ok());
        assert!(judge(&[("o-1", 2), ("o-2", 2)]).is_err(), "one that is the same has a new version");
        assert!(judge(&[("o-1", 1), ("o-2", 1)]).is_err(), "one that is different has none");
        assert!(judge(&[("o-1", 1)]).is_err() && judge(&[("o-1", 1), ("o-4", 2)]).is_err());
    }
}
