//! The stages of this process, built-in and remote. It polls the store: a stage that is registered,
//! removed or changed takes effect within seconds in every process.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use futures::future::join_all;
use offers::{Offers, StoredOffer};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};
use watcher::{QueueCounts, Stage, StageLimits, StageReport};

use crate::counts::Counts;
use crate::plugin::{Description, Plugin};
use crate::spec::StageSpec;
use crate::stage_store::{StageEntry, StageStore};

/// The interval at which registered stages are read.
const REFRESH_EVERY: Duration = Duration::from_secs(1);
/// The interval of `Describe` calls.
const DESCRIBE_EVERY: Duration = Duration::from_secs(30);

pub type BuiltIn = (Arc<dyn Stage<StoredOffer>>, Option<StageLimits>);

#[derive(Clone)]
pub struct RemoteStage {
    pub entry: StageEntry,
    pub plugin: Plugin,
}

impl RemoteStage {
    fn as_stage(&self) -> Arc<dyn Stage<StoredOffer>> {
        Arc::new(self.plugin.clone())
    }
}

/// Cheap to clone.
#[derive(Clone)]
pub struct StageRegistry {
    inner: Arc<Inner>,
}

struct Inner {
    offers: Offers,
    store: StageStore,
    built_in: Vec<BuiltIn>,
    remote: ArcSwap<BTreeMap<String, RemoteStage>>,
    /// Signalled when this process changes the registered stages.
    refresh_requested: Notify,
    counts: Counts,
}

impl StageRegistry {
    /// Loads the stages. Those that never described themselves are asked first; one that does not
    /// answer is called later all the same.
    pub async fn open(offers: &Offers, store: StageStore, built_in: Vec<BuiltIn>) -> store::Result<Self> {
        let registry = Self {
            inner: Arc::new(Inner {
                offers: offers.clone(),
                store,
                built_in,
                remote: ArcSwap::default(),
                refresh_requested: Notify::new(),
                counts: Counts::default(),
            }),
        };
        registry.install(registry.inner.store.load().await?);
        registry.describe_all().await;
        registry.refresh().await?;
        Ok(registry)
    }

    #[must_use]
    pub fn offers(&self) -> &Offers {
        &self.inner.offers
    }

    #[must_use]
    pub fn store(&self) -> &StageStore {
        &self.inner.store
    }

    /// Has this process read the registered stages at once, after a change; others read them within
    /// seconds.
    pub fn refresh_soon(&self) {
        self.inner.refresh_requested.notify_one();
    }

    /// The remote stages by their ids.
    #[must_use]
    pub fn remote(&self) -> Arc<BTreeMap<String, RemoteStage>> {
        self.inner.remote.load_full()
    }

    /// The report of a stage with its queue counted now, up to `counted_max` visits in each lane.
    pub async fn report_up_to(&self, stage: &str, counted_max: u64) -> watcher::Result<StageReport> {
        self.report_within(stage, counted_max, Duration::ZERO).await
    }

    /// Like [`Self::report_up_to`], with a count that may be as old as `age_max`.
    pub async fn report_within(
        &self,
        stage: &str,
        counted_max: u64,
        age_max: Duration,
    ) -> watcher::Result<StageReport> {
        let counted = self.counted_within(stage, counted_max, age_max).await?;
        self.inner.offers.watcher().report_with(stage, counted).await
    }

    /// Like [`Self::report_within`] for several stages, in their order.
    pub async fn reports_within(
        &self,
        stages: &[String],
        counted_max: u64,
        age_max: Duration,
    ) -> watcher::Result<Vec<StageReport>> {
        let watcher = self.inner.offers.watcher();
        let mut reports = Vec::with_capacity(stages.len());
        let stages_snapshot = watcher.stages_snapshot().await?;
        for stage in stages {
            let counted = self.counted_within(stage, counted_max, age_max).await?;
            reports.push(watcher.report_of(stage, counted, &stages_snapshot)?);
        }
        Ok(reports)
    }

    /// Drops the cached count of a stage.
    pub fn invalidate_count(&self, stage: &str) {
        self.inner.counts.retain(|known| known != stage);
    }

    async fn counted_within(
        &self,
        stage: &str,
        counted_max: u64,
        age_max: Duration,
    ) -> watcher::Result<QueueCounts> {
        if let Some(counted) = self.inner.counts.within(stage, age_max) {
            return Ok(counted);
        }
        let counted = self.inner.offers.watcher().count_up_to(stage, counted_max).await?;
        self.inner.counts.note(stage, counted.clone());
        let remote = self.remote();
        self.inner.counts.retain(|known| remote.contains_key(known) || self.built_in().any(|id| id == known));
        Ok(counted)
    }

    /// The ids of the built-in stages.
    pub fn built_in(&self) -> impl Iterator<Item = &str> {
        self.inner.built_in.iter().map(|(stage, _)| stage.id())
    }

    /// A stage by its id.
    #[must_use]
    pub fn stage(&self, id: &str) -> Option<Arc<dyn Stage<StoredOffer>>> {
        let built_in = self.inner.built_in.iter().find(|(stage, _)| stage.id() == id);
        built_in.map(|(stage, _)| Arc::clone(stage)).or_else(|| Some(self.remote().get(id)?.as_stage()))
    }

    /// A client of a stage, registered or not.
    #[must_use]
    pub fn plugin(&self, spec: &StageSpec, described: Option<&Description>) -> Plugin {
        let Inner { offers, .. } = &*self.inner;
        Plugin::new(spec, described, offers.catalogue(), offers.config().exposure)
    }

    /// Runs the watcher, and restarts it when the registered stages change, until `stop` turns
    /// true. `instance` as for [`Watcher::run`](watcher::Watcher::run).
    pub async fn run(&self, instance: &str, mut stop: watch::Receiver<bool>) -> watcher::Result<()> {
        for turn in 0_u64.. {
            let (end, ended) = watch::channel(false);
            let watcher = self.inner.offers.watcher();
            let mut run = Box::pin(watcher.run(format!("{instance}.{turn}"), ended));
            let changes = Box::pin(self.changed());
            tokio::select! {
                biased;
                ended = &mut run => return ended,
                _ = stop.wait_for(|stop| *stop) => {}
                () = changes => {}
            }
            end.send_replace(true);
            run.await?;
            if *stop.borrow() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Follows the registered stages without running visits, until `stop` turns true: saves in this
    /// process must know new stages too.
    pub async fn follow(&self, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => {}
                () = self.changed() => {}
            }
        }
    }

    /// Waits until the registered stages change, and loads them.
    async fn changed(&self) {
        let mut asked = Instant::now();
        loop {
            tokio::select! {
                () = sleep(REFRESH_EVERY) => {}
                () = self.inner.refresh_requested.notified() => {}
            }
            if asked.elapsed() >= DESCRIBE_EVERY {
                self.describe_all().await;
                asked = Instant::now();
            }
            match self.refresh().await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot read the registered stages, retrying");
                }
            }
        }
    }

    /// Reads the registered stages; returns whether they changed.
    async fn refresh(&self) -> store::Result<bool> {
        let known = self.inner.store.load().await?;
        let before = self.remote();
        let is_same = known.len() == before.len()
            && known
                .iter()
                .zip(&*before)
                .all(|((id, entry), (before_id, before))| id == before_id && entry.is_same(&before.entry));
        if !is_same {
            self.install(known);
        }
        Ok(!is_same)
    }

    fn install(&self, entries: BTreeMap<String, StageEntry>) {
        let Inner { offers, built_in, remote, .. } = &*self.inner;
        let before = self.remote();
        let open = |(id, entry): (String, StageEntry)| {
            // An unchanged stage keeps its connections and health.
            let same = before.get(&id).filter(|before| entry.is_same(&before.entry)).cloned();
            let stage = same.unwrap_or_else(|| {
                let plugin = self.plugin(&entry.spec, entry.described.as_ref());
                RemoteStage { entry, plugin }
            });
            (id, stage)
        };
        let is_free = |(id, _): &(String, StageEntry)| {
            let taken = self.built_in().any(|built_in| built_in == id);
            if taken {
                tracing::warn!(stage = id, "a remote stage with the id of a built-in one is ignored");
            }
            !taken
        };
        let opened: BTreeMap<String, RemoteStage> = entries.into_iter().filter(is_free).map(open).collect();
        let mut stages: Vec<Arc<dyn Stage<StoredOffer>>> =
            built_in.iter().map(|(stage, _)| Arc::clone(stage)).collect();
        stages.extend(opened.values().map(RemoteStage::as_stage));
        let mut limits: BTreeMap<String, StageLimits> =
            built_in.iter().filter_map(|(stage, limits)| Some((stage.id().to_owned(), (*limits)?))).collect();
        limits.extend(opened.iter().map(|(id, stage)| (id.clone(), stage.entry.spec.limits)));
        match offers.watcher().set_stages(stages, &limits) {
            Ok(()) => remote.store(Arc::new(opened)),
            Err(error) => {
                tracing::error!(%error, "cannot load the registered stages; the previous ones stay");
            }
        }
    }

    /// Calls `Describe` on all remote stages and stores changed descriptions.
    async fn describe_all(&self) {
        let remote = self.remote();
        let asked = remote.iter().map(async |(id, RemoteStage { entry, plugin })| {
            match plugin.describe(&entry.spec).await {
                Ok(described) if entry.described.as_ref() != Some(&described) => {
                    let now = self.inner.offers.watcher().clock().now();
                    if let Err(error) = self.inner.store.remember(id, &described, now).await {
                        tracing::warn!(stage = id, %error, "cannot store the description of a stage");
                    }
                }
                Ok(_) => {}
                Err(error) => tracing::warn!(stage = id, error, "a remote stage cannot be described"),
            }
        });
        join_all(asked).await;
    }
}
