//! The re-crawl: asks every stage about every entity, and queues what they want in the background lane.
//!
//! It is ordered once, for all processes ([`Watcher::start_recrawl`]); each of them crawls through its own shards, and keeps in the store how far it has
//! come. Whoever takes over a shard goes on from there.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use store::{Batch, Hint, Key, Outcome, Read, Row};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::ask::Cause;
use crate::bucket::Bucket;
use crate::change::{Versioned, Which, next_version};
use crate::entity::Entity;
use crate::limits::{CRAWL_ROWS_MAX, FITS_MAX};
use crate::queue::{Wanted, leave, offer, waiting};
use crate::relay::Serving;
use crate::rows::{CrawlOrder, CrawlProgress, Entry, Head, Settings, encode};
use crate::shards::Fence;
use crate::stage::Subject;
use crate::tables::{CRAWLS, SETTINGS, STATES};
use crate::time::Time;
use crate::visit::id_of;
use crate::watcher::{Found, Watcher, found, versioned};
use crate::{Error, Result};

/// The pause before the crawler looks again whether there is something to do, should no hint come.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The longest rest after a step.
const REST_MAX: Duration = Duration::from_secs(1);

/// A re-crawl, as far as it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recrawl {
    /// When it was started.
    pub started: Time,
    /// Entities in a second over all processes; `None`: as many as can be.
    pub per_second: Option<u32>,
    /// Whether it is paused.
    pub paused: bool,
    /// Whether it was cancelled before it came to its end.
    pub cancelled: bool,
    /// Whether it has come to its end.
    pub done: bool,
    /// Shards that it has been through, of so many.
    pub shards_done: u32,
    /// All shards.
    pub shards: u32,
    /// Entities that stages were asked about.
    pub seen: u64,
    /// Visits that were queued because of it.
    pub queued: u64,
    /// Entities that could not be read.
    pub damaged: u64,
}

impl<E: Entity> Watcher<E> {
    /// Has every stage asked about every entity, at most so many in a second. Refused while another re-crawl is under way.
    pub async fn start_recrawl(&self, per_second: Option<u32>) -> Result<()> {
        if per_second == Some(0) {
            let what =
                "a re-crawl of 0 entities in a second never ends: leave the limit out, or pause the re-crawl";
            return Err(Error::Setup { what: what.to_owned() });
        }
        // Before the look whether one is under way: whoever starts one after that look has changed this number.
        let before = self.settings().await?.content.crawl.as_option().map_or(0, |order| order.run);
        if let Some(under_way) = self.recrawl().await?
            && !under_way.done
            && !under_way.cancelled
            && !planted!(SecondCrawl)
        {
            let what = format!(
                "a re-crawl of all {} has been under way since {} ({} of {} shards are done): cancel it first",
                E::KIND,
                under_way.started,
                under_way.shards_done,
                under_way.shards
            );
            return Err(Error::Setup { what });
        }
        let (started_ms, per_second) = (self.now().as_ms(), per_second.unwrap_or_default());
        self.change_order(|order| {
            // Somebody else may have started one meanwhile.
            if order.run != before {
                return Err("another re-crawl was started at the same moment");
            }
            *order = CrawlOrder { run: before + 1, started_ms, per_second, ..CrawlOrder::default() };
            Ok(())
        })
        .await
    }

    /// Has the re-crawl rest. Refused if none is under way, as are the other orders for it.
    pub async fn pause_recrawl(&self) -> Result<()> {
        self.change_under_way(|order| order.paused = true).await
    }

    /// Has the re-crawl go on, at most so many entities in a second from now on.
    pub async fn resume_recrawl(&self, per_second: Option<u32>) -> Result<()> {
        let per_second = per_second.unwrap_or_default();
        self.change_under_way(|order| (order.paused, order.per_second) = (false, per_second)).await
    }

    /// Ends the re-crawl where it is. What it has queued stays queued.
    pub async fn cancel_recrawl(&self) -> Result<()> {
        self.change_under_way(|order| order.cancelled = true).await
    }

    /// How far the last re-crawl has come; `None` if there never was one.
    pub async fn recrawl(&self) -> Result<Option<Recrawl>> {
        let settings = self.settings().await?.content;
        let Some(order) = settings.crawl.into_option() else { return Ok(None) };
        let shards = self.rules().config.shards;
        let mut crawl = Recrawl {
            started: Time::from_ms(order.started_ms),
            per_second: (order.per_second > 0).then_some(order.per_second),
            paused: order.paused,
            cancelled: order.cancelled,
            done: false,
            shards_done: 0,
            shards,
            seen: 0,
            queued: 0,
            damaged: 0,
        };
        let keys: Vec<Key> = (0..shards).map(|shard| CRAWLS.key((shard, E::KIND))).collect();
        for keys in keys.chunks(crate::limits::LEASES_IN_A_READ_MAX) {
            for row in self.store().get(keys).await? {
                let progress = versioned::<CrawlProgress>(row)?.content;
                if progress.run == order.run {
                    crawl.shards_done += u32::from(progress.done);
                    crawl.seen += progress.seen;
                    crawl.queued += progress.queued;
                    crawl.damaged += progress.damaged;
                }
            }
        }
        crawl.done = crawl.shards_done == shards;
        // It may have come to its end when the order was on its way.
        crawl.paused &= !crawl.done;
        crawl.cancelled &= !crawl.done;
        Ok(Some(crawl))
    }

    async fn settings(&self) -> Result<Versioned<Settings>> {
        versioned(self.store().get_one(&SETTINGS.key((0, E::KIND))).await?)
    }

    async fn change_under_way(&self, change: impl Fn(&mut CrawlOrder)) -> Result<()> {
        let nothing = "no re-crawl is under way";
        if self.recrawl().await?.is_none_or(|crawl| crawl.done || crawl.cancelled) {
            return Err(Error::Setup { what: nothing.to_owned() });
        }
        self.change_order(|order| {
            if order.cancelled {
                return Err(nothing);
            }
            change(order);
            Ok(())
        })
        .await
    }

    async fn change_order(
        &self,
        change: impl Fn(&mut CrawlOrder) -> std::result::Result<(), &'static str>,
    ) -> Result<()> {
        loop {
            let Versioned { version, content: mut settings } = self.settings().await?;
            let mut order = settings.crawl.take().unwrap_or_default();
            change(&mut order).map_err(|what| Error::Setup { what: what.to_owned() })?;
            settings.crawl = Some(order).into();
            let (key, mut batch) = (SETTINGS.key((0, E::KIND)), Batch::new());
            batch.check(key.clone(), version).put(key, version + 1, encode(&settings));
            if self.store().commit(batch).await?.is_applied() {
                return Ok(());
            }
        }
    }
}

/// Crawls through the shards of this process.
pub(crate) struct Crawler<E: Entity> {
    watcher: Watcher<E>,
    serving: watch::Receiver<Serving>,
    bucket: Option<Bucket>,
}

/// What a step came to.
enum Step {
    /// Stages were asked about so many entities.
    Asked(usize),
    /// The shard was done before, or may not be ours any more: nothing has come of it.
    Over,
}

impl<E: Entity> Crawler<E> {
    pub(crate) fn new(watcher: Watcher<E>, serving: watch::Receiver<Serving>) -> Self {
        Self { watcher, serving, bucket: None }
    }

    /// Works until `stop` turns true.
    pub(crate) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut hints = self.watcher.store().hints();
        while !*stop.borrow() {
            let wait = match self.round(&stop).await {
                Ok(0) => LOOK_EVERY,
                Ok(_) => continue,
                Err(_) if planted!(CrawlGivesUp) => return,
                Err(error) => {
                    tracing::warn!(kind = E::KIND, %error, "the re-crawl cannot go on, will try again");
                    Duration::from_secs(1)
                }
            };
            let until = Instant::now() + wait;
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => {}
                _ = self.serving.changed() => {}
                () = ordered(&mut hints) => {}
                () = sleep_until(until) => {}
            }
        }
    }

    /// One step in each shard that is not done; says how many entities stages were asked about.
    async fn round(&mut self, stop: &watch::Receiver<bool>) -> Result<usize> {
        let Some(mut order) = self.order().await? else { return Ok(0) };
        let (serving, mut asked) = (self.serving.borrow_and_update().clone(), 0);
        for (shard, fence) in &serving {
            loop {
                if *stop.borrow() {
                    return Ok(asked);
                }
                let Some(wait) = self.wait(&order, serving.len()) else { break };
                let mut stop = stop.clone();
                // Whoever is told to stop does not wait.
                let _ = tokio::time::timeout(wait, stop.wait_for(|stop| *stop)).await;
                // What was ordered may have changed.
                match self.order().await? {
                    Some(now) => order = now,
                    None => return Ok(asked),
                }
            }
            let began = Instant::now();
            if let Step::Asked(count) = self.step(&order, *shard, fence).await? {
                // It rests as long as it has worked: others have the machine too.
                tokio::time::sleep(began.elapsed().min(REST_MAX)).await;
                asked += count;
                if let Some(bucket) = &mut self.bucket {
                    bucket.take(count);
                }
            }
        }
        Ok(asked)
    }

    /// What is ordered, if there is something to do.
    async fn order(&self) -> Result<Option<CrawlOrder>> {
        let order = self.watcher.settings().await?.content.crawl.into_option();
        Ok(order.filter(|order| order.run > 0 && !order.paused && !order.cancelled))
    }

    /// How long to wait before the next step; `None` if it may begin.
    fn wait(&mut self, order: &CrawlOrder, serving: usize) -> Option<Duration> {
        if order.per_second == 0 {
            self.bucket = None;
            return None;
        }
        let part = serving as f64 / f64::from(self.watcher.rules().config.shards);
        let per_second = f64::from(order.per_second) * part;
        let bucket = self.bucket.get_or_insert_with(|| Bucket::new(per_second));
        bucket.set_speed(per_second);
        let now = self.watcher.now();
        // A step may take more than there is room for; the next one waits the longer.
        let (room, next) = bucket.room(now);
        (room == 0).then(|| next.since(now).min(LOOK_EVERY))
    }

    /// Asks the stages about the next entities of a shard.
    async fn step(&self, order: &CrawlOrder, shard: u32, fence: &Fence) -> Result<Step> {
        let key = CRAWLS.key((shard, E::KIND));
        let before = versioned::<CrawlProgress>(self.watcher.store().get_one(&key).await?)?;
        let version = before.version;
        let mut progress = before.content;
        if progress.run > order.run {
            // What was ordered is known better by whoever had the shard before.
            return Ok(Step::Over);
        } else if progress.run < order.run || planted!(CrawlAnew) {
            progress = CrawlProgress { run: order.run, ..CrawlProgress::default() };
        } else if progress.done {
            return Ok(Step::Over);
        }
        let rows_max = if order.per_second == 0 {
            CRAWL_ROWS_MAX
        } else {
            (order.per_second as usize).clamp(1, CRAWL_ROWS_MAX)
        };
        let mut scan = E::scan(shard).limit(rows_max);
        if !progress.cursor.is_empty() {
            let table = scan.table();
            scan = scan.after(Key::from_encoded(table, &progress.cursor));
        }
        let page = self.watcher.store().scan(&scan).await?;
        let seen = page.rows.len();
        if let Some(last) = page.rows.last() {
            progress.cursor = last.key.bytes().to_vec();
        }
        let (mut entities, damaged) = readable::<E>(&page.rows);
        entities.retain(|_| !planted!(CrawlSkips) || page.next.is_some());
        let asked = self.ask_about(shard, fence, &entities).await;
        let asked = asked.or_else(|error| if planted!(CrawlLoses) { Ok(Some(0)) } else { Err(error) })?;
        let Some(queued) = asked else { return Ok(Step::Over) };
        progress.queued += queued;
        progress.damaged += damaged;
        progress.seen += seen as u64;
        if page.next.is_none() {
            (progress.done, progress.done_ms) = (true, self.watcher.now().as_ms());
        }
        let mut batch = Batch::new();
        fence.guard(&mut batch);
        batch.check(key.clone(), version).put(key, version + 1, encode(&progress));
        let kept = self.watcher.store().commit(batch).await?.is_applied();
        Ok(if kept { Step::Asked(seen) } else { Step::Over })
    }

    /// Asks all stages about some entities, and queues what they want; says how much that is. `None` if some of it is not queued: it may be that
    /// the shard is not ours any more.
    async fn ask_about(
        &self,
        shard: u32,
        fence: &Fence,
        entities: &[(String, Found<E>)],
    ) -> Result<Option<u64>> {
        let (now, mut wishes) = (self.watcher.now(), vec![BTreeMap::<&str, Wanted>::new(); entities.len()]);
        for (id, stage) in self.watcher.stages() {
            let rows = self.rows_of(shard, entities, id).await?;
            let (mut about, mut subjects) = (Vec::new(), Vec::new());
            for (number, (entry, state)) in rows.into_iter().enumerate() {
                if waiting(&entry).is_none_or(|waits| waits.visit > now) {
                    let Found { entity, version } = entities[number].1.clone();
                    about.push(number);
                    subjects.push(Subject { entity, version, state, now });
                }
            }
            let (answers, _) = self.watcher.ask(stage, &subjects, Cause::RECRAWL).await;
            for (number, wish) in about.into_iter().zip(answers) {
                wishes[number].extend(wish.map(|wish| (id.as_str(), wish)));
            }
        }
        let queue = |((id, _), wishes): (&(String, Found<E>), BTreeMap<&str, Wanted>)| {
            let (id, watcher) = (id.clone(), &self.watcher);
            let wishes: Vec<(String, Wanted)> = wishes.into_iter().map(|(s, w)| (s.to_owned(), w)).collect();
            async move { watcher.queue_wishes_of(shard, &id, fence, &wishes).await }
        };
        let counts = join_all(entities.iter().zip(wishes).map(queue).collect::<Vec<_>>()).await;
        let counts: Option<Vec<u64>> = counts.into_iter().collect::<Result<_>>()?;
        Ok(counts.map(|counts| counts.into_iter().sum()))
    }

    /// Where entities stand with a stage, and its states, in one read.
    async fn rows_of(
        &self,
        shard: u32,
        entities: &[(String, Found<E>)],
        stage: &str,
    ) -> Result<Vec<(Entry, Bytes)>> {
        let mut keys = Vec::with_capacity(2 * entities.len());
        for (id, _) in entities {
            let which = Which { shard, kind: E::KIND, entity: id };
            keys.extend([which.entry_key(stage), STATES.key((shard, E::KIND, &**id, stage))]);
        }
        let mut rows = self.watcher.store().get(&keys).await?.into_iter();
        let mut found = Vec::with_capacity(entities.len());
        for _ in entities {
            let entry = versioned::<Entry>(rows.next().flatten())?.content;
            found.push((entry, rows.next().flatten().map(|row| row.value).unwrap_or_default()));
        }
        Ok(found)
    }
}

impl<E: Entity> Watcher<E> {
    /// Queues what stages want of one entity; says how many visits that are; `None` if the store says that the shard may not be ours any more.
    async fn queue_wishes_of(
        &self,
        shard: u32,
        id: &str,
        fence: &Fence,
        wishes: &[(String, Wanted)],
    ) -> Result<Option<u64>> {
        let which = Which { shard, kind: E::KIND, entity: id };
        if wishes.is_empty() || planted!(CrawlForgets) {
            return Ok(Some(0));
        }
        let id = id_of::<E>(id)?;
        for _ in 0..FITS_MAX {
            let mut keys = vec![E::key(shard, &id), which.head_key()];
            keys.extend(wishes.iter().map(|(stage, _)| which.entry_key(stage)));
            let mut rows = self.store().get(&keys).await?.into_iter();
            let Some(entity) = rows.next().flatten() else { return Ok(Some(0)) };
            let head = versioned::<Head>(rows.next().flatten())?;
            let (mut batch, mut queued, mut is_new) = (Batch::new(), 0, false);
            fence.guard(&mut batch);
            // An entity that is being removed must not be queued.
            batch.check(entity.key, entity.version);
            for ((stage, wish), row) in wishes.iter().zip(rows) {
                let Versioned { version, content: mut entry } = versioned::<Entry>(row)?;
                if planted!(BackgroundFirst) {
                    leave(&mut batch, &which.in_stage(stage), &mut entry);
                }
                // A visit of the background must not take the place of a sooner one.
                if !offer(&mut batch, &which.in_stage(stage), &mut entry, *wish, self.now()) {
                    continue;
                }
                let key = which.entry_key(stage);
                batch.check(key.clone(), version).put(
                    key,
                    next_version(version, &head.content),
                    encode(&entry),
                );
                queued += 1;
                is_new |= version == 0;
            }
            if queued == 0 {
                return Ok(Some(0));
            }
            if is_new {
                // A removal that is under way must notice that there is one more entry.
                let key = which.head_key();
                batch.check(key.clone(), head.version).put(key, head.version + 1, encode(&head.content));
            }
            match self.store().commit(batch).await? {
                Outcome::Applied => return Ok(Some(queued)),
                Outcome::Conflict(keys) if fence.is_among(&keys) => return Ok(None),
                Outcome::Conflict(_) => {}
            }
        }
        // Others touch it all the time, so that the stages hear of it anyway.
        Ok(Some(0))
    }
}

/// The entities that can be read, by their ids, and how many cannot.
fn readable<E: Entity>(rows: &[Row]) -> (Vec<(String, Found<E>)>, u64) {
    let (mut entities, mut damaged) = (Vec::with_capacity(rows.len()), 0);
    for row in rows {
        match found::<E>(row) {
            Ok(found) => entities.push((found.entity.id().to_string(), found)),
            Err(error) => {
                tracing::error!(kind = E::KIND, %error, "a re-crawl passes by an entity that cannot be read");
                damaged += 1;
            }
        }
    }
    (entities, damaged)
}

/// Waits until something was ordered.
async fn ordered(hints: &mut store::Hints) {
    while let Some(hint) = hints.next().await {
        if hint == Hint::Anything
            || matches!(hint, Hint::Changed { table, .. } if table == SETTINGS.def().name)
        {
            return;
        }
    }
    std::future::pending::<()>().await;
}
