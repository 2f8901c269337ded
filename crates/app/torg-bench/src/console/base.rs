//! Loads the data of a run into the store, in this process.

use std::time::Instant;

use anyhow::Context as _;
use tokio::sync::watch;

use super::ConsoleBench;
use crate::offers::ads::Ads;
use crate::offers::load::publish;
use crate::resting;
use node::config::{BuiltInStage, Config, Url};
use node::parts;
use node::roles::stages::{Marketplace, Work};

/// Offers and sellers whose pages are requested.
pub(super) struct Sample {
    pub(super) offers: Vec<String>,
    pub(super) sellers: Vec<String>,
}

const SAMPLE: usize = 50;

/// Publishes all offers and waits until the topic has them.
pub(super) async fn fill(args: &ConsoleBench) -> anyhow::Result<Sample> {
    let config = config(args)?;
    std::fs::create_dir_all(&config.data_dir).context("cannot make the folder of the run")?;
    let store = parts::open_store(&config).await?;
    let topics = parts::open_topics(&config, &store).await?;
    let (ctl, closing) = (parts::open_ctl(&store), watch::Sender::new(false));
    let marketplace = Marketplace::open(&config, &store, &topics, &ctl, closing.subscribe()).await?;
    let offers = marketplace.market.offers.clone();
    let running = marketplace.run(Work { offers: true, feeds: false });
    let (ads, start) = (Ads::new(offers.catalogue(), args.offers)?, Instant::now());
    let maker = ads.clone();
    let ids = publish(&offers, args.offers, move |number| maker.of_many(number)).await?;
    args.say(&format!(
        "  load             {:>9.0} offers/s",
        args.offers as f64 / start.elapsed().as_secs_f64()
    ));
    resting::until_exported(&store).await?;
    resting::until_settled(&store).await;
    running.close().await?;
    topics.close().await?;
    store.close().await?;
    let every = (ids.len() / SAMPLE).max(1);
    Ok(Sample {
        sellers: (0..SAMPLE).map(|place| ads.of_many((place * every) as u64).seller).collect(),
        offers: ids.iter().step_by(every).take(SAMPLE).map(ToString::to_string).collect(),
    })
}

/// The configuration that the server gets later: the defaults, in the folder of the run.
fn config(args: &ConsoleBench) -> anyhow::Result<Config> {
    let folder = std::path::absolute(args.folder())?;
    let mut config = Config { data_dir: folder.clone(), ..Config::default() };
    config.feeds.spool_dir = folder.join("spool");
    config.tasks.runs_dir = folder.join("runs");
    config.files.url = Url::from(&*format!("file:{}", folder.join("files").display()));
    config.store.url = Url::from(&*format!("fjall:{}", folder.join("store").display()));
    config.stages.built_in = vec![BuiltInStage::Expiry, BuiltInStage::Evolution];
    Ok(config)
}
