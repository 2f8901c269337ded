//! The answer of a stage: whether it can be saved, what goes into the batch, and whether it still
//! holds when something changed meanwhile.

use std::borrow::Cow;

use store::Batch;

use crate::Result;
use crate::change::{EnqueueState, Event, Stored, replace};
use crate::entity::{Entity, Prepared};
use crate::fields::Fields;
use crate::limits::{
    ENTITY_BYTES_MAX, ERROR_BYTES_MAX, STATE_BYTES_MAX, TIMER_AHEAD_MAX, TIMER_BEHIND_MAX, TIMER_STEP_MIN,
};
use crate::queue::{Lane, VisitRequest, dequeue, enqueue, park};
use crate::rows::{Ended, Entry, Last, Why, encode};
use crate::rules::Rules;
use crate::stage::{Answer, Change, NewState, Stage, StageError, Subject};
use crate::tables::STATES;
use crate::visit::{Due, End, VisitInput};
use crate::watcher::Watcher;
use clock::Time;

/// An answer that can be saved, with the change of the entity that it makes.
pub(crate) struct CheckedAnswer<E: Entity> {
    /// `None` if no field differs.
    pub(crate) change: Option<Prepared<'static, E>>,
    /// The fields that a patch sets, none for an untouched entity; `None` for a replacement.
    pub(crate) patched: Option<Fields>,
    pub(crate) state: NewState,
    pub(crate) next: Option<Time>,
}

impl<E: Entity> Watcher<E> {
    /// Checks whether an answer can be saved; the error says what the stage did wrong.
    pub(crate) fn check(
        &self,
        subject: &Subject<E>,
        answer: Answer<E>,
    ) -> Result<CheckedAnswer<E>, StageError> {
        let wrong = |what: String| Err(StageError::Lasting(what));
        let (seen, version) = (&subject.entity, subject.version);
        let Answer { change, state, next, made_from } = answer;
        if let Some(made_from) = made_from
            && made_from != version
        {
            return wrong(format!(
                "it was shown version {version} and answered with one made from version {made_from}"
            ));
        }
        if let Change::Replace(entity) | Change::Patch { values: entity, .. } = &change
            && entity.id() != seen.id()
        {
            return wrong(format!("it was shown {} and answered with {}", seen.id(), entity.id()));
        }
        let (after, patched) = match change {
            Change::Untouched => (None, Some(Fields::none())),
            Change::Replace(after) => (Some(after), None),
            Change::Patch { fields, values } => {
                let mut after = seen.clone();
                after.take_fields(&fields, &values);
                (Some(after), Some(fields))
            }
        };
        let change = after.map(|after| Prepared::between(Some(seen), Cow::Owned(after)));
        let change = change.filter(|change| !change.fields.is_empty());
        if let Some(bytes) = change.as_ref().map(|change| change.bytes.len())
            && bytes > ENTITY_BYTES_MAX
        {
            return wrong(format!("its entity has {bytes} bytes, the limit is {ENTITY_BYTES_MAX}"));
        }
        if let NewState::Set(state) = &state
            && state.len() > STATE_BYTES_MAX
        {
            return wrong(format!("its state has {} bytes, the limit is {STATE_BYTES_MAX}", state.len()));
        }
        let now = self.now();
        match next {
            Some(next) if now.since(next) > TIMER_BEHIND_MAX => {
                wrong(format!("it asked for a visit at {next}, {} s ago", now.since(next).as_secs()))
            }
            Some(next) if next.since(now) > TIMER_AHEAD_MAX => {
                wrong(format!("it asked for a visit at {next}, more than 100 years ahead"))
            }
            _ => Ok(CheckedAnswer { change, patched, state, next }),
        }
    }

    /// Adds an answer to a batch. `queue` is the queue state of the entity, if it is known.
    #[allow(clippy::too_many_arguments, reason = "each of them is another row of the batch")]
    pub(crate) async fn add_answer(
        &self,
        batch: &mut Batch,
        rules: &Rules<E>,
        stage: &str,
        due: &Due,
        input: &VisitInput<E>,
        answer: &CheckedAnswer<E>,
        queue: Option<EnqueueState>,
    ) -> Result<End> {
        let (entity, now) = (due.entity(E::KIND), self.now());
        let VisitInput { subject, entry, state_version } = input;
        batch.check(E::key(due.shard, &subject.entity.id()), subject.version);

        let state_key = STATES.key((due.shard, E::KIND, &*due.entity, stage));
        batch.check(state_key.clone(), *state_version);
        let state = match &answer.state {
            NewState::Set(new) if *new != subject.state => {
                // An empty state keeps its row once there is one: its version must not start over.
                // A new state continues from the entry, and so from those of a removed entity.
                let before = if *state_version == 0 { entry.version } else { *state_version };
                batch.put(state_key, before + 1, new.clone());
                new.clone()
            }
            _ => subject.state.clone(),
        };

        let mut fight = None;
        if let Some(change) = &answer.change {
            let queue = match queue {
                Some(queue) => queue,
                None => self.enqueue_state(rules, entity, Some(stage), &change.fields).await?,
            };
            let event = Event {
                entity: Some(&change.bytes),
                version: subject.version + 1,
                changed: &change.fields,
                stage: Some(stage),
                state,
                author: String::new(),
                now,
            };
            fight = self.add_change(batch, rules, entity, &event, (Some(&subject.entity), change), queue);
        }

        let changed = answer.change.is_some();
        let ended = if changed { Ended::ENDED_CHANGED } else { Ended::ENDED_UNTOUCHED };
        let mut content = entry.content.clone();
        dequeue(batch, &entity.in_stage(stage), &mut content);
        content.attempts = 0;
        content.error.clear();
        content.last = Some(last(now, ended, subject.version)).into();
        if let Some(next) = answer.next.filter(|_| !planted!(LostTimer)) {
            // A stage cannot avoid the delay of a fight by asking for the next visit itself.
            let delay = fight.as_ref().map_or(TIMER_STEP_MIN, |fight| fight.delay);
            let request =
                VisitRequest { visit: next.max(now + delay), lane: Lane::Timer, why: Why::WHY_TIMER };
            enqueue(batch, &entity.in_stage(stage), &mut content, request, now);
        }
        replace(batch, entity.entry_key(stage), entry.version, encode(&content));
        Ok(End::Saved { changed, fight })
    }

    /// Adds a failed attempt at a version of an entity to a batch; says whether it is parked now.
    pub(crate) fn add_failure(
        &self,
        batch: &mut Batch,
        stage: &str,
        due: &Due,
        seen_version: u64,
        entry: Stored<Entry>,
        error: &StageError,
    ) -> bool {
        let (entity, now, limits) = (due.entity(E::KIND), self.now(), self.limits_of(stage));
        let Stored { version, content: mut entry } = entry;
        dequeue(batch, &entity.in_stage(stage), &mut entry);
        entry.attempts = entry.attempts.saturating_add(1);
        entry.error = truncate(&error.to_string(), ERROR_BYTES_MAX);
        entry.last = Some(last(now, Ended::ENDED_FAILED, seen_version)).into();
        if matches!(error, StageError::Lasting(_)) || entry.attempts >= limits.attempts_max {
            park(batch, &entity.in_stage(stage), &mut entry, now);
        } else {
            let pause = limits.pause_after(entry.attempts);
            let visit = now + pause / 2 + self.random_part(pause / 2);
            let request = VisitRequest { visit, lane: Lane::Timer, why: Why::WHY_RETRY };
            enqueue(batch, &entity.in_stage(stage), &mut entry, request, now);
        }
        replace(batch, entity.entry_key(stage), version, encode(&entry));
        entry.parked
    }
}

fn last(at: Time, ended: Ended, version: u64) -> Last {
    Last { at_ms: at.as_ms(), ended: ended.into(), version, ..Last::default() }
}

/// Whether an answer to `seen` holds for `newer`; `tried` is what the last attempt was based on.
pub(crate) fn can_rebase<E: Entity>(
    stage: &dyn Stage<E>,
    answer: &Result<CheckedAnswer<E>, StageError>,
    seen: &VisitInput<E>,
    tried: &VisitInput<E>,
    newer: &VisitInput<E>,
) -> bool {
    if planted!(AlwaysFits) {
        return true;
    }
    // A rewritten entry is a request for another visit, which this one must not replace.
    if newer.entry.version != tried.entry.version || newer.state_version != tried.state_version {
        return false;
    }
    if newer.subject.version == tried.subject.version {
        return true;
    }
    let Ok(CheckedAnswer { patched: Some(patched), .. }) = answer else { return false };
    let elsewhere = E::changed_fields(&seen.subject.entity, &newer.subject.entity);
    !elsewhere.overlaps(patched) && !elsewhere.overlaps(&stage.interest().inputs)
}

/// The beginning of a text.
pub(crate) fn truncate(text: &str, bytes_max: usize) -> String {
    text::head_bytes(text, bytes_max).to_owned()
}
