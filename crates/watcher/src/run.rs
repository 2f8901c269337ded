//! The loop: looks into the queues of this process's shards, and has what is due visited, several visits at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use store::{Hint, Hints, Key};
use tokio::sync::watch;
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};

use crate::change::SYSTEM;
use crate::crawl::Crawler;
use crate::entity::Entity;
use crate::limits::{APART_MAX, PEEKS_IN_A_ROUND_MAX};
use crate::peek::Window;
use crate::queue::{Lane, PARKED, Place};
use crate::relay::{Moving, Relay, Serving};
use crate::schedule::{Blocked, Desk, Fit, Item, Line, NextCall, Peeked, QueueId, Schedule};
use crate::shards::Keeper;
use crate::speed::Speeds;
use crate::stage::Stage;
use crate::tables::{CONTROLS, QUEUES};
use crate::time::Time;
use crate::visit::{Due, End, Heard, Visited};
use crate::watcher::Watcher;
use crate::{Error, Result};

/// The longest pause between two looks at the queues that others write to, should no hint come.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The pause before work goes on that met an error of the store.
const ERROR_PAUSE: Duration = Duration::from_millis(500);
/// The pause before a row that cannot be read is tried again.
const DAMAGE_PAUSE: Duration = Duration::from_secs(60);
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
    /// Errors of the store do not end it: it tries again.
    pub async fn run(&self, instance: String, stop: watch::Receiver<bool>) {
        let serving = watch::Sender::new(Serving::new());
        let moving = Moving::default();
        let relay = Relay::new(self.clone(), serving.subscribe(), moving.clone());
        let crawler = Crawler::new(self.clone(), serving.subscribe());
        let mut runner = Runner::new(self.clone(), instance, serving, moving);
        tokio::join!(runner.run(stop.clone()), relay.run(stop.clone()), crawler.run(stop));
        log_error(runner.keeper.resign().await);
        self.board().say("", BTreeMap::new());
    }
}

/// The state of the loop.
struct Runner<E: Entity> {
    watcher: Watcher<E>,
    instance: String,
    keeper: Keeper,
    serving: watch::Sender<Serving>,
    /// What the relay is doing.
    moving: Moving,
    schedule: Schedule,
    /// The names of the stages by their numbers, in order; the system stage is the first.
    names: Vec<String>,
    /// The stage that has the first choice of entities.
    first_stage: usize,
    /// Entities that are being visited.
    busy: BTreeMap<(u32, Arc<str>), Visiting>,
    /// Entities that are to be called alone: by stage, shard and id.
    apart: BTreeSet<(usize, u32, Arc<str>)>,
    visits: JoinSet<Visited>,
    /// What the tasks of `visits` are about.
    under_way: BTreeMap<task::Id, Call>,
    hints: Hints,
    /// Whether the store is closed, so that no hints will come.
    closed: bool,
    /// Whether something else was ordered for the stages.
    controls_changed: bool,
    next_beat: Instant,
    next_look: Instant,
    /// When the board is to be brought up to date; `None` if it is.
    say_at: Option<Instant>,
    speeds: Speeds,
}

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
}

impl<E: Entity> Runner<E> {
    fn new(watcher: Watcher<E>, instance: String, serving: watch::Sender<Serving>, moving: Moving) -> Self {
        let config = &watcher.rules().config;
        let mut names = vec![SYSTEM.to_owned()];
        names.extend(watcher.stages().keys().cloned());
        let desks = names.iter().map(|name| Desk::new(*config.limits_of(name))).collect();
        let (hints, now) = (watcher.store().hints(), Instant::now());
        Self {
            keeper: watcher.keeper(instance.clone()),
            watcher,
            instance,
            serving,
            moving,
            schedule: Schedule::new(desks),
            speeds: Speeds::new(names.len()),
            names,
            first_stage: 0,
            busy: BTreeMap::new(),
            apart: BTreeSet::new(),
            visits: JoinSet::new(),
            under_way: BTreeMap::new(),
            hints,
            closed: false,
            controls_changed: true,
            next_beat: now,
            next_look: now + LOOK_EVERY,
            say_at: Some(now),
        }
    }

    async fn run(&mut self, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            self.keep_leases().await;
            if Instant::now() >= self.next_look {
                self.next_look = Instant::now() + LOOK_EVERY;
                self.look_everywhere();
            }
            let failed = self.look().await;
            let blocked_until = self.start_calls();
            self.say();
            let until = self.wake_at(blocked_until, failed);
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => {}
                Some(ended) = self.visits.join_next_with_id() => self.finish(ended),
                hint = self.hints.next(), if !self.closed => self.hear(hint),
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
        while let Some(Some(hint)) = self.hints.next().now_or_never() {
            self.hear(Some(hint));
        }
    }

    /// When to go on if nothing happens.
    fn wake_at(&self, blocked_until: Option<Time>, failed: bool) -> Instant {
        let now = self.watcher.now();
        let wait = |until: Time| Instant::now() + until.since(now);
        let look = match self.schedule.agenda.next_time(now) {
            Some(_) if failed => Some(Instant::now() + ERROR_PAUSE),
            next => next.map(wait),
        };
        let leaving = self.keeper.leaving().next().map(|_| Instant::now() + LEAVE_AGAIN);
        let times =
            [Some(self.next_beat), Some(self.next_look), self.say_at, look, leaving, blocked_until.map(wait)];
        times.into_iter().flatten().min().unwrap_or(self.next_beat)
    }

    async fn keep_leases(&mut self) {
        if Instant::now() >= self.next_beat {
            self.next_beat = Instant::now() + self.keeper.beat_every();
            self.keeper.set_status(self.watcher.board().stages());
            log_error(self.keeper.tick().await);
            self.serve_what_is_ours();
            self.controls_changed |= !planted!(OrdersUnread);
        }
        if std::mem::take(&mut self.controls_changed) {
            log_error(self.load_controls().await);
        }
        for shard in self.keeper.leaving().collect::<Vec<_>>() {
            let first = (shard, Arc::from(""));
            let busy = self.busy.range(first..).next().is_some_and(|((busy, _), _)| *busy == shard);
            if planted!(BusyGivenAway) || (!busy && !self.moving.contains(shard)) {
                log_error(self.keeper.give_away(shard).await);
            }
        }
        if !self.keeper.is_trusted() && !self.serving.borrow().is_empty() {
            self.serve_what_is_ours();
        }
    }

    fn serve_what_is_ours(&mut self) {
        let keeper = &self.keeper;
        let ours: Serving = keeper.serving().filter_map(|s| Some((s, keeper.fence(s)?))).collect();
        let before = self.serving.borrow().clone();
        if before == ours {
            return;
        }
        let (all, now) = (self.watcher.rules().config.shards, self.watcher.now());
        // A shard that somebody else had meanwhile is as new.
        let kept = ours.iter().filter(|(shard, fence)| before.get(shard) == Some(fence));
        self.schedule.serve(&kept.map(|(shard, _)| *shard).collect(), all, now);
        self.schedule.serve(&ours.keys().copied().collect(), all, now);
        self.serving.send_replace(ours);
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

    /// Looks into the queues that may have something; says whether some could not be looked into.
    async fn look(&mut self) -> bool {
        let mut failed = false;
        for shard in self.schedule.agenda.to_survey() {
            failed |= self.survey(shard).await.inspect_err(|error| cannot_look(shard, error)).is_err();
        }
        let ids = self.schedule.agenda.to_peek(self.watcher.now(), PEEKS_IN_A_ROUND_MAX);
        let peeks = join_all(ids.iter().map(|id| self.peek(*id))).await;
        for (id, peeked) in ids.into_iter().zip(peeks) {
            match peeked {
                Ok(peeked) => self.schedule.agenda.peeked(id, peeked),
                Err(error) => {
                    cannot_look(id.shard, &error);
                    failed = true;
                }
            }
        }
        failed
    }

    async fn peek(&self, id: QueueId) -> Result<Peeked> {
        let QueueId { shard, stage, line } = id;
        let agenda = &self.schedule.agenda;
        let in_shard = self.busy.range((shard, Arc::from(""))..).take_while(|((busy, _), _)| *busy == shard);
        let window = Window {
            shard,
            stage: &self.names[stage],
            line,
            low: agenda.low(id),
            late_before: agenda.late_before(stage, shard),
            known: in_shard.filter(|(_, visiting)| visiting.stage == stage).count(),
        };
        let is_known = |visit, entity: &Arc<str>| {
            let visiting = self.busy.get(&(shard, Arc::clone(entity)));
            visiting.is_some_and(|visiting| visiting.stage == stage && visiting.visit == visit)
        };
        self.watcher.peek(window, is_known).await
    }

    /// Finds out which queues of a shard have anything, all at once.
    async fn survey(&mut self, shard: u32) -> Result<()> {
        let now = self.watcher.now();
        let firsts = self.watcher.survey(shard).await?;
        let agenda = &mut self.schedule.agenda;
        for id in agenda.unknown_in(shard) {
            let first = firsts.get(&(id.line.lane(), self.names[id.stage].clone())).copied();
            let late_before = agenda.late_before(id.stage, shard);
            match (id.line, first) {
                (Line::Timer, Some(first)) if first < late_before => {}
                (Line::Late, Some(first)) if first >= late_before => agenda.surveyed(id, None, now),
                _ => agenda.surveyed(id, first, now),
            }
        }
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
            loop {
                let (busy, apart) = (&self.busy, &self.apart);
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
                    Err(_) => break,
                }
            }
        }
        until
    }

    fn start_call(&mut self, stage: usize, call: NextCall) {
        let NextCall { line, items, probe } = call;
        let fenced = |item: Item| {
            let (shard, entity) = (item.shard, Arc::clone(&item.entity));
            let place = Place { shard, kind: E::KIND, stage: &self.names[stage], entity: &entity };
            let row = place.queue_row(line.lane(), item.visit);
            // Without a fence the shard is not ours: its owner visits them.
            let fence = self.keeper.fence(shard)?;
            Some((Due { shard, entity, row, fence }, item))
        };
        let (due, items): (Vec<Due>, Vec<Item>) = items.into_iter().filter_map(fenced).unzip();
        for item in &items {
            let visiting = Visiting { stage, visit: item.visit, rewritten: false };
            self.busy.insert((item.shard, Arc::clone(&item.entity)), visiting);
        }
        let (watcher, name) = (self.watcher.clone(), self.names[stage].clone());
        let visit = self.visits.spawn(async move {
            match watcher.stage(&name) {
                Some(stage) => watcher.visit(stage, &due, probe).await,
                None => watcher.ask_stages(&due).await,
            }
        });
        self.under_way.insert(visit.id(), Call { stage, line, items });
        self.changed();
    }

    fn finish(&mut self, ended: Result<(task::Id, Visited), JoinError>) {
        let (id, visited) = ended.unwrap_or_else(|error| {
            tracing::error!(kind = E::KIND, %error, "a visit was lost by a panic of the watcher itself");
            (error.id(), Visited { ends: Vec::new(), heard: Vec::new() })
        });
        let Some(Call { stage, line, items }) = self.under_way.remove(&id) else { return };
        self.schedule.call_ended(stage, line);
        let several = items.len() > 1;
        for (name, heard) in visited.heard {
            if let Ok(stage) = self.names.binary_search(&name) {
                self.note_heard(stage, &heard, &items);
            }
        }
        let ends = visited.ends.into_iter().chain(std::iter::repeat_with(|| Ok(End::Again)));
        for (item, end) in items.into_iter().zip(ends) {
            self.finish_one(stage, line, item, end, several);
        }
        self.changed();
    }

    fn finish_one(&mut self, stage: usize, line: Line, item: Item, end: Result<End>, several: bool) {
        let place = (item.shard, Arc::clone(&item.entity));
        let rewritten = self.busy.remove(&place).is_some_and(|visiting| visiting.rewritten);
        self.speeds.note(stage, &end);
        if !self.apart.is_empty() {
            self.apart.remove(&(stage, item.shard, Arc::clone(&item.entity)));
        }
        let (name, entity, id) =
            (&self.names[stage], &*item.entity, QueueId { shard: item.shard, stage, line });
        match end {
            Ok(End::Saved { .. } | End::Gone) => {}
            Ok(End::Failed { error, parked }) => {
                tracing::warn!(stage = name, entity, %error, parked, "a visit failed");
            }
            Ok(End::Left) => {
                if several && self.apart.len() < APART_MAX {
                    self.apart.insert((stage, item.shard, Arc::clone(&item.entity)));
                }
                self.schedule.agenda.put_back(id, item);
                return;
            }
            Ok(End::Again) => self.look_again(item.shard, stage),
            Ok(End::Doubtful) => {
                self.next_beat = Instant::now();
                self.look_again(item.shard, stage);
            }
            Err(error) => {
                tracing::warn!(stage = name, entity, %error, "a visit could not be made, will try again");
                let pause = if matches!(error, Error::Damaged { .. }) { DAMAGE_PAUSE } else { ERROR_PAUSE };
                self.schedule.agenda.look_at(id, self.watcher.now() + pause);
            }
        }
        if rewritten {
            self.look_again(place.0, stage);
        }
    }

    /// Takes note of whether a stage is alive.
    fn note_heard(&mut self, stage: usize, heard: &Heard, items: &[Item]) {
        let now = self.watcher.now();
        let was_down = self.schedule.desks[stage].health.down().is_some();
        match heard {
            Heard::Nothing => return,
            Heard::Answer => self.schedule.answered(stage, now),
            Heard::Silence(error) => {
                let entities = items.iter().map(|item| &item.entity);
                self.schedule.desks[stage].health.silent(entities, &error.to_string(), now);
            }
        }
        let is_down = self.schedule.desks[stage].health.down().is_some();
        if was_down != is_down {
            let stage = &self.names[stage];
            if is_down {
                tracing::error!(
                    kind = E::KIND,
                    stage,
                    ?heard,
                    "a stage does not answer: it is only probed from now on"
                );
            } else {
                tracing::info!(kind = E::KIND, stage, "a stage answers again");
            }
            self.say_at = Some(Instant::now());
            self.say();
        }
    }

    fn look_again(&mut self, shard: u32, stage: usize) {
        for line in Line::ALL {
            self.schedule.agenda.look_again(QueueId { shard, stage, line });
        }
    }

    fn hear(&mut self, hint: Option<Hint>) {
        match hint {
            Some(Hint::Put(key)) if std::ptr::eq(key.table(), QUEUES.def()) => self.note_row(&key),
            Some(Hint::Changed { table, shard }) if table == QUEUES.def().name => self.look_for_others(shard),
            Some(Hint::Changed { table, .. }) if table == CONTROLS.def().name => self.controls_changed = true,
            Some(Hint::Put(_) | Hint::Changed { .. }) => {}
            Some(Hint::Anything) => self.look_everywhere(),
            // Every call will say so, at the usual pace.
            None => self.closed = true,
        }
    }

    /// A row was written to a queue by this process.
    fn note_row(&mut self, key: &Key) {
        let Ok((shard, kind, lane, stage, visit, entity)) = QUEUES.parts(key) else { return };
        let Ok(stage) = self.names.binary_search(&stage) else { return };
        if kind != E::KIND || lane == PARKED {
            return;
        }
        let (visit, entity) = (Time::from_ms(visit), Arc::from(entity));
        if let Some(visiting) = self.busy.get_mut(&(shard, Arc::clone(&entity)))
            && (visiting.stage, visiting.visit) == (stage, visit)
        {
            visiting.rewritten = true;
            return;
        }
        let agenda = &mut self.schedule.agenda;
        let line = match Lane::from_number(lane) {
            Lane::Fresh => Line::Fresh,
            Lane::Timer if visit < agenda.late_before(stage, shard) => Line::Late,
            Lane::Timer => Line::Timer,
            Lane::Background => Line::Background,
        };
        agenda.added(QueueId { shard, stage, line }, visit, &entity, self.watcher.now());
    }

    /// Looks for what others may have written to a shard: fresh work.
    fn look_for_others(&mut self, shard: u32) {
        for stage in 0..self.names.len() {
            self.schedule.agenda.look_again(QueueId { shard, stage, line: Line::Fresh });
        }
    }

    fn look_everywhere(&mut self) {
        let shards: Vec<u32> = self.serving.borrow().keys().copied().collect();
        for shard in shards.into_iter().filter(|_| !planted!(NoLook)) {
            for (stage, line) in (0..self.names.len()).flat_map(|stage| Line::ALL.map(|line| (stage, line))) {
                self.schedule.agenda.look_anew(QueueId { shard, stage, line });
            }
        }
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

fn cannot_look(shard: u32, error: &Error) {
    tracing::warn!(shard, %error, "cannot look into the queues of a shard");
}

fn log_error(outcome: Result<()>) {
    if let Err(error) = outcome {
        tracing::warn!(%error, "cannot keep the leases of the shards or read what was ordered for the stages");
    }
}
