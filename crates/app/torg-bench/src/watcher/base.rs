//! A store with ads, and running watchers on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use store::{Batch, Read, Scan, Store, TableDef};
use watcher::{Config, Setup, Stage, Watcher};

use super::ad::Ad;
use crate::at_work::AtWork;
use crate::home::Home;
use crate::measure::Measure;
use crate::observe::BenchClock;

/// Concurrent batches while ads are saved.
const SAVERS: u64 = 64;
/// Ads in one batch while ads are saved.
pub(super) const SAVE_STEP: u64 = 8;
/// A measurement fails after this time without progress.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Base {
    pub(super) home: Home,
    pub(super) store: Store,
    pub(super) clock: BenchClock,
    config: Config,
}

impl Base {
    /// An empty store.
    pub(super) async fn empty(home: Home, config: Config) -> anyhow::Result<Self> {
        home.clear().await?;
        Self::existing(home, config).await
    }

    /// A store that an earlier process has filled.
    pub(super) async fn existing(home: Home, config: Config) -> anyhow::Result<Self> {
        let store = home.open(watcher::tables()).await?;
        Ok(Self { home, store, clock: BenchClock::new(), config })
    }

    pub(super) async fn watcher(&self, stages: Vec<Arc<dyn Stage<Ad>>>) -> anyhow::Result<Watcher<Ad>> {
        Ok(Watcher::open(
            &self.store,
            Setup {
                clock: self.clock.for_watcher(),
                config: self.config.clone(),
                stages,
                seed: 1,
                ..Setup::default()
            },
        )
        .await?)
    }

    /// Saves the ads of these numbers; the stages of this watcher are queued for each.
    pub(super) async fn save(
        &self,
        watcher: &Watcher<Ad>,
        numbers: std::ops::Range<u64>,
        body_bytes: usize,
    ) -> anyhow::Result<Measure> {
        let next = Arc::new(AtomicU64::new(numbers.start));
        let start = Instant::now();
        let savers = (0..SAVERS).map(|_| {
            let (store, watcher, next) = (self.store.clone(), watcher.clone(), Arc::clone(&next));
            tokio::spawn(async move {
                loop {
                    let first = next.fetch_add(SAVE_STEP, Ordering::Relaxed);
                    if first >= numbers.end {
                        return anyhow::Ok(());
                    }
                    let mut batch = Batch::new();
                    for number in first..numbers.end.min(first + SAVE_STEP) {
                        watcher.save(&mut batch, None, &Ad::new(number, body_bytes)).await?;
                    }
                    anyhow::ensure!(store.commit(batch).await?.is_applied(), "a new ad was in conflict");
                }
            })
        });
        for saver in futures::future::join_all(savers).await {
            saver??;
        }
        Ok(Measure::of(numbers.end - numbers.start, start.elapsed()))
    }

    /// Runs a watcher without stages until all saved changes are exported, so that a measurement
    /// does not begin with a backlog.
    pub(super) async fn send_off(&self) -> anyhow::Result<Duration> {
        let start = Instant::now();
        let at_work = AtWork::start(&self.watcher(Vec::new()).await?);
        let outbox = table("watcher_outbox")?;
        while !self.store.scan(&outbox.scan().limit(1)).await?.rows.is_empty() {
            anyhow::ensure!(start.elapsed() < 10 * PATIENCE, "the saved changes are not sent off");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        at_work.stop().await?;
        Ok(start.elapsed())
    }

    /// The value of the first row of one of the watcher's tables.
    pub(super) async fn sample(&self, name: &str) -> anyhow::Result<bytes::Bytes> {
        let page = self.store.scan(&Scan::all(table(name)?).limit(1)).await?;
        Ok(page.rows.into_iter().next().with_context(|| format!("{name} has no row"))?.value)
    }

    pub(super) async fn settle(&self) -> anyhow::Result<()> {
        self.home.settle(&self.store).await
    }

    /// Closes the store and removes it.
    pub(super) async fn end(self) -> anyhow::Result<()> {
        self.store.close().await?;
        drop(self.store);
        self.home.clear().await
    }
}

fn table(name: &str) -> anyhow::Result<&'static TableDef> {
    watcher::tables()
        .into_iter()
        .find(|def| def.name == name)
        .with_context(|| format!("there is no table {name}"))
}
