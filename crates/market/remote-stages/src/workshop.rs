//! The workshop: the stages of this process, built-in and outside ones, and the watcher that has them visit offers. It follows what is registered: a stage that
//! comes, goes or changes is called anew within seconds, in every process of the store.

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
use crate::outside::Outside;
use crate::plugin::{Described, Plugin};
use crate::registry::{Known, Registry};

/// How often it is looked whether other stages are registered.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often stages are asked what they are.
const ASK_EVERY: Duration = Duration::from_secs(30);

/// A built-in stage with its limits.
pub type BuiltIn = (Arc<dyn Stage<StoredOffer>>, Option<StageLimits>);

/// An outside stage of this process.
#[derive(Clone)]
pub struct Workbench {
    /// What is known of it.
    pub known: Known,
    /// What is called.
    pub plugin: Plugin,
}

/// The stages of this process. Cheap to clone.
#[derive(Clone)]
pub struct Workshop {
    inner: Arc<Inner>,
}

struct Inner {
    offers: Offers,
    registry: Registry,
    built_in: Vec<BuiltIn>,
    outside: ArcSwap<BTreeMap<String, Workbench>>,
    /// Somebody in this process has changed what is registered.
    changed_here: Notify,
    counts: Counts,
}

impl Workshop {
    /// Sets up the stages. Those that have never described themselves are asked first; one that does not answer is called all the same, later.
    pub async fn open(offers: &Offers, registry: Registry, built_in: Vec<BuiltIn>) -> store::Result<Self> {
        let (offers, outside) = (offers.clone(), ArcSwap::default());
        let workshop = Self {
            inner: Arc::new(Inner {
                offers,
                registry,
                built_in,
                outside,
                changed_here: Notify::new(),
                counts: Counts::default(),
            }),
        };
        let known = workshop.inner.registry.load().await?;
        workshop.set_up(known);
        workshop.ask_all().await;
        workshop.look().await?;
        Ok(workshop)
    }

    /// The offers whose stages these are.
    #[must_use]
    pub fn offers(&self) -> &Offers {
        &self.inner.offers
    }

    /// What is registered.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.inner.registry
    }

    /// Has this process look at what is registered at once, because it has just changed; others look within seconds.
    pub fn look_soon(&self) {
        self.inner.changed_here.notify_one();
    }

    /// The outside stages, by their ids.
    #[must_use]
    pub fn outside(&self) -> Arc<BTreeMap<String, Workbench>> {
        self.inner.outside.load_full()
    }

    /// What waits for a stage, counted now, up to so many visits of each lane.
    pub async fn report_up_to(&self, stage: &str, counted_max: u64) -> watcher::Result<StageReport> {
        self.report_within(stage, counted_max, Duration::ZERO).await
    }

    /// The same, counted by somebody less than that ago.
    pub async fn report_within(
        &self,
        stage: &str,
        counted_max: u64,
        age_max: Duration,
    ) -> watcher::Result<StageReport> {
        let counted = self.counted_within(stage, counted_max, age_max).await?;
        self.inner.offers.watcher().report_with(stage, counted).await
    }

    /// The same of several stages, in their order.
    pub async fn reports_within(
        &self,
        stages: &[String],
        counted_max: u64,
        age_max: Duration,
    ) -> watcher::Result<Vec<StageReport>> {
        let (watcher, mut reports) = (self.inner.offers.watcher(), Vec::with_capacity(stages.len()));
        let faring = watcher.stages_snapshot().await?;
        for stage in stages {
            let counted = self.counted_within(stage, counted_max, age_max).await?;
            reports.push(watcher.report_of(stage, counted, &faring)?);
        }
        Ok(reports)
    }

    /// Has what waits for a stage counted anew when somebody looks next.
    pub fn forget_count(&self, stage: &str) {
        self.inner.counts.keep(|known| known != stage);
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
        let outside = self.outside();
        self.inner.counts.keep(|known| outside.contains_key(known) || self.built_in().any(|id| id == known));
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
        let outside =
            || Some(Arc::new(self.outside().get(id)?.plugin.clone()) as Arc<dyn Stage<StoredOffer>>);
        built_in.map(|(stage, _)| Arc::clone(stage)).or_else(outside)
    }

    /// A stage that is called as this declaration says, whether it is registered or not.
    #[must_use]
    pub fn plugin(&self, outside: &Outside, described: Option<&Described>) -> Plugin {
        let Inner { offers, .. } = &*self.inner;
        Plugin::new(outside, described, offers.catalogue(), offers.config().exposure)
    }

    /// Has the stages visit offers, and follows what is registered, until `stop` turns true. `instance` as for [`Watcher::run`](watcher::Watcher::run).
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

    /// Follows what is registered, in a process that visits nothing, until `stop` turns true: what is saved here concerns the new stages too.
    pub async fn follow(&self, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => {}
                () = self.changed() => {}
            }
        }
    }

    /// Waits until other stages are registered, and sets them up.
    async fn changed(&self) {
        let mut asked = Instant::now();
        loop {
            tokio::select! {
                () = sleep(LOOK_EVERY) => {}
                () = self.inner.changed_here.notified() => {}
            }
            if asked.elapsed() >= ASK_EVERY {
                self.ask_all().await;
                asked = Instant::now();
            }
            match self.look().await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot read which stages are registered, will try again");
                }
            }
        }
    }

    /// Looks at what is registered; says whether it was something new.
    async fn look(&self) -> store::Result<bool> {
        let known = self.inner.registry.load().await?;
        let before = self.outside();
        let is_same = known.len() == before.len()
            && known
                .iter()
                .zip(&*before)
                .all(|((id, known), (before_id, before))| id == before_id && known.is_same(&before.known));
        if !is_same {
            self.set_up(known);
        }
        Ok(!is_same)
    }

    /// Makes these the stages of this process.
    fn set_up(&self, known: BTreeMap<String, Known>) {
        let Inner { offers, built_in, outside, .. } = &*self.inner;
        let before = self.outside();
        let bench = |(id, known): (String, Known)| {
            // One that stays as it is keeps its connections and what is known of its addresses.
            let same = before.get(&id).filter(|before| known.is_same(&before.known)).cloned();
            let bench = same.unwrap_or_else(|| {
                let plugin = self.plugin(&known.outside, known.described.as_ref());
                Workbench { known, plugin }
            });
            (id, bench)
        };
        let is_free = |(id, _): &(String, Known)| {
            let taken = self.built_in().any(|built_in| built_in == id);
            if taken {
                tracing::warn!(stage = id, "an outside stage has the id of a built-in one and is left out");
            }
            !taken
        };
        let benches: BTreeMap<String, Workbench> = known.into_iter().filter(is_free).map(bench).collect();
        let mut stages: Vec<Arc<dyn Stage<StoredOffer>>> =
            built_in.iter().map(|(stage, _)| Arc::clone(stage)).collect();
        stages.extend(
            benches.values().map(|bench| Arc::new(bench.plugin.clone()) as Arc<dyn Stage<StoredOffer>>),
        );
        let mut limits: BTreeMap<String, StageLimits> =
            built_in.iter().filter_map(|(stage, limits)| Some((stage.id().to_owned(), (*limits)?))).collect();
        limits.extend(benches.iter().map(|(id, bench)| (id.clone(), bench.known.outside.limits)));
        if let Err(error) = offers.watcher().set_stages(stages, &limits) {
            tracing::error!(%error, "these stages cannot be set up; those that there were stay");
            return;
        }
        outside.store(Arc::new(benches));
    }

    /// Asks all outside stages what they are, and remembers it.
    async fn ask_all(&self) {
        let outside = self.outside();
        let asked = outside.iter().map(async |(id, Workbench { known, plugin })| {
            match plugin.describe(&known.outside).await {
                Ok(described) if known.described.as_ref() != Some(&described) => {
                    let now = self.inner.offers.watcher().clock().now();
                    if let Err(error) = self.inner.registry.remember(id, &described, now).await {
                        tracing::warn!(stage = id, %error, "cannot keep what a stage says of itself");
                    }
                }
                Ok(_) => {}
                Err(error) => tracing::warn!(stage = id, error, "an outside stage does not say what it is"),
            }
        });
        join_all(asked).await;
    }
}
