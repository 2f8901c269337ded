//! The API of the crate.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use clock::Clock;
use ctl::Ctl;
use store::Store;
use tokio::sync::watch;
use topics::Topics;
use watcher::{Config, Stage, Watcher};

use crate::alerts::Webhook;
use crate::core::Core;
use crate::entity::TaskEntity;
use crate::error::Result;
use crate::executor::Executor;
use crate::leader;
use crate::spec::Variables;

/// All tasks of a store. Cheap to clone; all clones share their state.
#[derive(Clone)]
pub struct Tasks {
    pub(crate) core: Arc<Core>,
}

/// What [`Tasks::open`] needs.
pub struct Setup<'a> {
    /// A store that was opened with [`tables`](crate::tables), those of the watcher, and those of
    /// values.
    pub store: &'a Store,
    pub ctl: Ctl,
    /// The existing topic for every change of a task.
    pub topic: Option<(&'a Topics, &'a str)>,
    pub clock: Clock,
    pub executor: Arc<dyn Executor>,
    /// Where the runs of this process are: the same after a restart, and different for every folder
    /// of runs.
    pub place: String,
    /// The environment, for `${NAME}` in task files.
    pub variables: Variables,
    pub webhook: Option<Webhook>,
    /// How long a leader may be silent before another process takes over.
    pub lease_time: std::time::Duration,
    pub seed: u64,
}

impl Tasks {
    pub async fn open(setup: Setup<'_>) -> Result<Self> {
        let Setup { store, ctl, topic, clock, executor, place, variables, webhook, lease_time, seed } = setup;
        let stages = webhook.into_iter().map(|webhook| Arc::new(webhook) as Arc<dyn Stage<TaskEntity>>);
        let config = Config { shards: 1, lease_time, ..Config::default() };
        let of_tasks = watcher::Setup { topic, clock, config, stages: stages.collect(), seed };
        let watcher = Watcher::open(store, of_tasks).await?;
        let core = Core::new(store.clone(), ctl, watcher, executor, place, variables);
        Ok(Self { core: Arc::new(core) })
    }

    /// Decides whenever this process is the leader, and tracks the runs of this process, until
    /// `stop` turns true. Runs continue after that. `instance` must be unique among all processes
    /// that share the store, and never reused.
    pub async fn run(&self, instance: String, stop: watch::Receiver<bool>) -> Result<()> {
        let (decided, watched) = tokio::join!(
            leader::run(Arc::clone(&self.core), stop.clone()),
            self.core.watcher.run(instance, stop)
        );
        let () = decided;
        Ok(watched?)
    }

    #[must_use]
    pub fn ctl(&self) -> &Ctl {
        &self.core.ctl
    }

    /// The entities and their progress through the stages.
    #[must_use]
    pub fn watcher(&self) -> &Watcher<TaskEntity> {
        &self.core.watcher
    }

    #[must_use]
    pub fn place(&self) -> &str {
        &self.core.place
    }

    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.core.leader().is_some()
    }

    /// Metrics. Those about tasks come from the leader.
    #[must_use]
    pub fn gauges(&self) -> Vec<(&'static str, f64)> {
        let leader = self.core.leader();
        let mut gauges = vec![
            ("tasks_decisions", self.core.decisions.load(Ordering::Relaxed) as f64),
            ("tasks_alerts", self.core.alerts.load(Ordering::Relaxed) as f64),
            ("tasks_decides", f64::from(u8::from(leader.is_some()))),
        ];
        if let Some(leader) = &*leader {
            let count = leader.planner.count();
            let figures = [
                ("tasks_defined", count.defined),
                ("tasks_queued", count.queued),
                ("tasks_running", count.running),
                ("tasks_waiting", count.waiting),
                ("tasks_resting", count.resting),
                ("tasks_paused", count.paused),
                ("tasks_failing", count.failing),
                ("tasks_silent", count.silent),
                ("tasks_regressed", count.regressed),
            ];
            gauges.extend(figures.map(|(name, count)| (name, count as f64)));
        }
        gauges
    }
}
