//! A change of an entity: everything that goes into its batch besides the entity itself.
//!
//! The same rules serve changes from outside ([`Watcher::save`]) and changes by stages: enqueue the
//! stages whose declared fields changed, enqueue the system stage for those that must be asked, and
//! add the change to the outbox.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use buffa::Message;
use bytes::Bytes;
use store::{Batch, Key, Row};

use crate::Result;
use crate::budget::{Fight, note_change};
use crate::entity::{Entity, Prepared};
use crate::fields::Fields;
use crate::queue::{Lane, QueueSlot, VisitRequest, dequeue, enqueue};
use crate::rows::{Entry, Head, Outgoing, Why, decode, encode};
use crate::rules::Rules;
use crate::stage::Schedule;
use crate::tables::{ENTRIES, HEADS, OUTBOX};
use crate::watcher::Watcher;
use clock::Time;

/// The name of the system stage in keys.
pub(crate) const SYSTEM: &str = "";

/// Which entity is meant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntityRef<'a> {
    pub(crate) shard: u32,
    pub(crate) kind: &'a str,
    pub(crate) entity: &'a str,
}

impl<'a> EntityRef<'a> {
    pub(crate) fn in_stage(&self, stage: &'a str) -> QueueSlot<'a> {
        QueueSlot { shard: self.shard, kind: self.kind, stage, entity: self.entity }
    }

    pub(crate) fn head_key(&self) -> Key {
        HEADS.key((self.shard, self.kind, self.entity))
    }

    pub(crate) fn entry_key(&self, stage: &str) -> Key {
        ENTRIES.key((self.shard, self.kind, self.entity, stage))
    }
}

/// A row's content with its version; version zero and the default content if there is no row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stored<T> {
    pub(crate) version: u64,
    pub(crate) content: T,
}

impl<M: Message + Default> Stored<M> {
    pub(crate) fn read(row: Option<Row>) -> Result<Self> {
        let Some(row) = row else { return Ok(Self::default()) };
        Ok(Self { version: row.version, content: decode(&row)? })
    }
}

impl Stored<Head> {
    /// Writes the head back with its next version, checked.
    pub(crate) fn put(&self, batch: &mut Batch, entity: EntityRef<'_>) {
        replace(batch, entity.head_key(), self.version, encode(&self.content));
    }
}

/// Replaces a row, or creates it for version zero, if it still has this version.
pub(crate) fn replace(batch: &mut Batch, key: Key, version: u64, value: impl Into<Bytes>) {
    batch.check(key.clone(), version).put(key, version + 1, value);
}

/// What happened to an entity.
#[derive(Clone, Debug)]
pub(crate) struct Event<'a> {
    /// The encoded entity; `None` if it is removed.
    pub(crate) entity: Option<&'a Bytes>,
    /// The version that it gets.
    pub(crate) version: u64,
    pub(crate) changed: &'a Fields,
    /// The stage that made the change, with its state.
    pub(crate) stage: Option<&'a str>,
    pub(crate) state: Bytes,
    /// Who made the change, if it comes from outside.
    pub(crate) author: String,
    pub(crate) now: Time,
}

/// The head of an entity, and its entries with some stages.
#[derive(Clone, Debug, Default)]
pub(crate) struct EnqueueState {
    pub(crate) head: Stored<Head>,
    pub(crate) entries: BTreeMap<String, Stored<Entry>>,
}

impl EnqueueState {
    /// The same with the entries of these stages only; `None` if one of them was not read.
    pub(crate) fn of_stages<'a>(&self, stages: impl Iterator<Item = &'a str>) -> Option<Self> {
        let entry = |stage: &str| Some((stage.to_owned(), self.entries.get(stage)?.clone()));
        Some(Self { head: self.head.clone(), entries: stages.map(entry).collect::<Option<_>>()? })
    }
}

impl<E: Entity> Watcher<E> {
    /// Adds to a batch everything that follows from a change. `state` has the entries of
    /// [`Rules::visitors`]; what changes is written back with its next version, checked. Returns
    /// how stages fight over the entity, if they do.
    pub(crate) fn record(
        &self,
        batch: &mut Batch,
        rules: &Rules<E>,
        entity: EntityRef<'_>,
        event: &Event<'_>,
        state: EnqueueState,
        after: &E,
    ) -> Option<Fight> {
        let (config, now) = (self.config(), event.now);
        let EnqueueState { mut head, entries } = state;
        let content = &mut head.content;
        let fight =
            event.stage.and_then(|stage| note_change(content, &config.budget, stage, event.changed, now));
        let visit = now + fight.as_ref().map_or(Duration::ZERO, |fight| fight.delay);
        let request = |visit, lane| VisitRequest { visit, lane, why: Why::WHY_CHANGE };

        add_to_outbox(batch, entity, event, content);
        if rules.to_ask(event.changed).next().is_some() {
            note_changed(content, event.changed);
            let mut entry = content.entry.take().unwrap_or_default();
            enqueue(batch, &entity.in_stage(SYSTEM), &mut entry, request(visit, Lane::Fresh), now);
            content.entry = Some(entry).into();
        }
        head.put(batch, entity);

        let several = entries.len() > 1 && !config.spread.is_zero();
        for (stage, Stored { version, content: mut entry }) in entries {
            let visit = if several { visit + self.random_part(config.spread) } else { visit };
            let request = match schedule_after_change(rules, &stage, after, now) {
                Schedule::Now => Some(request(visit, Lane::Fresh)),
                Schedule::At(time) => Some(request(time.max(visit), Lane::Timer)),
                Schedule::No => None,
            };
            let key = entity.entry_key(&stage);
            batch.check(key.clone(), version);
            if version == 0 && request.is_none() {
                continue;
            }
            // Written even if nothing else changes: a visit under way must notice that it saw an
            // older entity.
            if let Some(request) = request {
                entry.attempts = 0;
                enqueue(batch, &entity.in_stage(&stage), &mut entry, request, now);
            }
            batch.put(key, next_version(version, &head.content), encode(&entry));
        }
        fight
    }

    /// Adds the entity's own rows to a change.
    pub(crate) fn derive_rows(
        &self,
        batch: &mut Batch,
        entity: EntityRef<'_>,
        event: &Event<'_>,
        before: Option<&E>,
        after: Option<&E>,
    ) {
        let Event { version, changed: fields, stage, now, .. } = *event;
        let (shard, shards) = (entity.shard, self.shards());
        E::derived_rows(
            &crate::ChangeContext { shard, shards, before, after, fields, version, stage, now },
            batch,
        );
    }

    /// Adds to a batch that an entity becomes `change`, which an answer of a stage or a caller
    /// made.
    pub(crate) fn add_change(
        &self,
        batch: &mut Batch,
        rules: &Rules<E>,
        entity: EntityRef<'_>,
        event: &Event<'_>,
        (before, change): (Option<&E>, &Prepared<'_, E>),
        state: EnqueueState,
    ) -> Option<Fight> {
        let after: &E = &change.after;
        batch.put(E::key(entity.shard, &after.id()), event.version, change.bytes.clone());
        self.derive_rows(batch, entity, event, before, Some(after));
        self.record(batch, rules, entity, event, state, after)
    }
}

/// A stage that panics gets a visit.
fn schedule_after_change<E: Entity>(rules: &Rules<E>, stage: &str, after: &E, now: Time) -> Schedule {
    let Some(rule) = rules.stages.get(stage) else { return Schedule::Now };
    catch_unwind(AssertUnwindSafe(|| rule.stage.visit_after_change(after, now))).unwrap_or(Schedule::Now)
}

/// The next version of an entry or a state. A new one continues from those of a removed entity of
/// the same id, so that nobody takes one for the other.
pub(crate) fn next_version(before: u64, head: &Head) -> u64 {
    if before == 0 { head.entries_version + 1 } else { before + 1 }
}

/// Adds the removal of an entity to a batch. Only its head stays, which remembers the versions;
/// `entries_version` is the highest version of its entries and states.
pub(crate) fn record_removal(
    batch: &mut Batch,
    entity: EntityRef<'_>,
    event: &Event<'_>,
    head: Stored<Head>,
    entries_version: u64,
) {
    let Stored { version, content: mut head } = head;
    add_to_outbox(batch, entity, event, &mut head);
    let mut entry = head.entry.take().unwrap_or_default();
    dequeue(batch, &entity.in_stage(SYSTEM), &mut entry);
    let content = Head {
        changed_at_ms: head.changed_at_ms,
        removed_version: event.version,
        entries_version: entries_version.max(head.entries_version),
        ..Head::default()
    };
    Stored { version, content }.put(batch, entity);
}

/// Adds a change to the outbox, behind all earlier ones of the entity: its time is moved forward if
/// the clock is behind that of the process that made the change before.
fn add_to_outbox(batch: &mut Batch, entity: EntityRef<'_>, event: &Event<'_>, head: &mut Head) {
    let previous_at_ms = head.changed_at_ms;
    head.changed_at_ms = event.now.as_ms().max(previous_at_ms.saturating_add(1));
    let outgoing = Outgoing {
        entity: event.entity.map(|bytes| bytes.to_vec()).unwrap_or_default(),
        removed: event.entity.is_none(),
        author: event.stage.unwrap_or_default().to_owned(),
        state: event.state.to_vec(),
        changed: event.changed.paths().map(str::to_owned).collect(),
        changed_more: event.changed.is_all(),
        previous_at_ms,
        signature: event.author.clone(),
        ..Outgoing::default()
    };
    let version = event.version.cast_signed();
    batch.set(
        OUTBOX.key((entity.shard, entity.kind, head.changed_at_ms, entity.entity, version)),
        encode(&outgoing),
    );
}

/// The fields that changed since the system stage asked last.
pub(crate) fn changed_since(head: &Head) -> Fields {
    if head.changed_more { Fields::all() } else { Fields::of(head.changed.iter().map(String::as_str)) }
}

fn note_changed(head: &mut Head, changed: &Fields) {
    let mut fields = changed_since(head);
    fields.extend_from(changed);
    head.changed_more = fields.is_all();
    head.changed = fields.paths().map(str::to_owned).collect();
}
