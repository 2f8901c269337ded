//! A store with offers for one side of a measurement.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use catalog::Catalogue;
use offers::{Dependencies, Offers, StoredOffer};
use store::Store;
use topics::Topics;
use watcher::{Config, Setup, Stage, StageLimits, Watcher};

use super::options::StagesBench;
use crate::home::Home;
use crate::observe::BenchClock;
use crate::offers::ads::Ads;
use crate::offers::door::by_seller;

/// A measurement fails after this time without progress.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// Offers that are published at the same time.
const CREATORS: u64 = 128;
const SELLER: &str = "seller-";

/// Offers and their watcher.
pub(super) struct Base {
    home: Home,
    store: Store,
    pub(super) offers: Offers,
    pub(super) clock: BenchClock,
    ads: Ads,
    limits: StageLimits,
}

impl Base {
    /// An empty store.
    pub(super) async fn empty(args: &StagesBench, side: &str) -> anyhow::Result<Self> {
        let home = args.home(side)?;
        home.clear().await?;
        let tables = topics::tables().into_iter().chain(watcher::tables()).chain(offers::tables());
        let (store, clock) = (home.open(tables).await?, BenchClock::new());
        let catalogue = Arc::new(Catalogue::builtin()?);
        let ads = Ads::new(&catalogue, args.offers)?;
        let limits = args.limits();
        let config = Config { stages: limits, ..Config::default() };
        let setup = Setup { clock: clock.for_watcher(), config, seed: 1, ..Setup::default() };
        let watcher: Watcher<StoredOffer> = Watcher::open(&store, setup).await?;
        let parts = Dependencies {
            topics: Topics::in_store(&store),
            store: store.clone(),
            watcher,
            catalogue,
            config: offers::Config::default(),
        };
        Ok(Self { home, store, offers: Offers::new(parts, [1; 32]), clock, ads, limits })
    }

    /// Registers these stages: saved offers are queued for them, and the watcher calls them when it
    /// runs.
    pub(super) fn set_stages(&self, stages: Vec<Arc<dyn Stage<StoredOffer>>>) -> anyhow::Result<()> {
        let limits: BTreeMap<String, StageLimits> =
            stages.iter().map(|stage| (stage.id().to_owned(), self.limits)).collect();
        self.offers.watcher().set_stages(stages, &limits)?;
        Ok(())
    }

    /// Publishes the offers of these numbers; the stages are queued for each.
    pub(super) async fn publish(&self, numbers: Range<u64>) -> anyhow::Result<()> {
        let next = Arc::new(AtomicU64::new(numbers.start));
        let creators = (0..CREATORS).map(|_| {
            let (offers, ads, next) = (self.offers.clone(), self.ads.clone(), Arc::clone(&next));
            tokio::spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        return anyhow::Ok(());
                    }
                    publish_one(&offers, &ads, number).await?;
                }
            })
        });
        for creator in futures::future::join_all(creators).await {
            creator??;
        }
        self.home.settle(&self.store).await
    }

    /// A future, independent of `self`, that publishes one offer and resolves to the time of its
    /// end in microseconds of the clock.
    pub(super) fn publish_beside(
        &self,
        number: u64,
    ) -> impl Future<Output = anyhow::Result<u64>> + Send + 'static {
        let (offers, ads, clock) = (self.offers.clone(), self.ads.clone(), self.clock.clone());
        async move {
            publish_one(&offers, &ads, number).await?;
            Ok(clock.elapsed_us())
        }
    }

    /// Closes the store and removes it.
    pub(super) async fn end(self) -> anyhow::Result<()> {
        self.store.close().await?;
        drop((self.offers, self.store));
        self.home.clear().await
    }
}

/// Every offer has its own seller, whose name is its number.
async fn publish_one(offers: &Offers, ads: &Ads, number: u64) -> anyhow::Result<()> {
    let offer = ads.typical(number, format!("{SELLER}{number}"));
    offers.create(&by_seller(), &offer).await.context("cannot publish an offer")?;
    Ok(())
}

/// The number of an offer of a run.
pub(super) fn number_of(stored: &StoredOffer) -> u64 {
    let number = stored.offer.seller.strip_prefix(SELLER);
    number.and_then(|number| number.parse().ok()).unwrap_or(u64::MAX)
}
