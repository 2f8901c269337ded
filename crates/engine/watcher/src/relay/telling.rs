//! How one stage hears of its oldest changes in one shard.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::join_all;
use store::{Batch, Key, Row};
use tokio::time::sleep;

use super::pauses::pause_after_errors;
use super::{Damage, Moved, commit, log_failure};
use crate::Result;
use crate::call::{caught, caught_within};
use crate::entity::Entity;
use crate::rows::{Outgoing, decode};
use crate::shards::Fence;
use crate::stage::{Saved, Stage, StageError};
use crate::tables::SAVED;
use crate::watcher::Watcher;

/// Changes of which a stage hears at the same time, in one call or in several.
const CHANGES_AT_ONCE: usize = 64;
/// The same if every call is about one change.
const CALLS_AT_ONCE: usize = 16;
/// Times that it is tried again to delete what a stage has heard of.
const DELETIONS_MAX: u32 = 20;

/// How a stage was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// It has heard of the oldest changes; there may be more.
    All,
    /// It failed.
    Failed {
        /// Whether it has heard of something nevertheless.
        heard: bool,
        /// Whether a call about several changes came to nothing, so that nobody knows which of them it did not like.
        alone: bool,
    },
    /// The shard is not ours any more.
    NotOurs,
}

/// Tells a stage of changes.
pub(super) struct Telling<E: Entity> {
    pub(super) watcher: Watcher<E>,
    pub(super) damage: Damage,
    pub(super) shard: u32,
    pub(super) fence: Fence,
    pub(super) stage: Arc<dyn Stage<E>>,
    /// Whether every call is to be about one change.
    pub(super) alone: bool,
}

/// The rows of changes of different entities, and what they say.
type Readable<E> = (Vec<Place>, Vec<Saved<E>>);

/// A row, and which entity it is about.
struct Place {
    key: Key,
    entity: String,
}

type Answers = Vec<Result<(), StageError>>;

impl<E: Entity> Telling<E> {
    /// Tells the stage of the first change of each entity, and deletes the rows of which it has heard. The first failure is the end of it.
    pub(super) async fn run(self, rows: Vec<Row>) -> Result<Told> {
        let mut done = Vec::new();
        let (places, saved) = self.read(rows, &mut done).await;
        let calls_of = if self.alone { 1 } else { self.watcher.limits_of(self.stage.id()).batch_max };
        let calls_of = calls_of.clamp(1, CHANGES_AT_ONCE);
        let at_once = if self.alone { CALLS_AT_ONCE } else { CHANGES_AT_ONCE / calls_of * calls_of };
        let mut any_heard = false;
        for (places, saved) in places.chunks(at_once).zip(saved.chunks(at_once)) {
            let calls = join_all(saved.chunks(calls_of).map(|saved| self.call(saved))).await;
            let alone =
                calls.iter().zip(saved.chunks(calls_of)).any(|(call, of)| call.is_err() && of.len() > 1);
            let answers = calls.into_iter().zip(saved.chunks(calls_of)).flat_map(|(call, of)| {
                call.unwrap_or_else(|error| of.iter().map(|_| Err(error.clone())).collect())
            });
            let heard = self.take_note(places, saved, answers.collect(), &mut done);
            any_heard |= heard > 0;
            if self.delete(&std::mem::take(&mut done)).await? == Moved::NotOurs {
                return Ok(Told::NotOurs);
            }
            if heard < places.len() {
                return Ok(Told::Failed { heard: any_heard, alone });
            }
        }
        let last = self.delete(&done).await?;
        Ok(if last == Moved::NotOurs { Told::NotOurs } else { Told::All })
    }

    /// The first change of each entity. Rows that cannot be read are deleted with the others: nobody could ever be told of them.
    async fn read(&self, rows: Vec<Row>, done: &mut Vec<Key>) -> Readable<E> {
        let (mut places, mut saved, mut entities) = (Vec::new(), Vec::new(), BTreeSet::new());
        for row in rows {
            match readable(&row, &entities).await {
                Ok(None) => {}
                Ok(Some((entity, change))) => {
                    entities.insert(entity.clone());
                    places.push(Place { key: row.key, entity });
                    saved.push(change);
                }
                Err(detail) => {
                    self.damage.note(&row.key, &detail, "its stage will not hear of it");
                    done.push(row.key);
                }
            }
        }
        (places, saved)
    }

    /// Deletes rows that are done with. An error of the store is no reason for the stage to hear of them again: it is tried again here.
    async fn delete(&self, done: &[Key]) -> Result<Moved> {
        let mut failures = 0;
        loop {
            let mut batch = Batch::new();
            for key in done {
                batch.delete(key.clone());
            }
            match commit(&self.watcher, &self.fence, batch).await {
                Err(error) if failures < DELETIONS_MAX => {
                    failures += 1;
                    log_failure(E::KIND, self.shard, &error, failures, "note what a stage has heard");
                    sleep(pause_after_errors(failures)).await;
                }
                outcome => return outcome,
            }
        }
    }

    /// One answer for each change, or why there are none.
    async fn call(&self, saved: &[Saved<E>]) -> Result<Answers, StageError> {
        let timeout = self.watcher.limits_of(self.stage.id()).timeout;
        let answers = caught_within(timeout, self.stage.on_saved_many(saved)).await?;
        if answers.len() == saved.len() {
            return Ok(answers);
        }
        let error = format!("it gave {} answers to {} changes", answers.len(), saved.len());
        Err(StageError::Passing(error))
    }

    /// Adds to `done` what need not be told again; returns how many those are.
    fn take_note(
        &self,
        places: &[Place],
        saved: &[Saved<E>],
        answers: Answers,
        done: &mut Vec<Key>,
    ) -> usize {
        let (stage, mut heard, mut first_failure) = (self.stage.id(), 0, None);
        for ((Place { key, entity }, saved), answer) in places.iter().zip(saved).zip(answers) {
            let version = saved.version;
            match answer {
                Ok(()) => {}
                Err(StageError::Lasting(error)) => {
                    tracing::error!(stage, entity, version, error, "a stage refused to hear of its change");
                }
                Err(StageError::Passing(error) | StageError::Away(error)) => {
                    if planted!(Untold) {
                        done.push(key.clone());
                    }
                    first_failure.get_or_insert((entity, version, error));
                    continue;
                }
            }
            heard += 1;
            done.push(key.clone());
        }
        if let Some((entity, version, error)) = first_failure {
            let failed = places.len() - heard;
            tracing::warn!(
                stage,
                entity,
                version,
                error,
                failed,
                "a stage will be told of its changes again"
            );
        }
        heard
    }
}

/// The entity's id, and the change; `None` if it is about one of these entities.
async fn readable<E: Entity>(
    row: &Row,
    entities: &BTreeSet<String>,
) -> Result<Option<(String, Saved<E>)>, String> {
    let (.., id, version) = SAVED.parts(&row.key).map_err(|e| e.to_string())?;
    if entities.contains(&id) {
        return Ok(None);
    }
    let outgoing: Outgoing = decode(row).map_err(|e| e.to_string())?;
    let content = outgoing.entity.into();
    let entity = caught(async { E::decode(&content) }).await.map_err(|e| e.to_string())??;
    Ok(Some((id, Saved { entity, version: version.cast_unsigned(), state: outgoing.state.into() })))
}
