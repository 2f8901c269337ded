//! The watcher as its users hold it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use buffa::Message;
use bytes::Bytes;
use rand::RngExt;
use rand::rngs::StdRng;
use store::{Batch, Key, Read, Row, Scan, Store};
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use topics::Topics;

use crate::board::Board;
use crate::budget::Fight;
use crate::change::{Event, Rules, Standing, Versioned, Which, record, record_removal};
use crate::config::{Config, StageLimits};
use crate::entity::{Entity, Evolved, shard_of};
use crate::fields::Fields;
use crate::limits::{ENTITY_BYTES_MAX, ENTITY_ID_BYTES_MAX, READ_KEYS_MAX};
use crate::queue::leave;
use crate::relay::Serving;
use crate::rows::{Entry, Head, decode};
use crate::run::Stages;
use crate::shards::{Fence, Keeper};
use crate::stage::{Stage, Wish};
use crate::tables::{ENTRIES, STATES};
use crate::time::{Clock, Time};
use crate::{Error, Result};

/// One kind of entities and the stages that make them evolve. Cheap to clone; all clones are one watcher.
pub struct Watcher<E: Entity> {
    pub(crate) inner: Arc<Inner<E>>,
}

impl<E: Entity> Clone for Watcher<E> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

pub(crate) struct Inner<E: Entity> {
    pub(crate) store: Store,
    /// Where changes go.
    pub(crate) topic: Option<(Topics, String)>,
    pub(crate) clock: Clock,
    pub(crate) rules: Rules,
    pub(crate) stages: Stages<E>,
    pub(crate) random: Mutex<StdRng>,
    pub(crate) board: Board,
    /// Stages may be asked as many questions at a time as they may have calls.
    pub(crate) turns: BTreeMap<String, Semaphore>,
    /// The shards that this process serves.
    pub(crate) serving: watch::Sender<Serving>,
}

/// How a watcher is set up. By default it has no topic and no stages, and goes by the clock of the system.
pub struct Setup<'a, E: Entity> {
    /// The topic that hears of every change. It must exist.
    pub topic: Option<(&'a Topics, &'a str)>,
    /// What time it is.
    pub clock: Clock,
    /// Shards, limits, delays.
    pub config: Config,
    /// The stages, in any order.
    pub stages: Vec<Arc<dyn Stage<E>>>,
    /// Decides what is random.
    pub seed: u64,
}

impl<E: Entity> Default for Setup<'_, E> {
    fn default() -> Self {
        let (clock, config, seed) = (Clock::system(), Config::default(), rand::rng().random());
        Self { topic: None, clock, config, stages: Vec::new(), seed }
    }
}

/// An entity with its version.
#[derive(Clone, Debug)]
pub struct Found<E> {
    /// The entity.
    pub entity: E,
    /// Its version.
    pub version: u64,
    /// Where it stood when it was found, if that was read too.
    standing: Option<Arc<Ready>>,
}

impl<E: PartialEq> PartialEq for Found<E> {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version && self.entity == other.entity
    }
}

impl<E: Eq> Eq for Found<E> {}

impl<E> Found<E> {
    /// An entity of which the caller knows what is stored. Whoever is wrong about it gets a conflict.
    #[must_use]
    pub const fn known(entity: E, version: u64) -> Self {
        Self { entity, version, standing: None }
    }
}

/// The head of an entity and its entries with some stages.
#[derive(Clone, Debug, Default)]
struct Ready {
    head: Versioned<Head>,
    entries: BTreeMap<String, Versioned<Entry>>,
}

impl<E: Entity> Watcher<E> {
    /// The entity of this id.
    pub async fn load(&self, id: &E::Id) -> Result<Option<Found<E>>> {
        let row = self.inner.store.get_one(&E::key(self.shard(&id.to_string()), id)).await?;
        row.map(|row| found(&row)).transpose()
    }

    /// The entity of this id, of which these fields may change: what [`save`](Self::save) has to know then is read at the same time.
    /// Others may change too, and cost a read more.
    pub async fn load_to_change(&self, id: &E::Id, fields: &Fields) -> Result<Option<Found<E>>> {
        let text = id.to_string();
        let which = Which { shard: self.shard(&text), kind: E::KIND, entity: &text };
        let stages = self.rules().visitors(None, fields);
        let mut keys = vec![E::key(which.shard, id), which.head_key()];
        keys.extend(stages.iter().map(|stage| which.entry_key(stage)));
        let mut rows = self.get_all(&keys).await?.into_iter();
        let Some(row) = rows.next().flatten() else { return Ok(None) };
        let mut ready = Ready { head: versioned(rows.next().flatten())?, ..Ready::default() };
        for (stage, row) in stages.into_iter().zip(rows) {
            ready.entries.insert(stage.to_owned(), versioned(row)?);
        }
        Ok(Some(Found { standing: Some(Arc::new(ready)), ..found(&row)? }))
    }

    /// Adds to a batch that an entity becomes `after`, and everything that follows from it: its next version, the visits of the stages, the row for
    /// the topic. `before` is what the change was made from; `None` for a new entity. Returns the new version.
    ///
    /// The batch is in conflict if the entity, or where it stands with its stages, changed meanwhile: load and decide again. A batch
    /// carries at most one change of an entity.
    pub async fn save(&self, batch: &mut Batch, before: Option<&Found<E>>, after: &E) -> Result<u64> {
        let (text, entity) = require_fit(before, after)?;
        let which = Which { shard: self.shard(&text), kind: E::KIND, entity: &text };
        let changed = before.map_or_else(Fields::all, |before| E::changed_fields(&before.entity, after));
        let ready = before.and_then(|before| before.standing.as_deref());
        let standing = match ready.and_then(|ready| self.standing_of(ready, &changed)) {
            Some(standing) => standing,
            None => self.standing(which, None, &changed).await?,
        };
        Ok(self.add_save(batch, which, before, (after, entity, changed), standing))
    }

    /// [`save`](Self::save) for several entities, with one read for all. The versions are in the same order.
    pub async fn save_many(
        &self,
        batch: &mut Batch,
        changes: &[(Option<&Found<E>>, &E)],
    ) -> Result<Vec<u64>> {
        let mut fit = Vec::with_capacity(changes.len());
        for (before, after) in changes {
            let changed = before.map_or_else(Fields::all, |before| E::changed_fields(&before.entity, after));
            fit.push((require_fit(*before, after)?, changed));
        }
        let which = |text| Which { shard: self.shard(text), kind: E::KIND, entity: text };
        let asked = fit.iter().map(|((text, _), changed)| (which(text), None, changed.clone()));
        let standings = self.standings(&asked.collect::<Vec<_>>()).await?;
        let mut versions = Vec::with_capacity(changes.len());
        for (((before, after), ((text, entity), changed)), standing) in
            changes.iter().zip(&fit).zip(standings)
        {
            let after = (*after, entity.clone(), changed.clone());
            versions.push(self.add_save(batch, which(text), *before, after, standing));
        }
        Ok(versions)
    }

    fn add_save(
        &self,
        batch: &mut Batch,
        which: Which<'_>,
        before: Option<&Found<E>>,
        (after, entity, changed): (&E, Bytes, Fields),
        standing: Standing<'_>,
    ) -> u64 {
        let (seen, last) = match before {
            Some(before) => (before.version, before.version),
            // Whoever makes and removes the same entity meanwhile writes the head, and then this batch is in conflict.
            None => (0, standing.head.content.removed_version),
        };
        let (key, version) = (E::key(which.shard, &after.id()), last + 1);
        batch.check(key.clone(), seen).put(key, version, entity.clone());
        let (entity, now) = (Some(entity), self.now());
        let entities = (before.map(|before| &before.entity), Some(after));
        self.follow_up(batch, which, entities, &changed, (version, None, now));
        let (author, state, signature) = (None, Bytes::new(), after.signature());
        let event = Event { entity, version, changed, author, state, signature, now };
        // Only changes by stages are counted.
        let _: Option<Fight> = self.record(batch, which, &event, standing, after);
        version
    }

    /// Adds to a batch that an entity is gone, with its queue rows and the states of all stages. The topic hears of it. Returns the version
    /// that the removal has; an entity of the same id that is made later goes on from there.
    pub async fn remove(&self, batch: &mut Batch, before: &Found<E>) -> Result<u64> {
        let id = before.entity.id();
        let text = id.to_string();
        let which = Which { shard: self.shard(&text), kind: E::KIND, entity: &text };
        let (key, version) = (E::key(which.shard, &id), before.version + 1);
        batch.check(key.clone(), before.version).delete(key);
        // Before the entries: whoever makes another one writes the head too, and then this batch is in conflict.
        let (head, mut entries_version) = (self.head(which).await?, 0);
        for row in self.rows(&ENTRIES.prefix((which.shard, E::KIND, &*text))).await? {
            if planted!(Leftovers) {
                continue;
            }
            let (.., stage) = ENTRIES.parts(&row.key)?;
            leave(batch, &which.in_stage(&stage), &mut decode::<Entry>(&row)?);
            entries_version = entries_version.max(row.version);
            batch.check(row.key.clone(), row.version).delete(row.key);
        }
        for row in self.rows(&STATES.prefix((which.shard, E::KIND, &*text))).await? {
            entries_version = entries_version.max(row.version);
            batch.check(row.key.clone(), row.version).delete(row.key);
        }
        let (changed, now) = (Fields::all(), self.now());
        self.follow_up(batch, which, (Some(&before.entity), None), &changed, (version, None, now));
        let (author, state, signature) = (None, Bytes::new(), before.entity.signature());
        let event = Event { entity: None, version, changed, author, state, signature, now };
        record_removal(batch, which, &event, head, entries_version);
        Ok(version)
    }

    /// Adds what the entity itself wants to be saved with a change.
    pub(crate) fn follow_up(
        &self,
        batch: &mut Batch,
        which: Which<'_>,
        (before, after): (Option<&E>, Option<&E>),
        changed: &Fields,
        (version, stage, now): (u64, Option<&str>, Time),
    ) {
        let (shard, shards) = (which.shard, self.rules().config.shards);
        E::follow_up(&Evolved { shard, shards, before, after, changed, version, stage, now }, batch);
    }

    /// All rows of a short scan.
    pub(crate) async fn rows(&self, scan: &Scan) -> Result<Vec<Row>> {
        let (mut scan, mut rows) = (scan.clone(), Vec::new());
        loop {
            let page = self.store().scan(&scan).await?;
            rows.extend(page.rows);
            let Some(next) = page.next else { return Ok(rows) };
            scan = scan.after(next);
        }
    }

    /// Rows of any number of keys.
    pub(crate) async fn get_all(&self, keys: &[Key]) -> Result<Vec<Option<Row>>> {
        if keys.len() <= READ_KEYS_MAX {
            return Ok(self.store().get(keys).await?);
        }
        let mut rows = Vec::with_capacity(keys.len());
        for keys in keys.chunks(READ_KEYS_MAX) {
            rows.extend(self.store().get(keys).await?);
        }
        Ok(rows)
    }

    pub(crate) async fn head(&self, which: Which<'_>) -> Result<Versioned<Head>> {
        versioned(self.store().get_one(&which.head_key()).await?)
    }

    /// Where an entity stands of which these fields change.
    pub(crate) async fn standing(
        &self,
        which: Which<'_>,
        author: Option<&str>,
        changed: &Fields,
    ) -> Result<Standing<'_>> {
        let standings = self.standings(&[(which, author, changed.clone())]).await?;
        standings
            .into_iter()
            .next()
            .ok_or_else(|| Error::Setup { what: "one question, no answer".to_owned() })
    }

    /// Where an entity stands of which these fields change, from what was read with it; `None` if that is not all.
    fn standing_of(&self, ready: &Ready, changed: &Fields) -> Option<Standing<'_>> {
        let entry = |stage| Some((stage, ready.entries.get(stage)?.clone()));
        let entries = self.rules().visitors(None, changed).into_iter().map(entry).collect::<Option<_>>()?;
        Some(Standing { head: ready.head.clone(), entries })
    }

    /// Where several entities stand, in one read.
    pub(crate) async fn standings(
        &self,
        changes: &[(Which<'_>, Option<&str>, Fields)],
    ) -> Result<Vec<Standing<'_>>> {
        let visitors: Vec<Vec<&str>> =
            changes.iter().map(|(_, author, changed)| self.rules().visitors(*author, changed)).collect();
        let mut keys = Vec::new();
        for ((which, ..), stages) in changes.iter().zip(&visitors) {
            keys.push(which.head_key());
            keys.extend(stages.iter().map(|stage| which.entry_key(stage)));
        }
        let mut rows = self.get_all(&keys).await?.into_iter();
        let mut standings = Vec::with_capacity(changes.len());
        for stages in visitors {
            let head = versioned(rows.next().flatten())?;
            let mut entries = BTreeMap::new();
            for stage in stages {
                entries.insert(stage, versioned(rows.next().flatten())?);
            }
            standings.push(Standing { head, entries });
        }
        Ok(standings)
    }

    /// Adds to a batch all that follows from a change; says for how long stages are put off because they fight over the entity.
    pub(crate) fn record(
        &self,
        batch: &mut Batch,
        which: Which<'_>,
        event: &Event<'_>,
        standing: Standing<'_>,
        after: &E,
    ) -> Option<Fight> {
        let random = |most: Duration| self.random_part(most);
        let wish = |stage: &str| self.wish_after_change(stage, after, event.now);
        record(batch, self.rules(), which, event, standing, wish, random)
    }

    /// When a stage wants to visit a changed entity. One that panics over it is to see for itself.
    fn wish_after_change(&self, stage: &str, after: &E, now: Time) -> Wish {
        let Some(stage) = self.stage(stage) else { return Wish::Now };
        catch_unwind(AssertUnwindSafe(|| stage.visit_after_change(after, now))).unwrap_or(Wish::Now)
    }

    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    /// The clock that the watcher goes by.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// The shards that this process serves while it [runs](Self::run), each with the right to write in it. For work that goes on beside the stages
    /// and must be done by one process at a time: it begins when it sees a fence, [guards](Fence::guard) all that it commits, and begins anew when the fence is another one.
    #[must_use]
    pub fn serving(&self) -> watch::Receiver<BTreeMap<u32, Fence>> {
        self.inner.serving.subscribe()
    }

    pub(crate) fn tell_serving(&self, serving: Serving) {
        self.inner.serving.send_replace(serving);
    }

    /// How many shards there are.
    #[must_use]
    pub fn shards(&self) -> u32 {
        self.inner.rules.config.shards
    }

    pub(crate) fn now(&self) -> Time {
        self.inner.clock.now()
    }

    pub(crate) fn topic(&self) -> Option<(&Topics, &str)> {
        self.inner.topic.as_ref().map(|(topics, topic)| (topics, &**topic))
    }

    pub(crate) fn board(&self) -> &Board {
        &self.inner.board
    }

    pub(crate) fn stages(&self) -> &Stages<E> {
        &self.inner.stages
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.inner.rules
    }

    pub(crate) fn stage(&self, id: &str) -> Option<&Arc<dyn Stage<E>>> {
        self.inner.stages.get(id)
    }

    /// Waits until a stage may be asked one question more.
    pub(crate) async fn turn_to_ask(&self, stage: &str) -> Option<SemaphorePermit<'_>> {
        // It is never closed.
        self.inner.turns.get(stage)?.acquire().await.ok()
    }

    pub(crate) fn spread(&self) -> Duration {
        self.inner.rules.config.spread
    }

    pub(crate) fn keeper(&self, instance: String) -> Keeper {
        let Config { shards, lease_time, .. } = self.inner.rules.config;
        Keeper::new(self.inner.store.clone(), self.inner.clock.clone(), E::KIND, shards, lease_time, instance)
    }

    pub(crate) fn limits_of(&self, stage: &str) -> &StageLimits {
        self.inner.rules.config.limits_of(stage)
    }

    pub(crate) fn shard(&self, id: &str) -> u32 {
        shard_of(id, self.inner.rules.config.shards)
    }

    pub(crate) fn random_number(&self) -> u64 {
        self.inner.random.lock().unwrap_or_else(PoisonError::into_inner).random()
    }

    pub(crate) fn random_part(&self, most: Duration) -> Duration {
        let mut random = self.inner.random.lock().unwrap_or_else(PoisonError::into_inner);
        most.mul_f64(random.random_range(0.0..1.0))
    }
}

/// The id as text and the entity as bytes, if it can be kept.
fn require_fit<E: Entity>(before: Option<&Found<E>>, after: &E) -> Result<(String, Bytes)> {
    let text = after.id().to_string();
    let refuse = |what: &str| Err(Error::Refused { kind: E::KIND, id: text.clone(), what: what.to_owned() });
    if text.is_empty() || text.len() > ENTITY_ID_BYTES_MAX || text.contains('\0') {
        return refuse(&format!("an id must have from 1 to {ENTITY_ID_BYTES_MAX} bytes, and no NUL"));
    }
    if text.parse::<E::Id>().is_err() {
        return refuse("the id cannot be read back from its text");
    }
    if before.is_some_and(|before| before.entity.id() != after.id()) {
        return refuse("an entity cannot change its id");
    }
    let bytes = after.encode();
    if bytes.len() > ENTITY_BYTES_MAX {
        return refuse(&format!("it has {} bytes, at most {ENTITY_BYTES_MAX} can be kept", bytes.len()));
    }
    Ok((text, bytes))
}

pub(crate) fn found<E: Entity>(row: &Row) -> Result<Found<E>> {
    // A panic over one entity must not end anything else.
    let decoded = catch_unwind(|| E::decode(&row.value));
    let decoded = decoded.unwrap_or_else(|_| Err("its code panicked over these bytes".to_owned()));
    let entity = decoded.map_err(|detail| damaged(&row.key, detail))?;
    Ok(Found { entity, version: row.version, standing: None })
}

fn damaged(key: &Key, detail: String) -> Error {
    Error::Damaged { place: key.to_string(), detail }
}

pub(crate) fn versioned<M: Message + Default>(row: Option<Row>) -> Result<Versioned<M>> {
    let Some(row) = row else { return Ok(Versioned::default()) };
    Ok(Versioned { version: row.version, content: decode(&row)? })
}
