//! The loop: looks into the queues of this process's shards, and has what is due visited, several visits at a time.

mod finishing;
mod looking;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use store::Hints;
use tokio::sync::{mpsc, watch};
use tokio::task::{self, JoinSet};
use tokio::time::{Instant, sleep_until};

use looking::Firsts;

use crate::board::Inquiry;
use crate::change::SYSTEM;
use crate::config::StageLimits;
use crate::crawl::Crawler;
use crate::entity::Entity;
use crate::keeping::{Leases, Order, keep};
use crate::limits::{INSTANCE_BYTES_MAX, QUESTIONS_AT_ONCE_MAX, SLOW_PAUSE};
use crate::queue::Place;
use crate::relay::{Moving, Relay, Serving};
use crate::schedule::{Blocked, Desk, Fit, Item, Line, NextCall, Schedule};
use crate::speed::Speeds;
use crate::stage::Stage;
use crate::time::Time;
use crate::visit::{Due, Visited};
use crate::watcher::Watcher;
use crate::{Error, Result};

/// The time in which all queues are looked into once, should no hint come,
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// in so many steps.
const SWEEPS: usize = 10;
/// The pause before work goes on that met an error of the store.
const ERROR_PAUSE: Duration = Duration::from_millis(500);
/// How soon it is tried again to give away a shard in which something is under way.
const LEAVE_AGAIN: Duration = Duration::from_millis(50);
/// How long after a change the board is brought up to date.
const SAY_AFTER: Duration = Duration::from_millis(200);

/// The stages by their names.
pub(crate) type Stages<E> = BTreeMap<String, Arc<dyn Stage<E>>>;

impl<E: Entity> Watcher<E> {
    /// Serves this process's share of the shards until `stop` turns true; then ends what it has begun and gives them away. `instance` must be
    /// unique among all processes that share the store, and never used again.
    ///
    /// Errors of the store do not end it: it tries again. A name that cannot be is an error at once.
    pub async fn run(&self, instance: String, stop: watch::Receiver<bool>) -> Result<()> {
        if instance.is_empty() || instance.len() > INSTANCE_BYTES_MAX || instance.contains('\0') {
            let what = format!(
                "process {instance:?}: a name must have from 1 to {INSTANCE_BYTES_MAX} bytes, and no NUL"
            );
            return Err(Error::Setup { what });
        }
        let (serving, leases) = (watch::Sender::new(Serving::new()), watch::Sender::new(Leases::default()));
        let ((orders, ordered), moving) = (mpsc::unbounded_channel(), Moving::default());
        let relay = Relay::new(self.clone(), serving.subscribe(), moving.clone());
        let crawler = Crawler::new(self.clone(), serving.subscribe());
        let keeper = self.keeper(instance.clone());
        let mut runner = Runner::new(self.clone(), instance, serving, leases.subscribe(), orders, moving);
        let ended = watch::Sender::new(false);
        let leases_kept = keep(self, keeper, leases, ordered, ended.subscribe());
        let (relay, crawler) = (Box::pin(relay.run(stop.clone())), Box::pin(crawler.run(stop.clone())));
        let others = async {
            if share_one_task() {
                tokio::join!(relay, crawler);
                return;
            }
            // Tasks of their own: a long read of one must not hold up the others.
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
        self.tell_serving(Serving::new());
        self.board().say("", BTreeMap::new());
        Ok(())
    }
}

/// Whether all that runs beside the loop shares its task: in a simulation, for a watch channel wakes several tasks in any order.
fn share_one_task() -> bool {
    #[cfg(feature = "simulation")]
    return crate::planted::is_in_one_task();
    #[cfg(not(feature = "simulation"))]
    false
}

/// The state of the loop.
struct Runner<E: Entity> {
    watcher: Watcher<E>,
    instance: String,
    /// What the keeper says.
    leases: watch::Receiver<Leases>,
    orders: mpsc::UnboundedSender<Order>,
    /// Shards that the keeper was told to give away.
    left: BTreeSet<u32>,
    /// Shards that may not be ours any more; the keeper was told to look.
    doubtful: BTreeSet<u32>,
    /// What is served, as the others of this process hear it.
    serving: watch::Sender<Serving>,
    /// What the relay is doing.
    moving: Moving,
    schedule: Schedule,
    /// The names of the stages by their numbers, in order; the system stage is the first.
    names: Arc<[String]>,
    /// The stage that has the first choice of entities.
    first_stage: usize,
    /// Entities that are being visited.
    busy: Busy,
    /// Entities about which stages are being asked. They may be visited meanwhile.
    asked: Busy,
    /// Entities that are to be called alone: by stage, shard and id.
    apart: BTreeSet<(usize, u32, Arc<str>)>,
    /// Entities that are left alone for a while: by stage, shard and id.
    resting: BTreeMap<(usize, u32, Arc<str>), Rest>,
    /// How often in a row visits were made in vain, because others changed the entity meanwhile: by stage, shard and id.
    in_vain: BTreeMap<(usize, u32, Arc<str>), u32>,
    visits: JoinSet<Visited>,
    /// What the tasks of `visits` are about.
    under_way: BTreeMap<task::Id, Call>,
    /// What people ask.
    inquiries: mpsc::Receiver<Inquiry>,
    /// Looks at shards that go on beside the loop.
    sweeps: JoinSet<Result<Firsts>>,
    hints: Hints,
    /// Whether the store is closed, so that no hints will come.
    closed: bool,
    /// Whether something else was ordered for the stages.
    controls_changed: bool,
    /// Whether it was read what was ordered since we serve anything; nobody is called before.
    controls_known: bool,
    next_look: Instant,
    /// The shard at which the next step begins.
    next_swept: u32,
    /// When the board is to be brought up to date; `None` if it is.
    say_at: Option<Instant>,
    speeds: Speeds,
}

/// An entity is left alone for a while.
#[derive(Clone, Copy, Debug)]
struct Rest {
    until: Time,
    /// Whether it ends as soon as something changes: its rows cannot be read, or its code panics over them.
    until_changed: bool,
}

/// What is under way, by shard and entity.
type Busy = BTreeMap<(u32, Arc<str>), Visiting>;

/// A visit that is under way.
#[derive(Clone, Copy, Debug)]
struct Visiting {
    stage: usize,
    /// The time of the queue row that it is about.
    visit: Time,
    /// Whether that very row was written again meanwhile.
    rewritten: bool,
}

/// A call of a stage.
struct Call {
    stage: usize,
    line: Line,
    items: Vec<Item>,
    /// By the clock that entities go by, which somebody may move.
    began: Time,
    /// By a clock that nobody moves.
    started: Instant,
}

impl<E: Entity> Runner<E> {
    fn new(
        watcher: Watcher<E>,
        instance: String,
        serving: watch::Sender<Serving>,
        leases: watch::Receiver<Leases>,
        orders: mpsc::UnboundedSender<Order>,
        moving: Moving,
    ) -> Self {
        let config = &watcher.rules().config;
        let mut names = vec![SYSTEM.to_owned()];
        names.extend(watcher.stages().keys().cloned());
        let mut desks: Vec<Desk> = names.iter().map(|name| Desk::new(*config.limits_of(name))).collect();
        // Questions are not visits: what limits all stages does not limit who asks them. A stage that is slow to answer takes up some of the calls.
        let calls_max = QUESTIONS_AT_ONCE_MAX;
        desks[0] = Desk::new(StageLimits { rate: None, catch_up: None, calls_max, ..StageLimits::default() });
        let (hints, now) = (watcher.store().hints(), Instant::now());
        let inquiries = watcher.board().take_inquiries();
        Self {
            watcher,
            instance,
            leases,
            orders,
            left: BTreeSet::new(),
            doubtful: BTreeSet::new(),
            serving,
            moving,
            schedule: Schedule::new(desks),
            speeds: Speeds::new(names.len()),
            names: names.into(),
            first_stage: 0,
            busy: Busy::new(),
            asked: Busy::new(),
            apart: BTreeSet::new(),
            resting: BTreeMap::new(),
            in_vain: BTreeMap::new(),
            visits: JoinSet::new(),
            under_way: BTreeMap::new(),
            inquiries,
            sweeps: JoinSet::new(),
            hints,
            closed: false,
            controls_changed: true,
            controls_known: false,
            next_look: now + LOOK_EVERY / SWEEPS as u32,
            next_swept: 0,
            say_at: Some(now),
        }
    }

    async fn run(&mut self, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            self.heed_leases().await;
            if Instant::now() >= self.next_look {
                self.next_look = Instant::now() + LOOK_EVERY / SWEEPS as u32;
                self.sweep();
            }
            self.wake_rested();
            let failed = self.look().await;
            let blocked_until = if self.controls_known { self.start_calls() } else { None };
            self.say();
            let until = self.wake_at(blocked_until, failed);
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => {}
                Some(ended) = self.visits.join_next_with_id() => self.finish(ended),
                _ = self.leases.changed() => self.leases.mark_changed(),
                hint = self.hints.next(), if !self.closed => self.hear(hint),
                Some(swept) = self.sweeps.join_next() => self.heed_sweep(swept),
                Some(inquiry) = self.inquiries.recv() => self.answer(inquiry),
                () = sleep_until(until) => {}
            }
            self.catch_up();
        }
        while let Some(ended) = self.visits.join_next_with_id().await {
            self.finish(ended);
        }
    }

    /// Takes in what else has happened already.
    fn catch_up(&mut self) {
        while let Some(ended) = self.visits.try_join_next_with_id() {
            self.finish(ended);
        }
        while let Some(swept) = self.sweeps.try_join_next() {
            self.heed_sweep(swept);
        }
        while let Some(Some(hint)) = self.hints.next().now_or_never() {
            self.hear(Some(hint));
        }
        while let Ok(inquiry) = self.inquiries.try_recv() {
            self.answer(inquiry);
        }
    }

    /// When to go on if nothing happens.
    fn wake_at(&self, blocked_until: Option<Time>, failed: bool) -> Instant {
        let now = self.watcher.now();
        let wait = |until: Time| Instant::now() + until.since(now);
        let look = if failed || self.controls_changed {
            Some(Instant::now() + ERROR_PAUSE)
        } else {
            self.schedule.agenda.next_time(now).map(wait)
        };
        let leases = self.leases.borrow();
        let leaving = leases.leaving.difference(&self.left).next().map(|_| Instant::now() + LEAVE_AGAIN);
        let trusted_until = leases.trusted_until.filter(|_| !self.serving.borrow().is_empty());
        let rested = self.resting.values().map(|rest| rest.until).min().map(wait);
        let blocked_until = blocked_until.map(wait);
        let gave_way = self.schedule.desks.iter().filter_map(|desk| desk.looks_at).min();
        let times = [
            Some(self.next_look),
            trusted_until,
            self.say_at,
            look,
            leaving,
            rested,
            blocked_until,
            gave_way,
        ];
        times.into_iter().flatten().min().unwrap_or(self.next_look)
    }

    /// Does what follows from what the keeper says.
    async fn heed_leases(&mut self) {
        if self.leases.has_changed().unwrap_or(false) {
            self.leases.mark_unchanged();
            // What the keeper was told may have failed, so it is told again.
            self.left.clear();
            self.doubtful.clear();
            self.controls_changed |= !planted!(OrdersUnread);
        }
        self.serve_what_is_ours();
        if self.controls_changed {
            let loaded = self.load_controls().await;
            self.controls_changed = loaded.is_err();
            self.controls_known |= loaded.is_ok();
            log_error(loaded);
        }
        self.leave();
    }

    /// Lets go of shards that are to be given away, when nothing happens in them any more.
    fn leave(&mut self) {
        for shard in &self.leases.borrow().leaving {
            let is_in = |busy: &Busy| {
                let first = busy.range((*shard, Arc::from(""))..).next();
                first.is_some_and(|((of, _), _)| of == shard)
            };
            let busy = is_in(&self.busy) || is_in(&self.asked);
            let quiet = !busy && !self.moving.contains(*shard);
            // The keeper may have changed its mind since we last heeded it: what we still serve is not let go of yet.
            let leaving = !self.serving.borrow().contains_key(shard);
            if (quiet && leaving || planted!(BusyGivenAway)) && self.left.insert(*shard) {
                // The keeper is there as long as we are.
                let _ = self.orders.send(Order::GiveAway(*shard));
            }
        }
    }

    fn serve_what_is_ours(&mut self) {
        let ours = self.ours();
        let before = self.serving.borrow().clone();
        if before == ours {
            return;
        }
        // Much may have been ordered while we could not hear of it.
        self.controls_known &= !ours.is_empty();
        self.controls_changed |= !self.controls_known;
        let (all, now) = (self.watcher.rules().config.shards, self.watcher.now());
        // A shard that somebody else had meanwhile is as new.
        let kept = ours.iter().filter(|(shard, fence)| before.get(shard) == Some(fence));
        self.schedule.serve(&kept.map(|(shard, _)| *shard).collect(), all, now);
        self.schedule.serve(&ours.keys().copied().collect(), all, now);
        self.apart.retain(|(_, shard, _)| ours.contains_key(shard));
        self.resting.retain(|(_, shard, _), _| ours.contains_key(shard));
        self.in_vain.retain(|(_, shard, _), _| ours.contains_key(shard));
        self.watcher.tell_serving(ours.clone());
        self.serving.send_replace(ours);
    }

    /// The shards in which new work may begin.
    fn ours(&self) -> Serving {
        let leases = self.leases.borrow();
        if leases.trusted_until.is_none_or(|until| Instant::now() >= until) {
            return Serving::new();
        }
        let ours = leases.serving.iter().filter(|(shard, _)| !self.doubtful.contains(shard));
        ours.map(|(shard, fence)| (*shard, fence.clone())).collect()
    }

    /// Reads what people have ordered for the stages.
    async fn load_controls(&mut self) -> Result<()> {
        let controls = self.watcher.controls().await?;
        let now = self.watcher.now();
        for (number, name) in self.names.iter().enumerate().skip(1) {
            let control = controls.get(name).cloned().unwrap_or_default();
            self.schedule.set_paused(number, control.paused.is_some(), now);
            let limits = control.limits.apply_to(*self.watcher.limits_of(name));
            if self.schedule.desks[number].limits != limits {
                self.schedule.desks[number].set_limits(limits);
            }
        }
        self.changed();
        Ok(())
    }

    /// Starts as many calls as stages may have, with what is at hand. Returns when something that stands in the way will be gone.
    fn start_calls(&mut self) -> Option<Time> {
        let now = self.watcher.now();
        let mut until: Option<Time> = None;
        // Another stage is the first each time: of two that want one entity, the same must not always win.
        let count = self.names.len();
        self.first_stage = (self.first_stage + 1) % count;
        for stage in (self.first_stage..count).chain(0..self.first_stage) {
            let looks_at = &mut self.schedule.desks[stage].looks_at;
            looks_at.take_if(|at| *at <= Instant::now());
            if looks_at.is_some() {
                continue;
            }
            loop {
                let (busy, apart) = (if stage == 0 { &self.asked } else { &self.busy }, &self.apart);
                let fit = |shard, entity: &Arc<str>| {
                    if busy.contains_key(&(shard, Arc::clone(entity))) && !planted!(BusyIgnored) {
                        Fit::Busy
                    } else if apart.is_empty() || !apart.contains(&(stage, shard, Arc::clone(entity))) {
                        Fit::Free
                    } else {
                        Fit::Alone
                    }
                };
                match self.schedule.next_call(stage, now, fit) {
                    Ok(call) => self.start_call(stage, call),
                    // What is overdue waits for a call that is under way.
                    Err(Blocked::Rate(time) | Blocked::Down(time)) if time > now => {
                        until = Some(until.map_or(time, |until| until.min(time)));
                        break;
                    }
                    Err(Blocked::Busy) if stage > 0 && self.schedule.desks[stage].is_slow() => {
                        self.schedule.desks[stage].looks_at = Some(Instant::now() + SLOW_PAUSE);
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
        let serving = self.serving.borrow();
        let fenced = |item: Item| {
            let (shard, entity) = (item.shard, Arc::clone(&item.entity));
            let place = Place { shard, kind: E::KIND, stage: &self.names[stage], entity: &entity };
            let row = place.queue_row(line.lane(), item.visit);
            // Without a fence the shard is not ours: its owner visits them.
            let fence = serving.get(&shard)?.clone();
            Some((Due { shard, entity, row, fence }, item))
        };
        let (due, items): (Vec<Due>, Vec<Item>) = items.into_iter().filter_map(fenced).unzip();
        drop(serving);
        for item in &items {
            let visiting = Visiting { stage, visit: item.visit, rewritten: false };
            self.under_way_of(stage).insert((item.shard, Arc::clone(&item.entity)), visiting);
        }
        let (watcher, name) = (self.watcher.clone(), self.names[stage].clone());
        let visit = self.visits.spawn(async move {
            match watcher.stage(&name) {
                Some(stage) => watcher.visit(stage, &due, probe).await,
                None => watcher.ask_stages(&due).await,
            }
        });
        let (began, started) = (self.watcher.now(), Instant::now());
        self.under_way.insert(visit.id(), Call { stage, line, items, began, started });
        self.changed();
    }

    /// What keeps a stage away from entities: questions keep away other questions, visits keep away other visits.
    fn under_way_in(&self, stage: usize) -> &Busy {
        if stage == 0 { &self.asked } else { &self.busy }
    }

    fn under_way_of(&mut self, stage: usize) -> &mut Busy {
        if stage == 0 { &mut self.asked } else { &mut self.busy }
    }

    /// Tells whoever asks which stage is visiting an entity.
    fn answer(&self, inquiry: Inquiry) {
        let Inquiry { shard, entity, answer } = inquiry;
        let visiting = self.busy.get(&(shard, entity));
        // Whoever does not wait any more misses nothing.
        let _ = answer.send(visiting.map(|visiting| self.names[visiting.stage].clone()));
    }

    /// Something is different from what the board says.
    fn changed(&mut self) {
        self.say_at = self.say_at.or_else(|| Some(Instant::now() + SAY_AFTER));
    }

    /// Brings the board up to date when it is time.
    fn say(&mut self) {
        if self.say_at.is_some_and(|at| Instant::now() >= at) {
            self.say_at = None;
            let stages = self.speeds.statuses(&self.names, &self.schedule, self.watcher.now());
            self.watcher.board().say(&self.instance, stages);
        }
    }
}

fn log_error(outcome: Result<()>) {
    if let Err(error) = outcome {
        tracing::warn!(%error, "cannot read what was ordered for the stages, will try again");
    }
}
