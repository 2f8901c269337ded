//! The delivery of the oldest changes of one stage in one shard.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::join_all;
use store::{Batch, Key, Row};
use tokio::time::sleep;

use super::super::backoff::error_backoff;
use super::super::{Committed, DamagedRows, commit, log_failure};
use crate::Result;
use crate::call::{caught, caught_within};
use crate::entity::Entity;
use crate::lease::Fence;
use crate::rows::{Outgoing, decode};
use crate::stage::{Saved, Stage, StageError};
use crate::tables::SAVED;
use crate::watcher::Watcher;

/// Changes that are delivered concurrently, in one call or in several.
const CHANGES_AT_ONCE: usize = 64;
/// The same if every call is about one change.
const CALLS_AT_ONCE: usize = 16;
/// Attempts to delete what was delivered.
const DELETIONS_MAX: u32 = 20;

/// The outcome of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivered {
    /// There may be more changes.
    All,
    Failed {
        /// Whether some changes were delivered.
        any_delivered: bool,
        /// Whether a call about several changes failed, so that the change to blame is not known.
        one_by_one: bool,
    },
    LeaseLost,
}

pub(super) struct Delivery<E: Entity> {
    pub(super) watcher: Watcher<E>,
    pub(super) damage: DamagedRows,
    pub(super) shard: u32,
    pub(super) fence: Fence,
    pub(super) stage: Arc<dyn Stage<E>>,
    /// Whether every call is about one change.
    pub(super) one_by_one: bool,
}

/// Changes of different entities with their rows.
type Readable<E> = (Vec<SavedRow>, Vec<Saved<E>>);

/// A row, and the entity that it is about.
struct SavedRow {
    key: Key,
    entity: String,
}

type Answers = Vec<Result<(), StageError>>;

impl<E: Entity> Delivery<E> {
    /// Delivers the first change of each entity, and deletes the rows. Stops at the first failure.
    pub(super) async fn run(self, rows: Vec<Row>) -> Result<Delivered> {
        let mut done = Vec::new();
        let (targets, saved) = self.read(rows, &mut done).await;
        let calls_of = if self.one_by_one { 1 } else { self.watcher.limits_of(self.stage.id()).batch_max };
        let calls_of = calls_of.clamp(1, CHANGES_AT_ONCE);
        let at_once = if self.one_by_one { CALLS_AT_ONCE } else { CHANGES_AT_ONCE / calls_of * calls_of };
        let mut any_delivered = false;
        for (targets, saved) in targets.chunks(at_once).zip(saved.chunks(at_once)) {
            let calls = join_all(saved.chunks(calls_of).map(|saved| self.call(saved))).await;
            let one_by_one =
                calls.iter().zip(saved.chunks(calls_of)).any(|(call, of)| call.is_err() && of.len() > 1);
            let answers = calls.into_iter().zip(saved.chunks(calls_of)).flat_map(|(call, of)| {
                call.unwrap_or_else(|error| of.iter().map(|_| Err(error.clone())).collect())
            });
            let delivered = self.record(targets, saved, answers.collect(), &mut done);
            any_delivered |= delivered > 0;
            if self.delete(&std::mem::take(&mut done)).await? == Committed::LeaseLost {
                return Ok(Delivered::LeaseLost);
            }
            if delivered < targets.len() {
                return Ok(Delivered::Failed { any_delivered, one_by_one });
            }
        }
        let last = self.delete(&done).await?;
        Ok(if last == Committed::LeaseLost { Delivered::LeaseLost } else { Delivered::All })
    }

    /// The first change of each entity. Rows that cannot be read are deleted with the others: they
    /// can never be delivered.
    async fn read(&self, rows: Vec<Row>, done: &mut Vec<Key>) -> Readable<E> {
        let (mut targets, mut saved, mut entities) = (Vec::new(), Vec::new(), BTreeSet::new());
        for row in rows {
            match readable(&row, &entities).await {
                Ok(None) => {}
                Ok(Some((entity, change))) => {
                    entities.insert(entity.clone());
                    targets.push(SavedRow { key: row.key, entity });
                    saved.push(change);
                }
                Err(detail) => {
                    self.damage.note(&row.key, &detail, "it is not delivered to its stage");
                    done.push(row.key);
                }
            }
        }
        (targets, saved)
    }

    /// Deletes rows. After an error of the store it tries again here, so that the stage does not
    /// get them twice.
    async fn delete(&self, done: &[Key]) -> Result<Committed> {
        let mut failures = 0;
        loop {
            let mut batch = Batch::new();
            for key in done {
                batch.delete(key.clone());
            }
            match commit(&self.watcher, &self.fence, batch).await {
                Err(error) if failures < DELETIONS_MAX => {
                    failures += 1;
                    log_failure(E::KIND, self.shard, &error, failures, "delete delivered changes");
                    sleep(error_backoff(failures)).await;
                }
                outcome => return outcome,
            }
        }
    }

    async fn call(&self, saved: &[Saved<E>]) -> Result<Answers, StageError> {
        let timeout = self.watcher.limits_of(self.stage.id()).timeout;
        caught_within(timeout, saved.len(), self.stage.on_saved_many(saved)).await
    }

    /// Adds the delivered rows to `done`; returns their number.
    fn record(
        &self,
        targets: &[SavedRow],
        saved: &[Saved<E>],
        answers: Answers,
        done: &mut Vec<Key>,
    ) -> usize {
        let (stage, mut delivered, mut first_failure) = (self.stage.id(), 0, None);
        for ((SavedRow { key, entity }, saved), answer) in targets.iter().zip(saved).zip(answers) {
            let version = saved.version;
            match answer {
                Ok(()) => {}
                Err(StageError::Lasting(error)) => {
                    tracing::error!(stage, entity, version, error, "a stage refused a saved change");
                }
                Err(StageError::Passing(error) | StageError::Away(error)) => {
                    if planted!(Untold) {
                        done.push(key.clone());
                    }
                    first_failure.get_or_insert((entity, version, error));
                    continue;
                }
            }
            delivered += 1;
            done.push(key.clone());
        }
        if let Some((entity, version, error)) = first_failure {
            let failed = targets.len() - delivered;
            tracing::warn!(
                stage,
                entity,
                version,
                error,
                failed,
                "a stage failed to handle its saved changes, will try again"
            );
        }
        delivered
    }
}

/// The entity's id and the change; `None` if the change is about one of these entities.
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
