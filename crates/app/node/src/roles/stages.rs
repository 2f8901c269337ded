//! The role `stages`: runs offers through their stages, applies moderation verdicts, and does
//! maintenance.
//!
//! Every process opens the marketplace; only this role does its work.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use api::Market;
use clock::Clock;
use ctl::Ctl;
use feeds::Feeds;
use offers::{Dependencies, Offers, OpinionTopics, StoredOffer};
use photos::Photos;
use rand::rand_core::TryRng as _;
use rand::rngs::SysRng;
use remote_stages::{StageRegistry, StageStore};
use stages::Prices;
use stages::limits::EVENTS_TOPIC;
use store::Store;
use tokio::sync::watch;
use topics::Topics;
use watcher::{Setup, Watcher};

use super::feeds::FeedRole;
use crate::built_in::BuiltInStages;
use crate::catalogue::load_catalogue;
use crate::config::{self, Config, Role};
use crate::environment::{Environment, Production};
use crate::node::Node;
use crate::parts;
use crate::stages_file;
use crate::supervisor::Running;

const DAY: Duration = Duration::from_secs(24 * 3600);
const HOUR: Duration = Duration::from_secs(3600);

/// The ad store and the parts of its background work.
pub struct Marketplace {
    pub market: Market,
    /// Set if photos are stored.
    pub photos: Option<Photos>,
    pub feeds_role: FeedRole,
    prices: Option<Prices>,
    partitions: u32,
}

/// The background work that a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Stages of offers, verdicts, loads and maintenance.
    pub offers: bool,
    pub feeds: bool,
}

impl Work {
    pub fn of(roles: &[Role]) -> Work {
        Work { offers: roles.contains(&Role::Stages), feeds: roles.contains(&Role::Feeds) }
    }
}

impl Marketplace {
    /// Opens the marketplace; creates missing topics.
    pub async fn open(
        config: &Config,
        store: &Store,
        topics: &Topics,
        ctl: &Ctl,
        closing: watch::Receiver<bool>,
    ) -> anyhow::Result<Marketplace> {
        Marketplace::open_in(&Production, config, store, topics, ctl, closing).await
    }

    /// [`Self::open`] in another environment.
    pub async fn open_in(
        environment: &dyn Environment,
        config: &Config,
        store: &Store,
        topics: &Topics,
        ctl: &Ctl,
        closing: watch::Receiver<bool>,
    ) -> anyhow::Result<Marketplace> {
        let catalogue = Arc::new(load_catalogue(&config.offers.catalogue_dir)?);
        let opinions = OpinionTopics {
            topic: config.moderation.topic.clone(),
            dead_letters: config.moderation.dead_letter_topic.clone(),
        };
        parts::ensure_topic(config, topics, &config.offers.topic, config.offers.topic_partitions).await?;
        for topic in [&opinions.topic, &opinions.dead_letters] {
            parts::ensure_topic(config, topics, topic, config.moderation.topic_partitions).await?;
        }
        parts::ensure_topic(config, topics, EVENTS_TOPIC, config.offers.topic_partitions).await?;
        let partitions = topics.partition_count(&opinions.topic).await.map_err(parts::topics_error)?;
        let watcher = open_watcher(config, store, topics, &environment.clock()).await?;
        let BuiltInStages { stages, photos, prices } =
            BuiltInStages::open(environment, config, store, topics, &catalogue).await?;
        let parts = Dependencies {
            store: store.clone(),
            topics: topics.clone(),
            watcher,
            catalogue,
            config: offers_config(&config.offers),
        };
        let mut seed = [0; 32];
        SysRng.try_fill_bytes(&mut seed).context("this machine gives no random numbers")?;
        let (offers, topic) = (Offers::new(parts, seed), config.offers.topic.clone());
        let taken: Vec<&str> = stages.iter().map(|(stage, _)| stage.id()).collect();
        let registry = StageStore::new(offers.store(), stages_file::read(&config.stages.file, &taken)?);
        let registry = StageRegistry::open(&offers, registry, stages).await.map_err(parts::store_error)?;
        let feeds_role = FeedRole::open(environment, config, store, topics, &offers, ctl).await?;
        let market = Market { offers, topic, opinions, registry, closing };
        Ok(Marketplace { market, photos, feeds_role, prices, partitions })
    }

    /// Starts the background work: stages, the export of changes, verdicts, maintenance, feeds. A
    /// task that ends before it is stopped counts as failed.
    pub fn run(self, work: Work) -> Running {
        self.run_as(parts::instance_name(), work)
    }

    /// [`Self::run`] under a given name; `instance` identifies this process to others on the store.
    pub fn run_as(self, instance: String, work: Work) -> Running {
        let mut running = Running::new();
        if work.feeds {
            self.feeds_role.run_feeds(&mut running, instance.clone());
        }
        if work.offers {
            self.feeds_role.run_autoload(&mut running);
            run_stages(self.market, self.prices, self.partitions, &mut running, instance);
        }
        running
    }
}

impl Node {
    pub(crate) async fn open_marketplace(
        &mut self,
        environment: &dyn Environment,
        store: &Store,
        topics: &Topics,
        ctl: &Ctl,
    ) -> anyhow::Result<(api::Market, Feeds)> {
        let closing = self.closing.subscribe();
        let marketplace =
            Marketplace::open_in(environment, &self.config, store, topics, ctl, closing).await?;
        let (market, feeds) = (marketplace.market.clone(), marketplace.feeds_role.feeds.clone());
        if let Some(photos) = &marketplace.photos {
            // `open` runs once, so the slot is empty.
            let _ = self.slots.photos.set(photos.clone());
        }
        let work = Work::of(&self.config.roles);
        if work.offers || work.feeds {
            let running = marketplace.run_as(self.observatory.process().to_owned(), work);
            self.fails_with(running.failure());
            self.on_close("marketplace", async move || running.close().await);
        }
        if !work.offers {
            let (registry, closing) = (market.registry.clone(), self.closing.subscribe());
            tokio::spawn(async move { registry.follow(closing).await });
        }
        Ok((market, feeds))
    }
}

/// Starts the work of the role. `partitions` is that of the topic of verdicts.
fn run_stages(
    market: Market,
    prices: Option<Prices>,
    partitions: u32,
    running: &mut Running,
    instance: String,
) {
    let Market { offers, opinions, registry, .. } = market;
    if let Some(prices) = prices {
        let shards = offers.watcher().shards();
        for partition in 0..prices.partitions() {
            let (prices, stopped) = (prices.clone(), running.stopped());
            running.start("what offers cost is not followed any more", async move {
                prices.follow(partition, shards, stopped).await;
                Ok(())
            });
        }
    }
    let (name, stopped) = (instance.clone(), running.stopped());
    running.start("offers do not evolve any more", async move { Ok(registry.run(&name, stopped).await?) });
    for partition in 0..partitions {
        let (offers, opinions, stopped) = (offers.clone(), opinions.clone(), running.stopped());
        running.start("opinions of moderation are not applied any more", async move {
            offers.consume_opinions(&opinions, partition, stopped).await;
            Ok(())
        });
    }
    let stopped = running.stopped();
    running.start("chores are not done any more", async move {
        offers.run_chores(&instance, stopped).await;
        Ok(())
    });
}

async fn open_watcher(
    config: &Config,
    store: &Store,
    topics: &Topics,
    clock: &Clock,
) -> anyhow::Result<Watcher<StoredOffer>> {
    let limits = watcher::Config { shards: config.offers.shards, ..watcher::Config::default() };
    let topic = Some((topics, &*config.offers.topic));
    // The registry adds the stages.
    let setup = Setup { topic, config: limits, clock: clock.clone(), ..Setup::default() };
    Watcher::open(store, setup).await.context("cannot open the offers")
}

fn offers_config(config: &config::Offers) -> offers::Config {
    offers::Config {
        exposure: DAY * config.exposure_days,
        archive_removed_after: DAY * config.archive_removed_days,
        archive_expired_after: DAY * config.archive_expired_days,
        archive_sold_after: DAY * config.archive_sold_days,
        archive_banned_after: DAY * config.archive_banned_days,
        history_retention: DAY * config.history_days,
        draft_retention: DAY * config.drafts_days,
        key_retention: HOUR * config.idempotency_hours,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terminal::errors::report;

    #[tokio::test]
    async fn a_watcher_that_cannot_run_is_a_failure_of_the_process() {
        let mut config = Config::default();
        config.store.url = "memory:".into();
        config.offers.shards = 4;
        let folder = tempfile::tempdir().unwrap();
        config.files.url = "memory:".into();
        config.feeds.spool_dir = folder.path().to_owned();
        let store = parts::open_store(&config).await.unwrap();
        let topics = parts::open_topics(&config, &store).await.unwrap();
        let closing = watch::Sender::new(false);
        let marketplace =
            Marketplace::open(&config, &store, &topics, &parts::open_ctl(&store), closing.subscribe())
                .await
                .unwrap();
        let running = marketplace.run_as("host".repeat(1000), Work { offers: true, feeds: false });
        let text = report(&running.failure().await);
        assert!(text.starts_with("error: offers do not evolve any more: process \"hosthost"), "{text}");
        assert!(running.close().await.is_err());
    }
}
