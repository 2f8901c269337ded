//! The loop: looks into the queues of this process's shards, and has what is due visited, several visits at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use store::{Hint, Hints, Read};
use tokio::sync::watch;
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};

use crate::Result;
use crate::agenda::{Agenda, Item, Peeked, QueueId};
use crate::change::SYSTEM;
use crate::entity::Entity;
use crate::limits::{PEEK_MAX, PEEKS_IN_A_ROUND_MAX};
use crate::queue::{Lane, Place, Queued};
use crate::relay::{Relay, Serving};
use crate::shards::Keeper;
use crate::stage::Stage;
use crate::tables::QUEUES;
use crate::time::Time;
use crate::visit::{Due, End};
use crate::watcher::Watcher;

/// The longest pause between two looks at the queues that others write to, should no hint come.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The pause before work goes on that met an error of the store.
const ERROR_PAUSE: Duration = Duration::from_millis(500);

/// The stages by their names.
pub(crate) type Stages<E> = BTreeMap<String, Arc<dyn Stage<E>>>;

impl<E: Entity> Watcher<E> {
    /// Serves this process's share of the shards until `stop` turns true; then ends what it has begun and gives them away. `instance` must be
    /// unique among all processes that share the store, and never used again.
    ///
    /// Errors of the store do not end it: it tries again.
    pub async fn run(&self, instance: String, stop: watch::Receiver<bool>) {
        let serving = watch::Sender::new(Serving::new());
        let relay = Relay::new(self.clone(), serving.subscribe());
        let mut runner = Runner::new(self.clone(), self.keeper(instance), serving);
        tokio::join!(runner.run(stop.clone()), relay.run(stop));
        log_error(runner.keeper.resign().await);
    }
}

/// The state of the loop.
struct Runner<E: Entity> {
    watcher: Watcher<E>,
    keeper: Keeper,
    serving: watch::Sender<Serving>,
    agenda: Agenda,
    /// The names of the stages by their numbers; the system stage is the first.
    names: Vec<String>,
    /// The stages to whose queues others write: all of them, because anybody may ask for a visit.
    written_by_others: Vec<usize>,
    /// Entities that are being visited.
    busy: BTreeSet<(u32, Arc<str>)>,
    /// Calls under way, by stage.
    calls: Vec<usize>,
    visits: JoinSet<Vec<Result<End>>>,
    /// What the tasks of `visits` are about.
    under_way: BTreeMap<task::Id, Call>,
    hints: Hints,
    next_beat: Instant,
    next_look: Instant,
}

/// A call of a stage.
struct Call {
    stage: usize,
    lane: Lane,
    items: Vec<Item>,
}

impl<E: Entity> Runner<E> {
    fn new(watcher: Watcher<E>, keeper: Keeper, serving: watch::Sender<Serving>) -> Self {
        let interests = &watcher.rules().interests;
        let names: Vec<String> =
            std::iter::once(SYSTEM.to_owned()).chain(interests.keys().cloned()).collect();
        let written_by_others = (0..names.len()).collect();
        let (agenda, calls) = (Agenda::new(names.len()), vec![0; names.len()]);
        let (hints, now) = (watcher.store().hints(), Instant::now());
        Self {
            watcher,
            keeper,
            serving,
            agenda,
            names,
            written_by_others,
            busy: BTreeSet::new(),
            calls,
            visits: JoinSet::new(),
            under_way: BTreeMap::new(),
            hints,
            next_beat: now,
            next_look: now + LOOK_EVERY,
        }
    }

    async fn run(&mut self, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            self.keep_leases().await;
            if Instant::now() >= self.next_look {
                self.next_look = Instant::now() + LOOK_EVERY;
                self.look_everywhere();
            }
            let failed = self.peek().await;
            self.start_calls();
            let until = self.wake_at(failed);
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => {}
                Some(ended) = self.visits.join_next_with_id() => self.finish(ended),
                hint = self.hints.next() => self.hear(hint),
                () = sleep_until(until) => {}
            }
        }
        while let Some(ended) = self.visits.join_next_with_id().await {
            self.finish(ended);
        }
    }

    /// When to go on if nothing happens.
    fn wake_at(&self, failed: bool) -> Instant {
        let now = self.watcher.now();
        let wait = match self.agenda.next_time(now) {
            Some(_) if failed => ERROR_PAUSE,
            Some(next) => next.since(now),
            None => LOOK_EVERY,
        };
        self.next_beat.min(self.next_look).min(Instant::now() + wait)
    }

    async fn keep_leases(&mut self) {
        if Instant::now() >= self.next_beat {
            self.next_beat = Instant::now() + self.keeper.beat_every();
            log_error(self.keeper.tick().await);
            self.serve_what_is_ours();
        }
        for shard in self.keeper.leaving().collect::<Vec<_>>() {
            if planted!(BusyGivenAway) || !self.busy.iter().any(|(busy, _)| *busy == shard) {
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
        // A shard that somebody else had meanwhile is as new.
        let kept = ours.iter().filter(|(shard, fence)| before.get(shard) == Some(fence));
        self.agenda.serve(&kept.map(|(shard, _)| *shard).collect());
        self.agenda.serve(&ours.keys().copied().collect());
        self.serving.send_replace(ours);
    }

    /// Looks into the queues that may have something; says whether some could not be looked into.
    async fn peek(&mut self) -> bool {
        let mut failed = false;
        for id in self.agenda.to_peek(self.watcher.now(), PEEKS_IN_A_ROUND_MAX) {
            match self.peek_queue(id).await {
                Ok(peeked) => self.agenda.peeked(id, peeked),
                Err(error) => {
                    tracing::warn!(shard = id.shard, stage = self.names[id.stage], %error, "cannot look into a queue");
                    failed = true;
                }
            }
        }
        failed
    }

    async fn peek_queue(&self, id: QueueId) -> Result<Peeked> {
        let prefix = (id.shard, E::KIND, id.lane.number(), &*self.names[id.stage]);
        let now = self.watcher.now();
        let mut peeked = Peeked::default();
        let page = self.watcher.store().scan(&QUEUES.prefix(prefix).limit(PEEK_MAX)).await?;
        let more = page.next.is_some();
        for row in page.rows {
            let (.., visit, entity) = QUEUES.parts(&row.key)?;
            let visit = Time::from_ms(visit);
            if visit > now {
                peeked.later = Some(visit);
                return Ok(peeked);
            }
            peeked.due.push((visit, entity.into()));
        }
        peeked.later = more.then_some(now);
        Ok(peeked)
    }

    /// Starts as many calls as stages may have, with what is at hand.
    fn start_calls(&mut self) {
        let (calls_max, batch_max) = (self.watcher.limits().calls_max, self.watcher.limits().batch_max);
        for stage in 0..self.names.len() {
            for lane in Lane::ALL {
                while self.calls[stage] < calls_max {
                    let busy = &self.busy;
                    let is_free = |shard, entity: &Arc<str>| {
                        planted!(BusyIgnored) || !busy.contains(&(shard, Arc::clone(entity)))
                    };
                    let items = self.agenda.take(stage, lane, batch_max, is_free);
                    if items.is_empty() {
                        break;
                    }
                    self.start_call(stage, lane, items);
                }
            }
        }
    }

    fn start_call(&mut self, stage: usize, lane: Lane, items: Vec<Item>) {
        let fenced = |item: Item| {
            let (shard, entity) = (item.shard, item.entity.to_string());
            let place = Place { shard, kind: E::KIND, stage: &self.names[stage], entity: &entity };
            let row = place.queue_row(lane, item.visit);
            // Without a fence the shard is not ours: its owner visits them.
            let fence = self.keeper.fence(shard)?;
            Some((Due { shard, entity, row, fence }, item))
        };
        let (due, items): (Vec<Due>, Vec<Item>) = items.into_iter().filter_map(fenced).unzip();
        self.busy.extend(items.iter().map(|item| (item.shard, Arc::clone(&item.entity))));
        self.calls[stage] += 1;
        let (watcher, name) = (self.watcher.clone(), self.names[stage].clone());
        let visit = self.visits.spawn(async move {
            match watcher.stage(&name) {
                Some(stage) => watcher.visit(stage, &due).await,
                None => futures::future::join_all(due.iter().map(|due| watcher.ask_stages(due))).await,
            }
        });
        self.under_way.insert(visit.id(), Call { stage, lane, items });
    }

    fn finish(&mut self, ended: Result<(task::Id, Vec<Result<End>>), JoinError>) {
        let (id, ends) = ended.unwrap_or_else(|error| {
            tracing::error!(kind = E::KIND, %error, "a visit was lost by a panic of the watcher itself");
            (error.id(), Vec::new())
        });
        let Some(Call { stage, lane, items }) = self.under_way.remove(&id) else { return };
        let ends = ends.into_iter().chain(std::iter::repeat_with(|| Ok(End::Again)));
        self.calls[stage] -= 1;
        for (item, end) in items.into_iter().zip(ends) {
            self.busy.remove(&(item.shard, Arc::clone(&item.entity)));
            let (stage_name, entity) = (&self.names[stage], &*item.entity);
            match end {
                Ok(End::Saved(queued)) => self.note(item.shard, &queued),
                Ok(End::Failed(error, queued)) => {
                    tracing::warn!(stage = stage_name, entity, %error, "a visit failed");
                    self.note(item.shard, &queued);
                }
                Ok(End::Gone) => {}
                Ok(End::Again) => self.look_again(item.shard, stage),
                Ok(End::Doubtful) => {
                    self.next_beat = Instant::now();
                    self.look_again(item.shard, stage);
                }
                Err(error) => {
                    tracing::warn!(stage = stage_name, entity, %error, "a visit could not be made, will try again");
                    let again = self.watcher.now() + ERROR_PAUSE;
                    self.agenda.written(QueueId { stage, lane, shard: item.shard }, again);
                }
            }
        }
    }

    fn note(&mut self, shard: u32, queued: &[Queued]) {
        for Queued { stage, lane, visit } in queued {
            if let Some(stage) = self.names.iter().position(|name| name == stage) {
                self.agenda.written(QueueId { stage, lane: *lane, shard }, *visit);
            }
        }
    }

    fn look_again(&mut self, shard: u32, stage: usize) {
        for lane in Lane::ALL {
            self.agenda.look_again(QueueId { stage, lane, shard });
        }
    }

    fn hear(&mut self, hint: Option<Hint>) {
        match hint {
            Some(Hint::Changed { table, shard }) if table == QUEUES.def().name => self.look_for_others(shard),
            Some(Hint::Changed { .. }) | None => {}
            Some(Hint::Anything) => self.look_everywhere(),
        }
    }

    /// Looks for what others may have written to a shard.
    fn look_for_others(&mut self, shard: u32) {
        for stage in self.written_by_others.clone() {
            self.agenda.look_again(QueueId { stage, lane: Lane::Fresh, shard });
        }
    }

    fn look_everywhere(&mut self) {
        let shards: Vec<u32> = self.serving.borrow().keys().copied().collect();
        for shard in shards.into_iter().filter(|_| !planted!(NoLook)) {
            self.look_for_others(shard);
        }
    }
}

fn log_error(outcome: Result<()>) {
    if let Err(error) = outcome {
        tracing::warn!(%error, "cannot keep the leases of the shards");
    }
}
