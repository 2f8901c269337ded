//! The loop: scans the queues of this process's shards and has stages visit what is due, several
//! visits at a time.

mod calls;
mod completion;
mod retries;
mod scanning;
mod shards;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use store::Hints;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use calls::{Call, Calls};
use retries::Retries;
use scanning::Sweeps;
use shards::Shards;

use crate::change::SYSTEM;
use crate::config::StageLimits;
use crate::crawl::Crawler;
use crate::entity::Entity;
use crate::lease::{LeaseManager, Leases, maintain};
use crate::limits::{INSTANCE_BYTES_MAX, QUESTIONS_AT_ONCE_MAX, SLOW_PAUSE};
use crate::metrics::Metrics;
use crate::queue::QueueSlot;
use crate::relay::{InFlight, Relay, Serving};
use crate::schedule::{Blocked, Item, NextCall, Scheduler, StageState};
use crate::status::Inquiry;
use crate::visit::Due;
use crate::watcher::Watcher;
use crate::{Error, Result};
use clock::Time;

/// The pause after an error of the store.
const ERROR_PAUSE: Duration = Duration::from_millis(500);
/// How long after a change the status is published.
const PUBLISH_DELAY: Duration = Duration::from_millis(200);

impl<E: Entity> Watcher<E> {
    /// Serves this process's share of the shards until `stop` turns true; then ends the work under
    /// way and gives the shards away. `instance` must be unique among all processes that share the
    /// store, and never used again.
    ///
    /// The stages are those that were set when it started. Errors of the store do not end it: it
    /// tries again. An invalid name is an error at once.
    pub async fn run(&self, instance: String, stop: watch::Receiver<bool>) -> Result<()> {
        if instance.is_empty() || instance.len() > INSTANCE_BYTES_MAX || instance.contains('\0') {
            let what =
                format!("process {instance:?}: a name must have 1 to {INSTANCE_BYTES_MAX} bytes and no NUL");
            return Err(Error::Setup { what });
        }
        let pinned = Self { pinned: Some(self.rules()), ..self.clone() };
        pinned.serve(instance, stop).await;
        Ok(())
    }

    async fn serve(&self, instance: String, stop: watch::Receiver<bool>) {
        let serving = watch::Sender::new(Serving::new());
        let leases = watch::Sender::new(Leases::default());
        let (requests, requested) = mpsc::unbounded_channel();
        let in_flight = InFlight::default();
        let relay = Relay::new(self.clone(), serving.subscribe(), in_flight.clone());
        let crawler = Crawler::new(self.clone(), serving.subscribe());
        let manager = LeaseManager::new(self, instance.clone());
        let shards = Shards::new(leases.subscribe(), requests, serving, in_flight);
        let mut runner = Runner::new(self.clone(), instance, shards);
        let ended = watch::Sender::new(false);
        let leases_kept = maintain(self, manager, leases, requested, ended.subscribe());
        let (relay, crawler) = (Box::pin(relay.run(stop.clone())), Box::pin(crawler.run(stop.clone())));
        let others = async {
            if share_one_task() {
                tokio::join!(relay, crawler);
                return;
            }
            // Tasks of their own: a long read of one must not delay the others.
            let mut tasks = JoinSet::new();
            tasks.spawn(relay);
            tasks.spawn(crawler);
            while let Some(ended) = tasks.join_next().await {
                if let Err(error) = ended {
                    std::panic::resume_unwind(error.into_panic());
                }
            }
        };
        let work = async {
            tokio::join!(runner.run(stop), others);
            ended.send_replace(true);
        };
        tokio::join!(work, leases_kept);
        self.publish_serving(Serving::new());
        self.status().publish("", BTreeMap::new());
    }
}

/// Whether everything beside the loop shares its task: in a simulation, because a watch channel
/// wakes several tasks in any order.
fn share_one_task() -> bool {
    #[cfg(feature = "simulation")]
    return crate::planted::is_in_one_task();
    #[cfg(not(feature = "simulation"))]
    false
}

/// The loop of one process. Stages are numbered; the system stage is the first.
struct Runner<E: Entity> {
    watcher: Watcher<E>,
    /// The names of the stages, in order.
    names: Arc<[String]>,
    /// The stage that may choose entities first.
    first_stage: usize,
    scheduler: Scheduler,
    shards: Shards,
    calls: Calls,
    retries: Retries,
    sweeps: Sweeps,
    controls: Controls,
    reporter: Reporter,
    hints: Hints,
    /// The store is closed, so no hints will come.
    closed: bool,
}

/// Whether the orders of operators must be read.
struct Controls {
    changed: bool,
    /// Read since this process serves anything; nothing is called before.
    known: bool,
}

/// Publishes the status of the stages and answers questions about the loop.
struct Reporter {
    instance: String,
    inquiries: mpsc::Receiver<Inquiry>,
    metrics: Metrics,
    /// When to publish; `None` if nothing changed.
    publish_at: Option<Instant>,
}

impl<E: Entity> Runner<E> {
    fn new(watcher: Watcher<E>, instance: String, shards: Shards) -> Self {
        let rules = watcher.rules();
        // Questions are not visits: the limits of stages do not apply to the system stage. A stage
        // that answers slowly takes up some of its calls.
        let limits = StageLimits {
            rate: None,
            catch_up: None,
            calls_max: QUESTIONS_AT_ONCE_MAX,
            ..StageLimits::default()
        };
        let of_stages = rules.stages.values().map(|rule| rule.limits);
        let states: Vec<StageState> = [limits].into_iter().chain(of_stages).map(StageState::new).collect();
        let names = [SYSTEM.to_owned()].into_iter().chain(rules.stages.keys().cloned()).collect();
        let reporter = Reporter {
            instance,
            inquiries: watcher.status().open_inquiries(),
            metrics: Metrics::new(states.len()),
            publish_at: Some(Instant::now()),
        };
        Self {
            hints: watcher.store().hints(),
            watcher,
            names,
            first_stage: 0,
            scheduler: Scheduler::new(states),
            shards,
            calls: Calls::default(),
            retries: Retries::default(),
            sweeps: Sweeps::new(),
            controls: Controls { changed: true, known: false },
            reporter,
            closed: false,
        }
    }

    async fn run(&mut self, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            self.apply_leases().await;
            self.sweep();
            for (stage, shard) in self.retries.take_over(self.watcher.now()) {
                self.rescan(shard, stage);
            }
            let failed = self.scan_queues().await;
            let blocked_until = if self.controls.known { self.start_calls() } else { None };
            self.publish();
            let until = self.wake_at(blocked_until, failed);
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => {}
                Some(ended) = self.calls.tasks.join_next_with_id() => self.finish(ended),
                _ = self.shards.leases.changed() => self.shards.leases.mark_changed(),
                hint = self.hints.next(), if !self.closed => self.on_hint(hint),
                Some(swept) = self.sweeps.tasks.join_next() => self.apply_sweep(swept),
                Some(inquiry) = self.reporter.inquiries.recv() => self.answer(inquiry),
                () = sleep_until(until) => {}
            }
            self.catch_up();
        }
        while let Some(ended) = self.calls.tasks.join_next_with_id().await {
            self.finish(ended);
        }
    }

    /// Handles what else has happened already.
    fn catch_up(&mut self) {
        while let Some(ended) = self.calls.tasks.try_join_next_with_id() {
            self.finish(ended);
        }
        while let Some(swept) = self.sweeps.tasks.try_join_next() {
            self.apply_sweep(swept);
        }
        while let Some(Some(hint)) = self.hints.next().now_or_never() {
            self.on_hint(Some(hint));
        }
        while let Ok(inquiry) = self.reporter.inquiries.try_recv() {
            self.answer(inquiry);
        }
    }

    /// When to continue if nothing happens.
    fn wake_at(&self, blocked_until: Option<Time>, failed: bool) -> Instant {
        let now = self.watcher.now();
        let wait = |until: Time| Instant::now() + until.since(now);
        let scan = if failed || self.controls.changed {
            Some(Instant::now() + ERROR_PAUSE)
        } else {
            self.scheduler.queues.next_time(now).map(wait)
        };
        let times = [
            self.shards.wake_at(),
            self.reporter.publish_at,
            scan,
            self.retries.next().map(wait),
            blocked_until.map(wait),
            self.scheduler.stages.iter().filter_map(|stage| stage.retry_at).min(),
        ];
        times.into_iter().flatten().fold(self.sweeps.at, Instant::min)
    }

    /// Follows the leases, and reads the orders of operators if they may have changed.
    async fn apply_leases(&mut self) {
        self.controls.changed |= self.shards.take_change() && !planted!(OrdersUnread);
        if let Some((before, now)) = self.shards.update() {
            // Orders may have changed while we could not hear of it.
            self.controls.known &= !now.is_empty();
            self.controls.changed |= !self.controls.known;
            let (all, time) = (self.watcher.shards(), self.watcher.now());
            // A shard that another process had meanwhile is as good as new.
            let kept = now.iter().filter(|(shard, fence)| before.get(shard) == Some(fence));
            self.scheduler.serve(&kept.map(|(shard, _)| *shard).collect(), all, time);
            self.scheduler.serve(&now.keys().copied().collect(), all, time);
            self.calls.isolated.retain(|(_, shard, _)| now.contains_key(shard));
            self.retries.retain(|shard| now.contains_key(&shard));
            self.watcher.publish_serving(now);
        }
        if self.controls.changed {
            let loaded = self.load_controls().await;
            self.controls.changed = loaded.is_err();
            self.controls.known |= loaded.is_ok();
            if let Err(error) = loaded {
                tracing::warn!(%error, "cannot read the orders for the stages, will try again");
            }
        }
        self.shards.release_idle(|shard| self.calls.is_busy(shard));
    }

    /// Reads the orders of operators.
    async fn load_controls(&mut self) -> Result<()> {
        let controls = self.watcher.controls().await?;
        let now = self.watcher.now();
        for (number, name) in self.names.iter().enumerate().skip(1) {
            let control = controls.get(name).cloned().unwrap_or_default();
            self.scheduler.set_paused(number, control.paused.is_some(), now);
            let limits = control.limits.apply_to(self.watcher.limits_of(name));
            if self.scheduler.stages[number].limits != limits {
                self.scheduler.stages[number].set_limits(limits);
            }
        }
        self.reporter.note_change();
        Ok(())
    }

    /// Starts as many calls as stages may have, with the entities at hand. Returns when a stage
    /// that is blocked will be free.
    fn start_calls(&mut self) -> Option<Time> {
        let now = self.watcher.now();
        let mut until: Option<Time> = None;
        // Another stage is first each time: of two that want one entity, the same must not always
        // win.
        let count = self.names.len();
        self.first_stage = (self.first_stage + 1) % count;
        for stage in (self.first_stage..count).chain(0..self.first_stage) {
            let retry_at = &mut self.scheduler.stages[stage].retry_at;
            retry_at.take_if(|at| *at <= Instant::now());
            if retry_at.is_some() {
                continue;
            }
            loop {
                let calls = &self.calls;
                match self.scheduler.next_call(stage, now, |shard, entity| calls.fit(stage, shard, entity)) {
                    Ok(call) => self.start_call(stage, call),
                    // What is overdue waits for a call under way.
                    Err(Blocked::Rate(time) | Blocked::Down(time)) if time > now => {
                        until = Some(until.map_or(time, |until| until.min(time)));
                        break;
                    }
                    Err(Blocked::Busy) if stage > 0 && self.scheduler.stages[stage].is_slow() => {
                        self.scheduler.stages[stage].retry_at = Some(Instant::now() + SLOW_PAUSE);
                        break;
                    }
                    Err(_) => break,
                }
            }
        }
        until
    }

    fn start_call(&mut self, stage: usize, call: NextCall) {
        let NextCall { line, items, probe } = call;
        let serving = self.shards.serving.borrow();
        let fenced = |item: Item| {
            let (shard, entity) = (item.shard, Arc::clone(&item.entity));
            let slot = QueueSlot { shard, kind: E::KIND, stage: &self.names[stage], entity: &entity };
            let row = slot.queue_row(line.lane(), item.visit);
            // Without a fence the shard is not ours: its owner makes the visit.
            let fence = serving.get(&shard)?.clone();
            Some((Due { shard, entity, row, fence }, item))
        };
        let (due, items): (Vec<Due>, Vec<Item>) = items.into_iter().filter_map(fenced).unzip();
        drop(serving);
        let (watcher, name) = (self.watcher.clone(), self.names[stage].clone());
        let began = self.watcher.now();
        self.calls.start(Call { stage, line, items, began, started: Instant::now() }, async move {
            let rules = watcher.rules();
            match rules.stages.get(&name) {
                Some(rule) => watcher.visit(&rules, rule, &due, probe).await,
                None => watcher.ask_stages(&rules, &due).await,
            }
        });
        self.reporter.note_change();
    }

    /// Says which stage is visiting an entity.
    fn answer(&self, inquiry: Inquiry) {
        let Inquiry { shard, entity, answer } = inquiry;
        let stage = self.calls.visitor(shard, entity);
        // Nobody may be waiting for the answer any more.
        let _ = answer.send(stage.map(|stage| self.names[stage].clone()));
    }

    /// Publishes the status of the stages when it is time.
    fn publish(&mut self) {
        let Reporter { instance, metrics, publish_at, .. } = &mut self.reporter;
        if publish_at.take_if(|at| Instant::now() >= *at).is_some() {
            let stages = metrics.statuses(&self.names, &self.scheduler, self.watcher.now());
            self.watcher.status().publish(instance, stages);
        }
    }
}

impl Reporter {
    /// The published status is out of date.
    fn note_change(&mut self) {
        self.publish_at.get_or_insert_with(|| Instant::now() + PUBLISH_DELAY);
    }
}
