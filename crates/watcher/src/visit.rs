//! A visit: one stage looks at one entity, and what comes of it is saved in one batch.
//!
//! The batch applies only if the shard is still ours, and if the entity, the stage's state and the entry are as the stage saw them. Otherwise:
//! - only fields changed that the stage neither reads nor writes, and it answered with a patch: the patch is made to the new version;
//! - anything else: nothing is saved, the entity stays queued, and the visit is made again.

use std::sync::Arc;

use bytes::Bytes;
use store::{Batch, Key, Outcome, Read, Row};

use crate::call::caught_within;
use crate::change::{Event, SYSTEM, Versioned, Which};
use crate::entity::Entity;
use crate::fields::Fields;
use crate::limits::{
    ENTITY_BYTES_MAX, ERROR_BYTES_MAX, FITS_MAX, STATE_BYTES_MAX, TIMER_AHEAD_MAX, TIMER_BEHIND_MAX,
};
use crate::queue::{Lane, Queued, Wanted, leave, offer, queued_by, waiting};
use crate::rows::{Ended, Entry, Last, Why, encode};
use crate::shards::Fence;
use crate::stage::{Answer, Change, NewState, Stage, StageError, Subject};
use crate::tables::{QUEUES, STATES};
use crate::watcher::{Found, Watcher, found, versioned};
use crate::{Error, Result};

/// Whom to visit.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    pub(crate) shard: u32,
    pub(crate) entity: String,
    /// The queue row that says so.
    pub(crate) row: Key,
    pub(crate) fence: Fence,
}

impl Due {
    pub(crate) fn which<'a>(&'a self, kind: &'a str) -> Which<'a> {
        Which { shard: self.shard, kind, entity: &self.entity }
    }
}

/// How a visit ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The stage's answer is saved, and these visits were queued with it.
    Saved(Vec<Queued>),
    /// The stage failed; the attempt is saved, and these visits were queued with it.
    Failed(StageError, Vec<Queued>),
    /// There is no such visit any more.
    Gone,
    /// Something changed meanwhile: the visit has to be made again.
    Again,
    /// Something changed meanwhile, and it may be that the shard is not ours any more.
    Doubtful,
}

/// Everything that a visit starts from.
struct Before<E> {
    found: Found<E>,
    entry: Versioned<Entry>,
    state: Versioned<Bytes>,
}

impl<E: Entity> Watcher<E> {
    /// Visits several entities with one call of a stage. One end for each, in the same order.
    pub(crate) async fn visit(&self, stage: &Arc<dyn Stage<E>>, due: &[Due]) -> Vec<Result<End>> {
        let befores = match self.befores(stage.id(), due).await {
            Ok(befores) => befores,
            Err(error) => return due.iter().map(|_| Err(error.clone())).collect(),
        };
        let now = self.now();
        let is_due = |before: &Before<E>| {
            waiting(&before.entry.content).is_some_and(|w| w.visit <= now || planted!(EarlyVisit))
        };
        let subject = |before: &Before<E>| Subject {
            entity: before.found.entity.clone(),
            version: before.found.version,
            state: before.state.content.clone(),
            now,
        };
        let ready: Vec<&Before<E>> =
            befores.iter().flatten().flatten().filter(|before| is_due(before)).collect();
        let subjects: Vec<Subject<E>> = ready.into_iter().map(subject).collect();
        let mut answers = self.call(stage, &subjects).await.into_iter();
        let mut ends = Vec::with_capacity(due.len());
        for (due, before) in due.iter().zip(befores) {
            ends.push(match before {
                Err(error) => Err(error),
                Ok(None) => self.forget(due).await,
                Ok(Some(before)) if !is_due(&before) => Ok(End::Gone),
                Ok(Some(before)) => match answers.next() {
                    Some(answer) => self.finish(stage, due, before, answer).await,
                    None => Ok(End::Again),
                },
            });
        }
        ends
    }

    /// Takes an entity that does not exist out of a queue: somebody has deleted it without telling the watcher.
    pub(crate) async fn forget(&self, due: &Due) -> Result<End> {
        let mut batch = Batch::new();
        due.fence.guard(&mut batch);
        batch.check_absent(E::key(due.shard, &id_of::<E>(&due.entity)?)).delete(due.row.clone());
        let (which, (_, _, _, stage, ..)) = (due.which(E::KIND), QUEUES.parts(&due.row)?);
        if stage == SYSTEM {
            let Versioned { version, content: mut head } = self.head(which).await?;
            head.entry = None.into();
            batch.check(which.head_key(), version).put(which.head_key(), version + 1, encode(&head));
        } else {
            batch.delete(which.entry_key(&stage));
        }
        let gone = self.store().commit(batch).await?.is_applied();
        Ok(if gone { End::Gone } else { End::Again })
    }

    async fn before(&self, stage: &str, due: &Due) -> Result<Option<Before<E>>> {
        self.befores(stage, std::slice::from_ref(due)).await?.pop().unwrap_or(Ok(None))
    }

    /// What each visit starts from, in one read; `None` where there is no entity.
    async fn befores(&self, stage: &str, due: &[Due]) -> Result<Vec<Result<Option<Before<E>>>>> {
        let ids: Vec<Result<E::Id>> = due.iter().map(|due| id_of::<E>(&due.entity)).collect();
        let mut keys = Vec::with_capacity(3 * due.len());
        for (due, id) in due.iter().zip(&ids) {
            if let Ok(id) = id {
                let state = STATES.key((due.shard, E::KIND, &*due.entity, stage));
                keys.extend([E::key(due.shard, id), due.which(E::KIND).entry_key(stage), state]);
            }
        }
        let mut rows = self.store().get(&keys).await?.into_iter();
        let mut next = || rows.next().flatten();
        Ok(ids.into_iter().map(|id| id.and_then(|_| before(next(), next(), next()))).collect())
    }

    /// Calls a stage: it may hang, panic or answer nonsense.
    async fn call(
        &self,
        stage: &Arc<dyn Stage<E>>,
        subjects: &[Subject<E>],
    ) -> Vec<Result<Answer<E>, StageError>> {
        if subjects.is_empty() {
            return Vec::new();
        }
        let asked = subjects.len();
        let failed = match caught_within(self.limits().timeout, stage.process_many(subjects)).await {
            Ok(answers) if answers.len() == asked => return answers,
            Ok(answers) => {
                StageError::Passing(format!("it gave {} answers to {asked} questions", answers.len()))
            }
            Err(error) => error,
        };
        subjects.iter().map(|_| Err(failed.clone())).collect()
    }

    /// Saves what came of a visit, fitted to what changed meanwhile as far as that is right.
    async fn finish(
        &self,
        stage: &Arc<dyn Stage<E>>,
        due: &Due,
        before: Before<E>,
        answer: Result<Answer<E>, StageError>,
    ) -> Result<End> {
        let answer = answer.and_then(|answer| self.sound(&before, answer));
        let seen = before.found.entity.clone();
        let mut before = before;
        for _ in 0..FITS_MAX {
            let mut batch = Batch::new();
            due.fence.guard(&mut batch);
            let end = match &answer {
                Ok(answer) => {
                    self.add_answer(&mut batch, stage.id(), due, &before, answer).await?;
                    End::Saved(queued_by(&batch)?)
                }
                Err(error) => {
                    self.add_failure(&mut batch, stage.id(), due, &before, error);
                    End::Failed(error.clone(), queued_by(&batch)?)
                }
            };
            match self.store().commit(batch).await? {
                Outcome::Applied => return Ok(end),
                Outcome::Conflict(keys) if due.fence.is_among(&keys) => return Ok(End::Doubtful),
                Outcome::Conflict(_) => {}
            }
            let Some(after) = self.before(stage.id(), due).await? else { return Ok(End::Gone) };
            if !fits(&**stage, &answer, &seen, &before, &after) {
                return Ok(End::Again);
            }
            before = after;
        }
        Ok(End::Again)
    }

    /// Whether an answer can be saved at all; if not, what the stage did wrong.
    fn sound(&self, before: &Before<E>, answer: Answer<E>) -> Result<Answer<E>, StageError> {
        let wrong = |what: String| Err(StageError::Lasting(what));
        if let Change::Replace(entity) | Change::Patch { values: entity, .. } = &answer.change
            && entity.id() != before.found.entity.id()
        {
            return wrong(format!(
                "it was shown {} and answered with {}",
                before.found.entity.id(),
                entity.id()
            ));
        }
        if let Some(after) = changed(&before.found.entity, &answer.change)
            && after.encode().len() > ENTITY_BYTES_MAX
        {
            let bytes = after.encode().len();
            return wrong(format!("its entity has {bytes} bytes, at most {ENTITY_BYTES_MAX} can be"));
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

    async fn add_answer(
        &self,
        batch: &mut Batch,
        stage: &str,
        due: &Due,
        before: &Before<E>,
        answer: &Answer<E>,
    ) -> Result<()> {
        let (which, now) = (due.which(E::KIND), self.now());
        let Before { found, entry, state } = before;
        let after = changed(&found.entity, &answer.change);
        let changed =
            after.as_ref().map_or_else(Fields::none, |after| E::changed_fields(&found.entity, after));
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
                batch.put(state_key, state.version + 1, new.clone());
                new.clone()
            }
            _ => state.content.clone(),
        };

        let mut ended = Ended::ENDED_UNTOUCHED;
        if let (Some(after), false) = (&after, changed.is_empty()) {
            ended = Ended::ENDED_CHANGED;
            let (entity, version) =
                (after.encode(), found.version + if planted!(VersionJump) { 2 } else { 1 });
            batch.put(key, version, entity.clone());
            let event =
                Event { entity: Some(entity), version, changed, author: Some(stage), state: new_state, now };
            self.record(batch, which, &event).await?;
        }

        let mut content = entry.content.clone();
        leave(batch, &which.in_stage(stage), &mut content);
        (content.attempts, content.parked) = (0, false);
        content.error.clear();
        let last =
            Last { at_ms: now.as_ms(), ended: ended.into(), version: found.version, ..Last::default() };
        content.last = Some(last).into();
        if let Some(next) = answer.next.filter(|_| !planted!(LostTimer)) {
            let wanted = Wanted { visit: next.max(now), lane: Lane::Timer, why: Why::WHY_TIMER };
            offer(batch, &which.in_stage(stage), &mut content, wanted, now);
        }
        let key = which.entry_key(stage);
        if !planted!(NoEntryCheck) {
            batch.check(key.clone(), entry.version);
        }
        batch.put(key, entry.version + 1, encode(&content));
        Ok(())
    }

    fn add_failure(&self, batch: &mut Batch, stage: &str, due: &Due, before: &Before<E>, error: &StageError) {
        let (which, now, limits) = (due.which(E::KIND), self.now(), self.limits());
        let Before { found, entry, .. } = before;
        let mut content = entry.content.clone();
        leave(batch, &which.in_stage(stage), &mut content);
        content.attempts = content.attempts.saturating_add(1);
        content.error = if planted!(SilentParking) { String::new() } else { shortened(&error.to_string()) };
        let failed = Ended::ENDED_FAILED;
        let last =
            Last { at_ms: now.as_ms(), ended: failed.into(), version: found.version, ..Last::default() };
        content.last = Some(last).into();
        content.parked = matches!(error, StageError::Lasting(_)) || content.attempts >= limits.attempts_max;
        if !content.parked {
            let pause = limits.pause_after(content.attempts);
            let visit = now + pause / 2 + self.random_part(pause / 2);
            let wanted = Wanted { visit, lane: Lane::Timer, why: Why::WHY_RETRY };
            offer(batch, &which.in_stage(stage), &mut content, wanted, now);
        }
        let key = which.entry_key(stage);
        batch.check(key.clone(), entry.version).put(key, entry.version + 1, encode(&content));
    }
}

/// The id that a queue row names.
pub(crate) fn id_of<E: Entity>(text: &str) -> Result<E::Id> {
    text.parse().map_err(|_| Error::Damaged {
        place: format!("{} {text}", E::KIND),
        detail: "the id cannot be read back from its text".to_owned(),
    })
}

fn before<E: Entity>(
    entity: Option<Row>,
    entry: Option<Row>,
    state: Option<Row>,
) -> Result<Option<Before<E>>> {
    let Some(entity) = entity else { return Ok(None) };
    let state =
        state.map_or_else(Versioned::default, |row| Versioned { version: row.version, content: row.value });
    Ok(Some(Before { found: found(&entity)?, entry: versioned(entry)?, state }))
}

/// The entity after a change; `None` if there is none.
fn changed<E: Entity>(entity: &E, change: &Change<E>) -> Option<E> {
    match change {
        Change::Untouched => None,
        Change::Replace(after) => Some(after.clone()),
        Change::Patch { fields, values } => {
            let mut after = entity.clone();
            after.take_fields(fields, values);
            Some(after)
        }
    }
}

/// Whether an answer that was given to `seen` holds for what is there now.
fn fits<E: Entity>(
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
    let Ok(Answer { change: Change::Patch { fields, .. }, .. }) = answer else { return false };
    let elsewhere = E::changed_fields(seen, &after.found.entity);
    !elsewhere.overlaps(fields) && !elsewhere.overlaps(&stage.interest().inputs)
}

fn shortened(text: &str) -> String {
    let mut end = text.len().min(ERROR_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
