//! What becomes of a stage's answer: whether it can be saved, what goes into the batch, and whether it still holds when something changed meanwhile.

use store::Batch;

use crate::Result;
use crate::change::{Event, Standing, Versioned};
use crate::entity::Entity;
use crate::fields::Fields;
use crate::limits::{
    ENTITY_BYTES_MAX, ERROR_BYTES_MAX, STATE_BYTES_MAX, TIMER_AHEAD_MAX, TIMER_BEHIND_MAX, TIMER_STEP_MIN,
};
use crate::queue::{Lane, Wanted, leave, offer, park};
use crate::rows::{Ended, Entry, Last, Why, encode};
use crate::stage::{Answer, Change, NewState, Stage, StageError};
use crate::tables::STATES;
use crate::visit::{Before, Due, End};
use crate::watcher::{Found, Watcher};

impl<E: Entity> Watcher<E> {
    /// Whether an answer can be saved at all; if not, what the stage did wrong.
    pub(crate) fn sound(&self, found: &Found<E>, answer: Answer<E>) -> Result<Answer<E>, StageError> {
        let wrong = |what: String| Err(StageError::Lasting(what));
        let Found { entity: seen, version, .. } = found;
        if let Some(made_from) = answer.made_from
            && made_from != *version
        {
            return wrong(format!(
                "it was shown version {version} and answered with one made from version {made_from}"
            ));
        }
        if let Change::Replace(entity) | Change::Patch { values: entity, .. } = &answer.change
            && entity.id() != seen.id()
        {
            return wrong(format!("it was shown {} and answered with {}", seen.id(), entity.id()));
        }
        if let Some((after, _)) = changed(seen, &answer) {
            let bytes = after.encode().len();
            if bytes > ENTITY_BYTES_MAX {
                return wrong(format!("its entity has {bytes} bytes, at most {ENTITY_BYTES_MAX} can be"));
            }
        }
        if let NewState::Set(state) = &answer.state
            && state.len() > STATE_BYTES_MAX
        {
            return wrong(format!("its state has {} bytes, at most {STATE_BYTES_MAX} can be", state.len()));
        }
        let now = self.now();
        match answer.next {
            Some(next) if now.since(next) > TIMER_BEHIND_MAX => {
                wrong(format!("it asked for a visit at {next}, {} s ago", now.since(next).as_secs()))
            }
            Some(next) if next.since(now) > TIMER_AHEAD_MAX => {
                wrong(format!("it asked for a visit at {next}, more than 100 years ahead"))
            }
            _ => Ok(answer),
        }
    }

    /// Adds to a batch what a stage answered. `standing` is where the entity stands, if that is known.
    pub(crate) async fn add_answer(
        &self,
        batch: &mut Batch,
        stage: &str,
        due: &Due,
        before: &Before<E>,
        answer: &Answer<E>,
        standing: Option<Standing<'_>>,
    ) -> Result<End> {
        let (which, now) = (due.which(E::KIND), self.now());
        let Before { found, entry, state } = before;
        let key = E::key(due.shard, &found.entity.id());
        batch.check(key.clone(), found.version);

        let state_of = if planted!(ForeignState) { "another" } else { stage };
        let state_key = STATES.key((due.shard, E::KIND, &*due.entity, state_of));
        if !planted!(NoStateCheck) {
            batch.check(state_key.clone(), state.version);
        }
        let new_state = match &answer.state {
            NewState::Set(new) if *new != state.content => {
                // An empty state is kept as a row once there was one: its version must not start anew.
                // The entry goes on from those of an entity of the same id that was removed, so a state that is made does too.
                let next = if state.version == 0 { entry.version + 1 } else { state.version + 1 };
                batch.put(state_key, next, new.clone());
                new.clone()
            }
            _ => state.content.clone(),
        };

        let (mut ended, mut fight) = (Ended::ENDED_UNTOUCHED, None);
        if let Some((after, fields)) = changed(&found.entity, answer) {
            ended = Ended::ENDED_CHANGED;
            let (entity, version) =
                (after.encode(), found.version + if planted!(VersionJump) { 2 } else { 1 });
            batch.put(key, version, entity.clone());
            let entities = (Some(&found.entity), Some(&after));
            self.follow_up(batch, which, entities, &fields, (version, Some(stage), now));
            let standing = match standing {
                Some(standing) => standing,
                None => self.standing(which, Some(stage), &fields).await?,
            };
            let (entity, author) = (Some(entity), Some(stage));
            let (state, signature) = (new_state, String::new());
            let event = Event { entity, version, changed: fields, author, state, signature, now };
            fight = self.record(batch, which, &event, standing, &after);
        }

        let mut content = entry.content.clone();
        leave(batch, &which.in_stage(stage), &mut content);
        content.attempts = 0;
        content.error.clear();
        content.last = Some(last(now.as_ms(), ended, found.version)).into();
        if let Some(next) = answer.next.filter(|_| !planted!(LostTimer)) {
            // A stage cannot get around what puts it off by asking for the next visit itself.
            let put_off = fight.as_ref().map_or(TIMER_STEP_MIN, |fight| fight.delay);
            let wanted = Wanted { visit: next.max(now + put_off), lane: Lane::Timer, why: Why::WHY_TIMER };
            offer(batch, &which.in_stage(stage), &mut content, wanted, now);
        }
        let key = which.entry_key(stage);
        if !planted!(NoEntryCheck) {
            batch.check(key.clone(), entry.version);
        }
        batch.put(key, entry.version + 1, encode(&content));
        Ok(End::Saved { changed: ended == Ended::ENDED_CHANGED, fight })
    }

    /// Adds to a batch that an attempt at a version of an entity failed; says whether the entity is parked now.
    pub(crate) fn add_failure(
        &self,
        batch: &mut Batch,
        stage: &str,
        due: &Due,
        seen_version: u64,
        entry: Versioned<Entry>,
        error: &StageError,
    ) -> bool {
        let (which, now, limits) = (due.which(E::KIND), self.now(), self.limits_of(stage));
        let Versioned { version, content: mut entry } = entry;
        leave(batch, &which.in_stage(stage), &mut entry);
        entry.attempts = entry.attempts.saturating_add(1);
        entry.error = if planted!(SilentParking) { String::new() } else { shortened(&error.to_string()) };
        entry.last = Some(last(now.as_ms(), Ended::ENDED_FAILED, seen_version)).into();
        if matches!(error, StageError::Lasting(_)) || entry.attempts >= limits.attempts_max {
            park(batch, &which.in_stage(stage), &mut entry, now);
        } else {
            let pause = limits.pause_after(entry.attempts);
            let visit = now + pause / 2 + self.random_part(pause / 2);
            let wanted = Wanted { visit, lane: Lane::Timer, why: Why::WHY_RETRY };
            offer(batch, &which.in_stage(stage), &mut entry, wanted, now);
        }
        let key = which.entry_key(stage);
        batch.check(key.clone(), version).put(key, version + 1, encode(&entry));
        entry.parked
    }
}

fn last(at_ms: i64, ended: Ended, version: u64) -> Last {
    Last { at_ms, ended: ended.into(), version, ..Last::default() }
}

/// The entity after an answer, and the fields that changed; `None` if nothing did.
pub(crate) fn changed<E: Entity>(entity: &E, answer: &Answer<E>) -> Option<(E, Fields)> {
    let after = match &answer.change {
        Change::Untouched => return None,
        Change::Replace(after) => after.clone(),
        Change::Patch { fields, values } => {
            let mut after = entity.clone();
            after.take_fields(fields, values);
            after
        }
    };
    let fields = E::changed_fields(entity, &after);
    (!fields.is_empty()).then_some((after, fields))
}

/// Whether an answer that was given to `seen` holds for what is there now.
pub(crate) fn fits<E: Entity>(
    stage: &dyn Stage<E>,
    answer: &Result<Answer<E>, StageError>,
    seen: &E,
    before: &Before<E>,
    after: &Before<E>,
) -> bool {
    if planted!(AlwaysFits) {
        return true;
    }
    // Whoever rewrote the entry wants another visit: this one must not take its place.
    if after.entry.version != before.entry.version || after.state.version != before.state.version {
        return false;
    }
    if after.found.version == before.found.version {
        return true;
    }
    let none = Fields::none();
    let fields = match answer {
        Ok(Answer { change: Change::Patch { fields, .. }, .. }) => fields,
        Ok(Answer { change: Change::Untouched, .. }) => &none,
        Ok(Answer { change: Change::Replace(_), .. }) | Err(_) => return false,
    };
    let elsewhere = E::changed_fields(seen, &after.found.entity);
    !elsewhere.overlaps(fields) && !elsewhere.overlaps(&stage.interest().inputs)
}

/// As much of a text as is kept.
pub(crate) fn shortened(text: &str) -> String {
    cut(text, ERROR_BYTES_MAX)
}

/// The beginning of a text.
pub(crate) fn cut(text: &str, bytes_max: usize) -> String {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
