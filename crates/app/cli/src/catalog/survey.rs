//! `torg catalog survey`: shows how the existing offers fit the current catalogue.

use std::sync::Arc;

use catalog::MigrationReport;
use serde_json::{Value, json};
use stages::{Evolution, Lineage};

use super::super::owner::require_own;
use node::catalogue::{load_catalogue, read_lineage};
use node::config::Config;
use node::parts::{open_store_to_read, store_error};
use terminal::say;

pub(super) async fn run(config: &Config, as_json: bool) -> anyhow::Result<()> {
    let catalogue = Arc::new(load_catalogue(&config.offers.catalogue_dir)?);
    let lineage = read_lineage(&config.offers.catalogue_past_dir, catalogue)?;
    require_own(config.store.url.expose(), false)?;
    let store = open_store_to_read(config, config.store.url.expose()).await?;
    let report = Evolution::new(lineage.clone()).survey(&store, config.offers.shards).await;
    store.close().await.map_err(store_error)?;
    let report = report.map_err(store_error)?;
    say(as_json, &as_object(&lineage, &report), || as_lines(&lineage, &report))
}

fn as_lines(lineage: &Lineage, report: &MigrationReport) -> Vec<String> {
    let MigrationReport { moved, up_to_date: already, stuck, obstacles, examples } = report;
    let (from, to) = (lineage.first(), lineage.version());
    let way =
        if from == to { "from no earlier one".to_owned() } else { format!("from version {from} onwards") };
    let mut lines = vec![
        format!("to version {to} of the catalogue, {way}:"),
        format!("{already:>12} offers are of it already, or archived"),
        format!("{moved:>12} can be moved"),
        format!("{stuck:>12} cannot be moved"),
    ];
    lines.extend(obstacles.iter().map(|((field, code), count)| format!("{count:>12} x {field}: {code}")));
    for (offer, obstacles) in examples {
        let told = lineage.kept(obstacles).into_iter().map(|told| format!("{}: {}", told.field, told.text));
        lines.push(format!("  {offer}  {}", told.collect::<Vec<_>>().join("; ")));
    }
    let listed = examples.len() as u64;
    if *stuck > listed {
        lines.push(format!("  ... and {} more", stuck - listed));
    }
    if *moved > 0 {
        lines.push("a re-crawl moves them: torg stages recrawl start".to_owned());
    }
    lines
}

fn as_object(lineage: &Lineage, report: &MigrationReport) -> Value {
    let MigrationReport { moved, up_to_date: already, stuck, obstacles, examples } = report;
    let count = |((field, code), count): (&(String, &'static str), &u64)| json!({ "field": field, "code": code, "count": count });
    let example = |(offer, obstacles): &(String, Vec<catalog::Obstacle>)| {
        let told = lineage.kept(obstacles).into_iter();
        let told = told.map(|told| json!({ "field": told.field, "code": told.code, "text": told.text }));
        json!({ "offer": offer, "obstacles": told.collect::<Vec<_>>() })
    };
    json!({
        "from_version": lineage.first(),
        "version": lineage.version(),
        "already": already,
        "moved": moved,
        "stuck": stuck,
        "obstacles": obstacles.iter().map(count).collect::<Vec<_>>(),
        "examples": examples.iter().map(example).collect::<Vec<_>>(),
    })
}
