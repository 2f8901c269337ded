//! A change of an entity: everything that goes into the batch beside the entity itself.
//!
//! The same rule serves changes from outside ([`Watcher::save`](crate::Watcher::save)) and changes by stages. It queues the stages whose interest
//! is known from declared fields, queues the system stage for those that must be asked, and puts the change into the outbox.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use store::Batch;

use crate::budget::{Fight, note_change};
use crate::config::Config;
use crate::fields::Fields;
use crate::queue::{Lane, Place, Wanted, leave, offer};
use crate::rows::{Entry, Head, Outgoing, Why, encode};
use crate::stage::{Interest, Wish};
use crate::tables::{ENTRIES, HEADS, OUTBOX};
use crate::time::Time;

/// The name of the system stage in keys.
pub(crate) const SYSTEM: &str = "";

/// Which entity is meant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Which<'a> {
    pub(crate) shard: u32,
    pub(crate) kind: &'a str,
    pub(crate) entity: &'a str,
}

impl<'a> Which<'a> {
    pub(crate) fn in_stage(&self, stage: &'a str) -> Place<'a> {
        Place { shard: self.shard, kind: self.kind, stage, entity: self.entity }
    }

    pub(crate) fn head_key(&self) -> store::Key {
        HEADS.key((self.shard, self.kind, self.entity))
    }

    pub(crate) fn entry_key(&self, stage: &str) -> store::Key {
        ENTRIES.key((self.shard, self.kind, self.entity, stage))
    }
}

/// A row's content with its version; version zero and the default content if there is no row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versioned<T> {
    pub(crate) version: u64,
    pub(crate) content: T,
}

/// What happened to an entity.
#[derive(Clone, Debug)]
pub(crate) struct Event<'a> {
    /// The entity as it is saved; `None` if it is removed.
    pub(crate) entity: Option<Bytes>,
    /// The version that it gets.
    pub(crate) version: u64,
    pub(crate) changed: Fields,
    /// The stage that made the change.
    pub(crate) author: Option<&'a str>,
    /// That stage's state.
    pub(crate) state: Bytes,
    /// Who signed the change, if it comes from outside.
    pub(crate) signature: String,
    pub(crate) now: Time,
}

/// What follows from changes, as it was configured.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) config: Config,
    /// What interests each stage.
    pub(crate) interests: BTreeMap<String, Interest>,
}

impl Rules {
    /// The stages that visit an entity because of a change of these fields, without being asked.
    pub(crate) fn visitors(&self, author: Option<&str>, changed: &Fields) -> Vec<&str> {
        let overlooked = planted!(Overlooked) && author.is_some();
        let visits = |(stage, interest): &(&String, &Interest)| {
            !(interest.ask || overlooked)
                && Some(stage.as_str()) != author
                && interest.fields.overlaps(changed)
        };
        self.interests.iter().filter(visits).map(|(stage, _)| stage.as_str()).collect()
    }

    /// The stages that must be asked about a change of these fields.
    pub(crate) fn to_ask(&self, changed: &Fields) -> Vec<&str> {
        let asks = |(_, interest): &(&String, &Interest)| interest.ask && interest.fields.overlaps(changed);
        self.interests.iter().filter(asks).map(|(stage, _)| stage.as_str()).collect()
    }

    /// Whether some stage must be asked about this change.
    fn must_ask(&self, event: &Event<'_>) -> bool {
        !self.to_ask(&event.changed).is_empty()
    }
}

/// Where an entity stands: its head, and its entries with the stages that will visit it.
#[derive(Clone, Debug)]
pub(crate) struct Standing<'a> {
    pub(crate) head: Versioned<Head>,
    pub(crate) entries: BTreeMap<&'a str, Versioned<Entry>>,
}

/// Adds to a batch all that follows from a change. `standing` has the entries of [`Rules::visitors`]; what changes is written back
/// with its next version, checked. `wish` says when each of them wants to come; random parts of the spread come from `random`. Returns how stages fight over the entity, if they do.
pub(crate) fn record(
    batch: &mut Batch,
    rules: &Rules,
    which: Which<'_>,
    event: &Event<'_>,
    standing: Standing<'_>,
    wish: impl Fn(&str) -> Wish,
    mut random: impl FnMut(Duration) -> Duration,
) -> Option<Fight> {
    let Rules { config, .. } = rules;
    let Standing { head, entries } = standing;
    let Versioned { version: head_version, content: mut head } = head;
    let now = event.now;
    let fight =
        event.author.and_then(|stage| note_change(&mut head, &config.budget, stage, &event.changed, now));
    let visit = now + fight.as_ref().map_or(Duration::ZERO, |fight| fight.delay);
    let wanted = |visit| Wanted { visit, lane: Lane::Fresh, why: Why::WHY_CHANGE };

    // The clock of another process may be behind: an entity's changes leave in the order of their versions.
    leave_in_order(batch, which, event, &mut head);

    if rules.must_ask(event) {
        note_changed(&mut head, &event.changed);
        let mut entry = head.entry.take().unwrap_or_default();
        offer(batch, &which.in_stage(SYSTEM), &mut entry, wanted(visit), now);
        head.entry = Some(entry).into();
    }
    batch.check(which.head_key(), head_version).put(which.head_key(), head_version + 1, encode(&head));

    let several = entries.len() > 1 && !config.spread.is_zero();
    for (stage, Versioned { version, content: mut entry }) in entries {
        let visit = if several { visit + random(config.spread) } else { visit };
        let wanted = match wish(stage) {
            Wish::Now => Some(wanted(visit)),
            Wish::At(time) => {
                Some(Wanted { visit: time.max(visit), lane: Lane::Timer, why: Why::WHY_CHANGE })
            }
            Wish::No => None,
        };
        let key = which.entry_key(stage);
        batch.check(key.clone(), version);
        if version == 0 && wanted.is_none() {
            continue;
        }
        // Written even if the wish changes nothing: a visit that is under way must notice that it saw an older entity.
        if let Some(wanted) = wanted {
            entry.attempts = 0;
            offer(batch, &which.in_stage(stage), &mut entry, wanted, now);
        }
        batch.put(key, next_version(version, &head), encode(&entry));
    }
    fight
}

/// The version that an entry or a state gets. One that is made goes on from those of an entity of the same id that was removed: whoever saw that one
/// must not take it for the one that they know.
pub(crate) fn next_version(before: u64, head: &Head) -> u64 {
    if before == 0 { head.entries_version + 1 } else { before + 1 }
}

/// Adds to a batch that nothing is left of an entity but its head, which remembers how far its versions came, and that the topic hears of it.
/// `entries_version` is the highest version of its entries and states.
pub(crate) fn record_removal(
    batch: &mut Batch,
    which: Which<'_>,
    event: &Event<'_>,
    head: Versioned<Head>,
    entries_version: u64,
) {
    let Versioned { version, content: mut head } = head;
    leave_in_order(batch, which, event, &mut head);
    let mut entry = head.entry.take().unwrap_or_default();
    leave(batch, &which.in_stage(SYSTEM), &mut entry);
    let (changed_at_ms, removed_version) = (head.changed_at_ms, event.version);
    let entries_version = entries_version.max(head.entries_version);
    let head = Head { changed_at_ms, removed_version, entries_version, ..Head::default() };
    batch.check(which.head_key(), version).put(which.head_key(), version + 1, encode(&head));
}

/// Puts a change into the outbox, behind all earlier ones of the entity.
fn leave_in_order(batch: &mut Batch, which: Which<'_>, event: &Event<'_>, head: &mut Head) {
    let previous_ms = head.changed_at_ms;
    head.changed_at_ms = event.now.as_ms().max(previous_ms.saturating_add(1));
    set_outbox(batch, which, event, head.changed_at_ms, previous_ms);
}

fn set_outbox(batch: &mut Batch, which: Which<'_>, event: &Event<'_>, at_ms: i64, previous_at_ms: i64) {
    let outgoing = Outgoing {
        entity: event.entity.as_deref().unwrap_or_default().to_vec(),
        removed: event.entity.is_none(),
        author: event.author.unwrap_or_default().to_owned(),
        state: event.state.to_vec(),
        changed: event.changed.paths().map(str::to_owned).collect(),
        changed_more: event.changed.is_all(),
        previous_at_ms,
        signature: event.signature.clone(),
        ..Outgoing::default()
    };
    let key = OUTBOX.key((which.shard, which.kind, at_ms, which.entity, event.version.cast_signed()));
    if !planted!(NoOutbox) {
        batch.set(key, encode(&outgoing));
    }
}

/// The fields that changed since the system stage looked last.
pub(crate) fn changed_since(head: &Head) -> Fields {
    if head.changed_more { Fields::all() } else { Fields::of(head.changed.iter().map(String::as_str)) }
}

fn note_changed(head: &mut Head, changed: &Fields) {
    let mut fields = changed_since(head);
    fields.extend_from(changed);
    head.changed_more = fields.is_all();
    head.changed = fields.paths().map(str::to_owned).collect();
}
