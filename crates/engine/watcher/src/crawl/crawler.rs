//! The crawler: goes through the entities of this process's shards in small steps and stores its
//! progress.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use store::{Batch, Hint, Key, Outcome, Read, Row};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::Result;
use crate::ask::Cause;
use crate::change::{EntityRef, Stored};
use crate::enqueue::EnqueueRequest;
use crate::entity::Entity;
use crate::lease::Fence;
use crate::limits::{CRAWL_ROWS_MAX, REBASES_MAX};
use crate::queue::{VisitRequest, queued_visit};
use crate::relay::Serving;
use crate::rows::{CrawlOrder, CrawlProgress, Entry, encode};
use crate::stage::Subject;
use crate::tables::{CRAWLS, SETTINGS, STATES};
use crate::token_bucket::TokenBucket;
use crate::watcher::{Versioned, Watcher, decode_entity};

/// How often the orders are read if no hint comes.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The longest rest after a step.
const REST_MAX: Duration = Duration::from_secs(1);

pub(crate) struct Crawler<E: Entity> {
    watcher: Watcher<E>,
    serving: watch::Receiver<Serving>,
    bucket: Option<TokenBucket>,
}

enum Step {
    /// Stages were asked about this many entities.
    Asked(usize),
    /// The shard is done, or may not be ours any more: nothing was saved.
    Over,
}

impl<E: Entity> Crawler<E> {
    pub(crate) fn new(watcher: Watcher<E>, serving: watch::Receiver<Serving>) -> Self {
        Self { watcher, serving, bucket: None }
    }

    pub(crate) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut hints = self.watcher.store().hints();
        while !*stop.borrow() {
            let wait = match self.round(&stop).await {
                Ok(0) => POLL_INTERVAL,
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

    /// One step in each shard that is not done; returns how many entities stages were asked about.
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
                let _ = tokio::time::timeout(wait, stop.wait_for(|stop| *stop)).await;
                // The order may have changed.
                match self.order().await? {
                    Some(now) => order = now,
                    None => return Ok(asked),
                }
            }
            let began = Instant::now();
            if let Step::Asked(count) = self.step(&order, *shard, fence).await? {
                // It rests as long as it worked, to leave the machine to others.
                tokio::time::sleep(began.elapsed().min(REST_MAX)).await;
                asked += count;
                if let Some(bucket) = &mut self.bucket {
                    bucket.take(count);
                }
            }
        }
        Ok(asked)
    }

    /// The order, if there is something to do.
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
        let part = serving as f64 / f64::from(self.watcher.config().shards);
        let per_second = f64::from(order.per_second) * part;
        let bucket = self.bucket.get_or_insert_with(|| TokenBucket::new(per_second));
        bucket.set_speed(per_second);
        let now = self.watcher.now();
        // A step may take more than there is room for; the next one then waits longer.
        let (room, next) = bucket.room(now);
        (room == 0).then(|| next.since(now).min(POLL_INTERVAL))
    }

    /// Asks the stages about the next entities of a shard.
    async fn step(&self, order: &CrawlOrder, shard: u32, fence: &Fence) -> Result<Step> {
        let key = CRAWLS.key((shard, E::KIND));
        let Stored { version, content: mut progress } =
            Stored::<CrawlProgress>::read(self.watcher.store().get_one(&key).await?)?;
        if progress.run > order.run {
            // An earlier owner of the shard has seen a newer order.
            return Ok(Step::Over);
        } else if progress.run < order.run || planted!(CrawlAnew) {
            progress = CrawlProgress { run: order.run, ..CrawlProgress::default() };
        } else if progress.done {
            return Ok(Step::Over);
        }
        let rows_max = if order.per_second == 0 { usize::MAX } else { order.per_second as usize };
        let mut scan = E::scan(shard).limit(rows_max.clamp(1, CRAWL_ROWS_MAX));
        if !progress.cursor.is_empty() {
            let table = scan.table();
            scan = scan.after(Key::from_encoded(table, &progress.cursor));
        }
        let page = self.watcher.store().scan(&scan).await?;
        if let Some(last) = page.rows.last() {
            progress.cursor = last.key.bytes().to_vec();
        }
        let mut passed = Passed::of(shard, &page.rows);
        passed.entities.retain(|_| !planted!(CrawlSkips) || page.next.is_some());
        self.ask_about(&mut passed).await?;
        progress.damaged += passed.damaged.len() as u64;
        progress.seen += page.rows.len() as u64;
        if page.next.is_none() {
            (progress.done, progress.done_ms) = (true, self.watcher.now().as_ms());
        }
        let kept = self.save_step(fence, &passed, Stored { version, content: progress }).await?;
        Ok(if kept { Step::Asked(page.rows.len()) } else { Step::Over })
    }

    /// Asks all stages about some entities.
    async fn ask_about(&self, passed: &mut Passed<'_, E>) -> Result<()> {
        let now = self.watcher.now();
        let rules = self.watcher.rules();
        for (id, rule) in &rules.stages {
            let rows = self.rows_of(passed, id).await?;
            let (mut about, mut subjects) = (Vec::new(), Vec::new());
            for ((row, found), (entry, state)) in passed.entities.iter().zip(rows) {
                match entry {
                    Ok(entry) if queued_visit(&entry).is_some_and(|waits| waits.visit <= now) => {}
                    Ok(_) => {
                        let Versioned { entity, version, .. } = found.clone();
                        about.push(*row);
                        subjects.push(Subject { entity, version, state, now });
                    }
                    Err(error) => {
                        tracing::error!(kind = E::KIND, stage = id, %error, "a re-crawl passes by an entity");
                        passed.damaged.insert(row.key.clone());
                    }
                }
            }
            let (answers, _) = self.watcher.ask(&rules, rule, &subjects, Cause::RECRAWL).await;
            for (row, schedule) in about.into_iter().zip(answers) {
                let requests = passed.requests.entry(row.key.clone()).or_default();
                requests.extend(schedule.map(|schedule| (id.clone(), schedule)));
            }
        }
        Ok(())
    }

    /// The entries and states of a stage, in one read.
    async fn rows_of(&self, passed: &Passed<'_, E>, stage: &str) -> Result<Vec<(Result<Entry>, Bytes)>> {
        let mut keys = Vec::with_capacity(2 * passed.entities.len());
        for (_, found) in &passed.entities {
            let id = found.entity.id().to_string();
            let which = EntityRef { shard: passed.shard, kind: E::KIND, entity: &id };
            keys.extend([which.entry_key(stage), STATES.key((passed.shard, E::KIND, &*id, stage))]);
        }
        let mut rows = self.watcher.store().get(&keys).await?.into_iter();
        let row_of = |_| {
            let entry = Stored::<Entry>::read(rows.next().flatten()).map(|entry| entry.content);
            (entry, rows.next().flatten().map(|row| row.value).unwrap_or_default())
        };
        Ok(passed.entities.iter().map(row_of).collect())
    }

    /// Enqueues what stages want and stores the progress, in one commit; says whether it applied.
    /// If not, the shard may not be ours any more, or the entities change all the time: the step
    /// must be made again.
    async fn save_step(
        &self,
        fence: &Fence,
        passed: &Passed<'_, E>,
        progress: Stored<CrawlProgress>,
    ) -> Result<bool> {
        let key = CRAWLS.key((passed.shard, E::KIND));
        for _ in 0..REBASES_MAX {
            let (mut batch, mut kept) = (Batch::new(), progress.content.clone());
            fence.guard(&mut batch);
            kept.queued += self.enqueue_passed(&mut batch, passed).await?;
            batch.check(key.clone(), progress.version).put(key.clone(), progress.version + 1, encode(&kept));
            match self.watcher.store().commit(batch).await? {
                Outcome::Applied => return Ok(true),
                Outcome::Conflict(keys) if fence.is_among(&keys) || keys.contains(&key) => return Ok(false),
                Outcome::Conflict(_) => {}
            }
        }
        Ok(false)
    }

    /// Adds the visits that stages want to a batch; returns their number.
    async fn enqueue_passed(&self, batch: &mut Batch, passed: &Passed<'_, E>) -> Result<u64> {
        let with_id =
            |(row, found): &(&'_ Row, Versioned<E>)| (row.key.clone(), found.entity.id().to_string());
        let ids: Vec<(Key, String)> = passed.entities.iter().map(with_id).collect();
        let mut wanted = Vec::new();
        for ((entity, id), (row, _)) in ids.iter().zip(&passed.entities) {
            if let Some(requests) = passed.requests.get(entity)
                && !requests.is_empty()
                && !planted!(CrawlForgets)
            {
                let which = EntityRef { shard: passed.shard, kind: E::KIND, entity: id };
                wanted.push(EnqueueRequest {
                    entity: which,
                    row: entity.clone(),
                    version: row.version,
                    visits: requests,
                });
            }
        }
        self.watcher.enqueue_all(batch, &wanted, false).await
    }
}

/// The entities of a step, by their rows, and the visits that stages want of them.
struct Passed<'a, E> {
    shard: u32,
    entities: Vec<(&'a Row, Versioned<E>)>,
    /// Entities and entries that cannot be read.
    damaged: BTreeSet<Key>,
    /// By the key of the entity's row.
    requests: BTreeMap<Key, BTreeMap<String, VisitRequest>>,
}

impl<'a, E: Entity> Passed<'a, E> {
    fn of(shard: u32, rows: &'a [Row]) -> Self {
        let (mut entities, mut damaged) = (Vec::with_capacity(rows.len()), BTreeSet::new());
        for row in rows {
            match decode_entity::<E>(row) {
                Ok(found) => entities.push((row, found)),
                Err(error) => {
                    tracing::error!(kind = E::KIND, %error, "a re-crawl passes by an entity that cannot be read");
                    damaged.insert(row.key.clone());
                }
            }
        }
        Self { shard, entities, damaged, requests: BTreeMap::new() }
    }
}

/// Waits for a new order.
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
