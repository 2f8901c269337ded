//! The watcher as its users hold it: loading, saving and removing entities.

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use parking_lot::Mutex;
use rand::RngExt;
use rand::rngs::StdRng;
use store::{Batch, Key, Read, Row, Scan, Store};
use tokio::sync::watch;
use topics::Topics;

use crate::change::{EnqueueState, EntityRef, Event, Stored, record_removal};
use crate::config::{Config, StageLimits};
use crate::entity::{Entity, Prepared, shard_of};
use crate::fields::Fields;
use crate::lease::Fence;
use crate::limits::READ_KEYS_MAX;
use crate::queue::dequeue;
use crate::relay::Serving;
use crate::rows::{Entry, Head, decode};
use crate::rules::Rules;
use crate::stage::Stage;
use crate::status::LiveStatus;
use crate::tables::{ENTRIES, STATES};
use crate::{Error, Result};
use clock::{Clock, Time};

/// One kind of entities and the stages that change them. Cheap to clone; all clones are one
/// watcher.
#[derive(Clone)]
pub struct Watcher<E: Entity> {
    pub(crate) inner: Arc<Inner<E>>,
    /// The stages of this handle; `None`: those that were set last.
    pub(crate) pinned: Option<Arc<Rules<E>>>,
}

pub(crate) struct Inner<E: Entity> {
    pub(crate) store: Store,
    /// Where changes are exported to.
    pub(crate) topic: Option<(Topics, String)>,
    pub(crate) clock: Clock,
    pub(crate) config: Config,
    pub(crate) rules: ArcSwap<Rules<E>>,
    pub(crate) random: Mutex<StdRng>,
    pub(crate) status: LiveStatus,
    /// The shards that this process serves.
    pub(crate) serving: watch::Sender<Serving>,
}

/// How a watcher is set up. By default it has no topic and no stages, and uses the system clock.
pub struct Setup<'a, E: Entity> {
    /// The topic that every change is exported to. It must exist.
    pub topic: Option<(&'a Topics, &'a str)>,
    pub clock: Clock,
    pub config: Config,
    /// In any order.
    pub stages: Vec<Arc<dyn Stage<E>>>,
    /// Seeds everything that is random.
    pub seed: u64,
}

impl<E: Entity> Default for Setup<'_, E> {
    fn default() -> Self {
        let seed = rand::rng().random();
        Self { topic: None, clock: Clock::system(), config: Config::default(), stages: Vec::new(), seed }
    }
}

/// An entity with its version.
#[derive(Clone, Debug)]
pub struct Versioned<E> {
    pub entity: E,
    pub version: u64,
    /// Its queue state, if that was read together with it.
    enqueue_state: Option<Arc<EnqueueState>>,
}

impl<E: PartialEq> PartialEq for Versioned<E> {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version && self.entity == other.entity
    }
}

impl<E: Eq> Eq for Versioned<E> {}

impl<E> Versioned<E> {
    /// An entity of which the caller knows what is stored. If the caller is wrong, the save is in
    /// conflict.
    #[must_use]
    pub const fn known(entity: E, version: u64) -> Self {
        Self { entity, version, enqueue_state: None }
    }
}

impl<E: Entity> Watcher<E> {
    /// The entity of this id.
    pub async fn load(&self, id: &E::Id) -> Result<Option<Versioned<E>>> {
        let row = self.store().get_one(&E::key(self.shard(&id.to_string()), id)).await?;
        row.map(|row| decode_entity(&row)).transpose()
    }

    /// The entity of this id, to change these fields: reads at the same time what
    /// [`save`](Self::save) needs. Other fields may change too, at the cost of another read.
    pub async fn load_to_change(&self, id: &E::Id, fields: &Fields) -> Result<Option<Versioned<E>>> {
        let (text, rules) = (id.to_string(), self.rules());
        let entity = self.entity_ref(&text);
        let stages: Vec<&str> = rules.visitors(None, fields).collect();
        let mut keys = vec![E::key(entity.shard, id), entity.head_key()];
        keys.extend(stages.iter().map(|stage| entity.entry_key(stage)));
        let mut rows = self.get_all(&keys).await?.into_iter();
        let Some(row) = rows.next().flatten() else { return Ok(None) };
        let head = Stored::read(rows.next().flatten())?;
        let entries =
            stages.into_iter().zip(rows).map(|(stage, row)| Ok((stage.to_owned(), Stored::read(row)?)));
        let state = EnqueueState { head, entries: entries.collect::<Result<_>>()? };
        Ok(Some(Versioned { enqueue_state: Some(Arc::new(state)), ..decode_entity(&row)? }))
    }

    /// Adds to a batch that an entity becomes `after`, with everything that follows: its next
    /// version, the visits of the stages, the row for the topic. `before` is what the change was
    /// made from; `None` for a new entity. Returns the new version.
    ///
    /// The batch is in conflict if the entity or its queue state changed meanwhile: load and decide
    /// again. A batch carries at most one change of an entity.
    pub async fn save(&self, batch: &mut Batch, before: Option<&Versioned<E>>, after: &E) -> Result<u64> {
        self.save_prepared(batch, before, &Prepared::new(before, after)?).await
    }

    /// [`save`](Self::save) of a change that was prepared from the same `before`.
    pub async fn save_prepared(
        &self,
        batch: &mut Batch,
        before: Option<&Versioned<E>>,
        change: &Prepared<'_, E>,
    ) -> Result<u64> {
        let (id, rules) = (change.after.id().to_string(), self.rules());
        let known = before.and_then(|before| before.enqueue_state.as_deref());
        let state = match known.and_then(|known| known.of_stages(rules.visitors(None, &change.fields))) {
            Some(state) => state,
            None => self.enqueue_state(&rules, self.entity_ref(&id), None, &change.fields).await?,
        };
        Ok(self.add_save(batch, &rules, self.entity_ref(&id), before, change, state))
    }

    /// [`save`](Self::save) of several entities, with one read for all. Returns the versions in the
    /// same order.
    pub async fn save_many(
        &self,
        batch: &mut Batch,
        changes: &[(Option<&Versioned<E>>, &E)],
    ) -> Result<Vec<u64>> {
        let rules = self.rules();
        let mut prepared = Vec::with_capacity(changes.len());
        for (before, after) in changes {
            prepared.push((after.id().to_string(), *before, Prepared::new(*before, after)?));
        }
        let of: Vec<_> =
            prepared.iter().map(|(id, _, change)| (self.entity_ref(id), None, &change.fields)).collect();
        let states = self.enqueue_states(&rules, &of).await?;
        let saves = prepared.iter().zip(states).map(|((id, before, change), state)| {
            self.add_save(batch, &rules, self.entity_ref(id), *before, change, state)
        });
        Ok(saves.collect())
    }

    fn add_save(
        &self,
        batch: &mut Batch,
        rules: &Rules<E>,
        entity: EntityRef<'_>,
        before: Option<&Versioned<E>>,
        change: &Prepared<'_, E>,
        state: EnqueueState,
    ) -> u64 {
        let (seen, last) = match before {
            Some(before) => (before.version, before.version),
            // Creating and removing the entity meanwhile writes the head: the batch is in conflict.
            None => (0, state.head.content.removed_version),
        };
        batch.check(E::key(entity.shard, &change.after.id()), seen);
        let event = Event {
            entity: Some(&change.bytes),
            version: last + 1,
            changed: &change.fields,
            stage: None,
            state: Bytes::new(),
            author: change.after.author(),
            now: self.now(),
        };
        // Only changes by stages count as fights.
        let before = before.map(|before| &before.entity);
        let _ = self.add_change(batch, rules, entity, &event, (before, change), state);
        event.version
    }

    /// Adds to a batch that an entity is removed, with its queue rows and the states of all stages.
    /// The removal is exported to the topic. Returns its version; a later entity of the same id
    /// continues from there.
    pub async fn remove(&self, batch: &mut Batch, before: &Versioned<E>) -> Result<u64> {
        let id = before.entity.id();
        let text = id.to_string();
        let entity = self.entity_ref(&text);
        let key = E::key(entity.shard, &id);
        batch.check(key.clone(), before.version).delete(key);
        // Before the entries: adding an entry writes the head too, so this batch is then in
        // conflict.
        let head = self.head(entity).await?;
        let mut entries_version = 0;
        let entries = self.rows(&ENTRIES.prefix((entity.shard, E::KIND, &*text))).await?;
        for row in &entries {
            let (.., stage) = ENTRIES.parts(&row.key)?;
            dequeue(batch, &entity.in_stage(&stage), &mut decode::<Entry>(row)?);
        }
        let states = self.rows(&STATES.prefix((entity.shard, E::KIND, &*text))).await?;
        for row in entries.into_iter().chain(states) {
            entries_version = entries_version.max(row.version);
            batch.check(row.key.clone(), row.version).delete(row.key);
        }
        let event = Event {
            entity: None,
            version: before.version + 1,
            changed: &Fields::all(),
            stage: None,
            state: Bytes::new(),
            author: before.entity.author(),
            now: self.now(),
        };
        self.derive_rows(batch, entity, &event, Some(&before.entity), None);
        record_removal(batch, entity, &event, head, entries_version);
        Ok(event.version)
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
        let mut rows = Vec::with_capacity(keys.len());
        for keys in keys.chunks(READ_KEYS_MAX) {
            rows.extend(self.store().get(keys).await?);
        }
        Ok(rows)
    }

    pub(crate) async fn head(&self, entity: EntityRef<'_>) -> Result<Stored<Head>> {
        Stored::read(self.store().get_one(&entity.head_key()).await?)
    }

    /// What must be read of an entity to change these fields.
    pub(crate) async fn enqueue_state(
        &self,
        rules: &Rules<E>,
        entity: EntityRef<'_>,
        stage: Option<&str>,
        changed: &Fields,
    ) -> Result<EnqueueState> {
        Ok(self.enqueue_states(rules, &[(entity, stage, changed)]).await?.pop().unwrap_or_default())
    }

    /// [`enqueue_state`](Self::enqueue_state) of several entities, in one read.
    pub(crate) async fn enqueue_states(
        &self,
        rules: &Rules<E>,
        changes: &[(EntityRef<'_>, Option<&str>, &Fields)],
    ) -> Result<Vec<EnqueueState>> {
        let visitors = |(_, stage, changed): &(_, Option<&str>, &Fields)| -> Vec<String> {
            rules.visitors(*stage, changed).map(str::to_owned).collect()
        };
        let visitors: Vec<Vec<String>> = changes.iter().map(visitors).collect();
        let mut keys = Vec::new();
        for ((entity, ..), stages) in changes.iter().zip(&visitors) {
            keys.push(entity.head_key());
            keys.extend(stages.iter().map(|stage| entity.entry_key(stage)));
        }
        let mut rows = self.get_all(&keys).await?.into_iter();
        let mut next = || rows.next().flatten();
        let state = |stages: Vec<String>| -> Result<EnqueueState> {
            let head = Stored::read(next())?;
            let entries = stages.into_iter().map(|stage| Ok((stage, Stored::read(next())?)));
            Ok(EnqueueState { head, entries: entries.collect::<Result<_>>()? })
        };
        visitors.into_iter().map(state).collect()
    }

    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// The shards that this process serves while it [runs](Self::run), each with the right to write
    /// in it. For other work that one process at a time must do: start when a fence appears,
    /// [guard](Fence::guard) every commit, and start over when the fence is another one.
    #[must_use]
    pub fn serving(&self) -> watch::Receiver<BTreeMap<u32, Fence>> {
        self.inner.serving.subscribe()
    }

    pub(crate) fn publish_serving(&self, serving: Serving) {
        self.inner.serving.send_replace(serving);
    }

    /// The number of shards.
    #[must_use]
    pub fn shards(&self) -> u32 {
        self.inner.config.shards
    }

    pub(crate) fn now(&self) -> Time {
        self.inner.clock.now()
    }

    pub(crate) fn topic(&self) -> Option<(&Topics, &str)> {
        self.inner.topic.as_ref().map(|(topics, topic)| (topics, &**topic))
    }

    pub(crate) fn status(&self) -> &LiveStatus {
        &self.inner.status
    }

    pub(crate) fn config(&self) -> &Config {
        &self.inner.config
    }

    /// The stages; a caller that needs them twice must ask once.
    pub(crate) fn rules(&self) -> Arc<Rules<E>> {
        self.pinned.clone().unwrap_or_else(|| self.inner.rules.load_full())
    }

    pub(crate) fn limits_of(&self, stage: &str) -> StageLimits {
        self.rules().stages.get(stage).map_or(self.config().stages, |rule| rule.limits)
    }

    pub(crate) fn shard(&self, id: &str) -> u32 {
        shard_of(id, self.shards())
    }

    pub(crate) fn entity_ref<'a>(&self, id: &'a str) -> EntityRef<'a> {
        EntityRef { shard: self.shard(id), kind: E::KIND, entity: id }
    }

    pub(crate) fn random_number(&self) -> u64 {
        self.inner.random.lock().random()
    }

    pub(crate) fn random_part(&self, most: Duration) -> Duration {
        most.mul_f64(self.inner.random.lock().random_range(0.0..1.0))
    }
}

/// Reads an entity. A panic of its code is an error.
pub(crate) fn decode_entity<E: Entity>(row: &Row) -> Result<Versioned<E>> {
    let decoded = catch_unwind(|| E::decode(&row.value));
    let decoded = decoded.unwrap_or_else(|_| Err("its code panicked over these bytes".to_owned()));
    let entity = decoded.map_err(|detail| Error::Damaged { place: row.key.to_string(), detail })?;
    Ok(Versioned::known(entity, row.version))
}
