//! The task service on its own store.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clock::Clock;
use ctl::{Change, Ctl};
use planner::Planner;
use store::Store;
use tasks::{Executor, Setup, Tasks};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use topics::{TopicSpec, Topics};
use triggers::Value;
use watcher::limits::CLOCKS_APART_MAX;

use super::graph::parameter_name;
use crate::home::Home;

/// A measurement fails after this time without progress.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);
/// The topic of task changes, as in a serving process.
const TOPIC: &str = "tasks";
/// Values in one call while they are created.
const MADE_AT_ONCE: u64 = 1000;

pub(super) struct Base {
    pub(super) home: Home,
    pub(super) store: Store,
    pub(super) ctl: Ctl,
    pub(super) tasks: Tasks,
    stop: watch::Sender<bool>,
    running: JoinHandle<tasks::Result<()>>,
}

impl Base {
    /// Applies a task file to an empty store.
    pub(super) async fn start(home: Home, executor: Arc<dyn Executor>, file: String) -> anyhow::Result<Self> {
        home.clear().await?;
        let tables = watcher::tables().into_iter().chain(ctl::tables()).chain(tasks::tables());
        let store = home.open(tables.chain(topics::tables())).await?;
        let topics = Topics::in_store(&store);
        topics.create(&TopicSpec::new(TOPIC, 4)).await?;
        let ctl = Ctl::new(store.clone(), Clock::system(), ctl::Settings::default());
        let setup = Setup {
            store: &store,
            ctl: ctl.clone(),
            topic: Some((&topics, TOPIC)),
            clock: Clock::system(),
            executor,
            place: "bench".to_owned(),
            variables: Arc::new(|_| None),
            webhook: None,
            lease_time: Duration::from_secs(10),
            seed: 1,
        };
        let tasks = Tasks::open(setup).await?;
        let signed = tasks.signed("bench", "a measurement")?;
        tasks.apply(vec![("bench.yaml".to_owned(), file)], Some(&signed)).await?;
        let (stop, stopped) = watch::channel(false);
        let runs = tasks.clone();
        let running = tokio::spawn(async move { runs.run("bench".to_owned(), stopped).await });
        Ok(Self { home, store, ctl, tasks, stop, running })
    }

    /// Gives every value a first number.
    pub(super) async fn make_values(&self, parameters: u64) -> anyhow::Result<()> {
        for first in (0..parameters).step_by(MADE_AT_ONCE as usize) {
            let numbers = first..parameters.min(first + MADE_AT_ONCE);
            let changes = numbers.map(|number| change(number, 1)).collect();
            self.ctl.set(changes, "bench", "").await?;
        }
        Ok(())
    }

    /// Waits until all consequences of earlier changes are decided and committed, and every run has
    /// ended.
    pub(super) async fn settle(&self) -> anyhow::Result<()> {
        let began = tokio::time::Instant::now();
        loop {
            // A change stays marked until the planner has it.
            let marked = !self.ctl.changed(1).await?.is_empty();
            let count = self.tasks.with_planner(Planner::count).await?;
            if self.tasks.is_leader() && !marked && count.queued + count.running == 0 {
                return Ok(());
            }
            anyhow::ensure!(began.elapsed() < PATIENCE * 5, "it does not come to rest: {count:?}");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Waits until every change of a task has reached the topic, so that the store is idle.
    pub(super) async fn exported(&self) -> anyhow::Result<()> {
        let (watcher, began) = (self.tasks.watcher(), tokio::time::Instant::now());
        loop {
            let now = watcher.clock().now();
            if watcher.exported_to().await? + CLOCKS_APART_MAX >= now {
                return Ok(());
            }
            anyhow::ensure!(began.elapsed() < PATIENCE, "changes of tasks do not reach the topic");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    pub(super) async fn stop(self) -> anyhow::Result<()> {
        self.stop.send_replace(true);
        self.running.await.context("the tasks broke off")??;
        self.store.close().await?;
        self.home.clear().await
    }
}

pub(super) fn change(parameter: u64, number: i64) -> Change {
    let named = triggers::Parameter {
        entity: "bench".to_owned(),
        name: parameter_name(parameter).trim_start_matches("bench.").to_owned(),
    };
    Change::set(named, Value::Number(number))
}
