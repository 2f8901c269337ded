//! A visit: one stage looks at some entities, and what comes of each is saved in one batch.
//!
//! The batch applies only if the shard is still ours, and if the entity, the stage's state and the entry are as the stage saw them. Otherwise:
//! - only fields changed that the stage neither reads nor writes, and it answered with a patch: the patch is made to the new version;
//! - anything else: nothing is saved, the entity stays queued, and the visit is made again.
//!
//! What becomes of an answer is said in `answer.rs`.

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use store::{Batch, Key, Outcome, Read, Row};

use crate::answer::{changed, fits};
use crate::budget::Fight;
use crate::call::caught_within;
use crate::change::{SYSTEM, Standing, Versioned, Which};
use crate::entity::Entity;
use crate::limits::{FITS_MAX, SLOW_CALL, SLOW_SAVES_AT_ONCE};
use crate::queue::waiting;
use crate::rows::{Entry, encode};
use crate::shards::Fence;
use crate::stage::{Answer, Stage, StageError, Subject};
use crate::tables::{QUEUES, STATES};
use crate::watcher::{Found, Watcher, found, versioned};
use crate::{Error, Result};

/// Whom to visit.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    pub(crate) shard: u32,
    pub(crate) entity: Arc<str>,
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
    /// The stage's answer is saved; it says whether the entity changed.
    Saved {
        changed: bool,
        /// How stages fight over the entity, if they do.
        fight: Option<Fight>,
    },
    /// The stage failed, and the attempt is saved.
    Failed { error: StageError, parked: bool },
    /// The stage said nothing about this entity, and nothing is saved: the visit is still to be made.
    Left,
    /// There is no such visit any more.
    Gone,
    /// Something changed meanwhile: the visit has to be made again.
    Again,
    /// Something changed meanwhile, and it may be that the shard is not ours any more.
    Doubtful,
}

/// Whether a stage has shown that it is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It was not called.
    Nothing,
    /// It gave an answer about one of the entities at least, if only that it cannot do anything with it.
    Answer,
    /// It failed over all of them, in a way that may pass.
    Silence(StageError),
}

/// What came of a call.
#[derive(Debug)]
pub(crate) struct Visited {
    /// One end for each entity, in the same order.
    pub(crate) ends: Vec<Result<End>>,
    /// What was heard of stages.
    pub(crate) heard: Vec<(String, Heard)>,
}

impl Visited {
    /// Nothing came of it.
    pub(crate) fn failed(due: &[Due], error: &Error) -> Self {
        Self { ends: due.iter().map(|_| Err(error.clone())).collect(), heard: Vec::new() }
    }
}

/// Everything that a visit starts from.
pub(crate) struct Before<E> {
    pub(crate) found: Found<E>,
    pub(crate) entry: Versioned<Entry>,
    pub(crate) state: Versioned<Bytes>,
}

type Answers<E> = Vec<Result<Answer<E>, StageError>>;

impl<E: Entity> Watcher<E> {
    /// Visits several entities with one call of a stage. A `probe` that fails, and a call of a stage that cannot be reached, is not counted as an attempt.
    pub(crate) async fn visit(&self, stage: &Arc<dyn Stage<E>>, due: &[Due], probe: bool) -> Visited {
        let befores = match self.befores(stage.id(), due).await {
            Ok(befores) => befores,
            Err(error) => return Visited::failed(due, &error),
        };
        let now = self.now();
        let is_due = |before: &Before<E>| {
            waiting(&before.entry.content).is_some_and(|w| w.visit <= now || planted!(EarlyVisit))
        };
        let mut ready: Vec<(&Due, Before<E>)> = Vec::new();
        let mut others: Vec<Option<Result<Option<Before<E>>>>> = Vec::with_capacity(due.len());
        for (due, before) in due.iter().zip(befores) {
            others.push(match before {
                Ok(Some(before)) if is_due(&before) => {
                    ready.push((due, before));
                    None
                }
                other => Some(other),
            });
        }
        let subject = |(_, before): &(&Due, Before<E>)| Subject {
            entity: before.found.entity.clone(),
            version: before.found.version,
            state: before.state.content.clone(),
            now,
        };
        let subjects: Vec<Subject<E>> = ready.iter().map(subject).collect();
        let (answers, heard) = self.call(stage, &subjects).await;
        let is_slow = self.now().since(now) > SLOW_CALL;
        let is_no_attempt = match heard {
            Heard::Silence(StageError::Away(_)) => true,
            Heard::Silence(_) => probe,
            Heard::Nothing | Heard::Answer => false,
        };
        let mut finished = match answers {
            Some(answers) if !is_no_attempt => self.finish(stage, ready, answers, is_slow).await,
            _ => subjects.iter().map(|_| Ok(End::Left)).collect(),
        }
        .into_iter();
        let mut ends = Vec::with_capacity(due.len());
        for (due, other) in due.iter().zip(others) {
            ends.push(match other {
                None => finished.next().unwrap_or(Ok(End::Again)),
                Some(Ok(Some(_))) => Ok(End::Gone),
                Some(Ok(None)) => self.forget(due).await,
                Some(Err(Error::Damaged { place, detail })) => {
                    self.park_damaged(stage.id(), due, &place, &detail).await
                }
                Some(Err(error)) => Err(error),
            });
        }
        Visited { ends, heard: vec![(stage.id().to_owned(), heard)] }
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

    /// Parks an entity that cannot be read.
    async fn park_damaged(&self, stage: &str, due: &Due, place: &str, detail: &str) -> Result<End> {
        let which = due.which(E::KIND);
        let entry: Versioned<Entry> = versioned(self.store().get_one(&which.entry_key(stage)).await?)?;
        let error = StageError::Lasting(format!("{place} is damaged: {detail}"));
        let mut batch = Batch::new();
        due.fence.guard(&mut batch);
        self.add_failure(&mut batch, stage, due, 0, entry, &error);
        let parked = self.store().commit(batch).await?.is_applied();
        Ok(if parked { End::Failed { error, parked } } else { End::Again })
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
        let mut rows = self.get_all(&keys).await?.into_iter();
        let mut next = || rows.next().flatten();
        Ok(ids.into_iter().map(|id| id.and_then(|_| before(next(), next(), next()))).collect())
    }

    /// Calls a stage, which may hang, panic or answer nonsense. No answers: a call about several came to nothing, and nobody knows because of which.
    async fn call(&self, stage: &Arc<dyn Stage<E>>, subjects: &[Subject<E>]) -> (Option<Answers<E>>, Heard) {
        let asked = subjects.len();
        if asked == 0 {
            return (Some(Vec::new()), Heard::Nothing);
        }
        let timeout = self.limits_of(stage.id()).timeout;
        let failed = match caught_within(timeout, stage.process_many(subjects)).await {
            Ok(answers) if answers.len() == asked => {
                let heard = heard(&answers);
                return (Some(answers), heard);
            }
            Ok(answers) => {
                StageError::Passing(format!("it gave {} answers to {asked} questions", answers.len()))
            }
            Err(error) => error,
        };
        let answers = (asked == 1).then(|| vec![Err(failed.clone())]);
        (answers, Heard::Silence(failed))
    }

    /// Saves what came of visits: all of them at the same time, or a few if the stage is slow.
    async fn finish(
        &self,
        stage: &Arc<dyn Stage<E>>,
        ready: Vec<(&Due, Before<E>)>,
        answers: Answers<E>,
        is_slow: bool,
    ) -> Vec<Result<End>> {
        let answers: Answers<E> = ready
            .iter()
            .zip(answers)
            .map(|((_, before), answer)| answer.and_then(|answer| self.sound(&before.found, answer)))
            .collect();
        let changes = ready.iter().zip(&answers).filter_map(|((due, before), answer)| {
            let (_, fields) = changed(&before.found.entity, answer.as_ref().ok()?)?;
            Some((due.which(E::KIND), Some(stage.id()), fields))
        });
        let changes: Vec<_> = changes.collect();
        let mut standings = match self.standings(&changes).await {
            Ok(standings) => standings.into_iter(),
            Err(error) => return ready.iter().map(|_| Err(error.clone())).collect(),
        };
        let saves = ready.into_iter().zip(answers).map(|((due, before), answer)| {
            let changes = answer.as_ref().is_ok_and(|answer| changed(&before.found.entity, answer).is_some());
            let standing = changes.then(|| standings.next()).flatten();
            self.save_outcome(stage, due, before, answer, standing)
        });
        let saves: Vec<_> = saves.collect();
        let at_once = if is_slow { SLOW_SAVES_AT_ONCE } else { saves.len().max(1) };
        stream::iter(saves).buffered(at_once).collect().await
    }

    /// Saves what came of one visit, fitted to what changed meanwhile as far as that is right.
    async fn save_outcome(
        &self,
        stage: &Arc<dyn Stage<E>>,
        due: &Due,
        before: Before<E>,
        answer: Result<Answer<E>, StageError>,
        standing: Option<Standing<'_>>,
    ) -> Result<End> {
        let (seen, mut before, mut standing) = (before.found.entity.clone(), before, standing);
        for _ in 0..FITS_MAX {
            let mut batch = Batch::new();
            due.fence.guard(&mut batch);
            let end = match &answer {
                Ok(answer) => {
                    self.add_answer(&mut batch, stage.id(), due, &before, answer, standing.take()).await?
                }
                Err(error) => {
                    let (version, entry) = (before.found.version, before.entry.clone());
                    let parked = self.add_failure(&mut batch, stage.id(), due, version, entry, error);
                    End::Failed { error: error.clone(), parked }
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
}

/// What the answers say of the stage.
fn heard<E>(answers: &[Result<Answer<E>, StageError>]) -> Heard {
    let mut silence = None;
    for answer in answers {
        match answer {
            Err(error @ (StageError::Passing(_) | StageError::Away(_))) => silence = Some(error),
            Ok(_) | Err(StageError::Lasting(_)) => return Heard::Answer,
        }
    }
    silence.map_or(Heard::Nothing, |error| Heard::Silence(error.clone()))
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
