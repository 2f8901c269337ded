//! A visit: one stage looks at some entities, and the result of each is saved in one batch.
//!
//! The batch applies only if the shard is still ours, and if the entity, the state of the stage and
//! the entry are as the stage saw them. On a conflict:
//! - only fields changed that the stage neither reads nor writes, and it answered with a patch: the
//!   patch is made to the new version;
//! - otherwise nothing is saved, the entity stays queued, and the visit is made again.
//!
//! `answer.rs` checks answers and turns them into batches.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use store::{Batch, Key, Outcome, Row};

use crate::answer::{CheckedAnswer, can_rebase};
use crate::budget::Fight;
use crate::call::caught_within;
use crate::change::{EnqueueState, EntityRef, SYSTEM, Stored};
use crate::entity::{Entity, Prepared};
use crate::lease::Fence;
use crate::limits::{REBASES_MAX, SLOW_CALL, SLOW_SAVES_AT_ONCE};
use crate::queue::queued_visit;
use crate::rows::{Entry, Head};
use crate::rules::{Rules, StageRule};
use crate::stage::{Answer, StageError, Subject};
use crate::tables::{QUEUES, STATES};
use crate::watcher::{Versioned, Watcher, decode_entity};
use crate::{Error, Result};
use clock::Time;

/// An entity that is due.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    pub(crate) shard: u32,
    pub(crate) entity: Arc<str>,
    /// The queue row that says so.
    pub(crate) row: Key,
    pub(crate) fence: Fence,
}

impl Due {
    pub(crate) fn entity<'a>(&'a self, kind: &'a str) -> EntityRef<'a> {
        EntityRef { shard: self.shard, kind, entity: &self.entity }
    }

    /// A batch that applies only while the shard is ours.
    pub(crate) fn batch(&self) -> Batch {
        let mut batch = Batch::new();
        self.fence.guard(&mut batch);
        batch
    }
}

/// How a visit ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The answer is saved.
    Saved {
        /// Whether the entity changed.
        changed: bool,
        /// How stages fight over the entity, if they do.
        fight: Option<Fight>,
    },
    /// The stage failed, and the attempt is saved.
    Failed { error: StageError, parked: bool },
    /// The stage said nothing about this entity, and nothing is saved: the visit is still due.
    Left,
    /// There is no such visit any more.
    Gone,
    /// Something changed meanwhile: the visit must be made again.
    Again,
    /// Something changed meanwhile, and the shard may not be ours any more.
    Doubtful,
}

/// Whether a stage has shown that it is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Liveness {
    NotCalled,
    /// It answered about at least one entity, if only with a lasting error.
    Answered,
    /// It failed over all entities, in a way that may pass.
    Silent(StageError),
}

impl Liveness {
    /// What the answers of one call say of the stage.
    pub(crate) fn of<T>(answers: &[Result<T, StageError>]) -> Self {
        let mut silent = Self::NotCalled;
        for answer in answers {
            match answer {
                Err(error @ (StageError::Passing(_) | StageError::Away(_))) => {
                    silent = Self::Silent(error.clone());
                }
                Ok(_) | Err(StageError::Lasting(_)) => return Self::Answered,
            }
        }
        silent
    }
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Visited {
    /// One end for each entity, in the same order.
    pub(crate) ends: Vec<Result<End>>,
    /// By stage.
    pub(crate) liveness: Vec<(String, Liveness)>,
}

impl Visited {
    pub(crate) fn failed(due: &[Due], error: &Error) -> Self {
        Self { ends: due.iter().map(|_| Err(error.clone())).collect(), liveness: Vec::new() }
    }
}

/// What the stage is shown, and the rows on which its answer will be based.
pub(crate) struct VisitInput<E> {
    pub(crate) subject: Subject<E>,
    pub(crate) entry: Stored<Entry>,
    pub(crate) state_version: u64,
}

type Answers<E> = Vec<Result<Answer<E>, StageError>>;

impl<E: Entity> Watcher<E> {
    /// Visits several entities with one call of a stage. A failed `probe`, and a call of a stage
    /// that cannot be reached, do not count as attempts.
    pub(crate) async fn visit(
        &self,
        rules: &Rules<E>,
        rule: &StageRule<E>,
        due: &[Due],
        probe: bool,
    ) -> Visited {
        let (stage, now) = (rule.stage.id(), self.now());
        let inputs = match self.load_inputs(stage, due, now).await {
            Ok(inputs) => inputs,
            Err(error) => return Visited::failed(due, &error),
        };
        let is_due = |input: &VisitInput<E>| {
            queued_visit(&input.entry.content).is_some_and(|w| w.visit <= now || planted!(EarlyVisit))
        };
        let (mut subjects, mut rows) = (Vec::new(), Vec::new());
        let mut others: Vec<Option<Result<Option<VisitInput<E>>>>> = Vec::with_capacity(due.len());
        for (due, input) in due.iter().zip(inputs) {
            others.push(match input {
                Ok(Some(input)) if is_due(&input) => {
                    subjects.push(input.subject);
                    rows.push((due, input.entry, input.state_version));
                    None
                }
                other => Some(other),
            });
        }
        let (answers, liveness) = self.call(rule, &subjects).await;
        let is_slow = self.now().since(now) > SLOW_CALL;
        let is_no_attempt = match liveness {
            Liveness::Silent(StageError::Away(_)) => true,
            Liveness::Silent(_) => probe,
            Liveness::NotCalled | Liveness::Answered => false,
        };
        let mut saved = match answers {
            Some(answers) if !is_no_attempt => {
                // The stage is done with the subjects: they are what the answers were made from.
                let inputs = subjects.into_iter().zip(rows).map(|(subject, (due, entry, state_version))| {
                    (due, VisitInput { subject, entry, state_version })
                });
                self.save_answers(rules, rule, inputs.zip(answers).collect(), is_slow).await
            }
            _ => subjects.iter().map(|_| Ok(End::Left)).collect(),
        }
        .into_iter();
        let mut ends = Vec::with_capacity(due.len());
        for (due, other) in due.iter().zip(others) {
            ends.push(match other {
                None => saved.next().unwrap_or(Ok(End::Again)),
                Some(Ok(Some(_))) => Ok(End::Gone),
                Some(Ok(None)) => self.drop_missing(due).await,
                Some(Err(Error::Damaged { place, detail })) => {
                    self.park_damaged(stage, due, &place, &detail).await
                }
                Some(Err(error)) => Err(error),
            });
        }
        Visited { ends, liveness: vec![(stage.to_owned(), liveness)] }
    }

    /// Takes an entity that does not exist out of a queue: it was deleted without the watcher.
    pub(crate) async fn drop_missing(&self, due: &Due) -> Result<End> {
        let mut batch = due.batch();
        batch.check_absent(E::key(due.shard, &parse_id::<E>(&due.entity)?)).delete(due.row.clone());
        let (entity, (_, _, _, stage, ..)) = (due.entity(E::KIND), QUEUES.parts(&due.row)?);
        if stage == SYSTEM {
            let mut head: Stored<Head> = self.head(entity).await?;
            head.content.entry = None.into();
            head.put(&mut batch, entity);
        } else {
            batch.delete(entity.entry_key(&stage));
        }
        let gone = self.store().commit(batch).await?.is_applied();
        Ok(if gone { End::Gone } else { End::Again })
    }

    /// Parks an entity that cannot be read.
    async fn park_damaged(&self, stage: &str, due: &Due, place: &str, detail: &str) -> Result<End> {
        let key = due.entity(E::KIND).entry_key(stage);
        let entry = Stored::read(self.get_all(&[key]).await?.pop().flatten())?;
        let error = StageError::Lasting(format!("{place} is damaged: {detail}"));
        let mut batch = due.batch();
        self.add_failure(&mut batch, stage, due, 0, entry, &error);
        let parked = self.store().commit(batch).await?.is_applied();
        Ok(if parked { End::Failed { error, parked } } else { End::Again })
    }

    /// Reads what each visit starts from, all at once; `None` where there is no entity.
    async fn load_inputs(
        &self,
        stage: &str,
        due: &[Due],
        now: Time,
    ) -> Result<Vec<Result<Option<VisitInput<E>>>>> {
        let ids: Vec<Result<E::Id>> = due.iter().map(|due| parse_id::<E>(&due.entity)).collect();
        let mut keys = Vec::with_capacity(3 * due.len());
        for (due, id) in due.iter().zip(&ids) {
            if let Ok(id) = id {
                let state = STATES.key((due.shard, E::KIND, &*due.entity, stage));
                keys.extend([E::key(due.shard, id), due.entity(E::KIND).entry_key(stage), state]);
            }
        }
        let mut rows = self.get_all(&keys).await?.into_iter();
        let mut next = || rows.next().flatten();
        let input = |id: Result<E::Id>| id.and_then(|_| visit_input([next(), next(), next()], now));
        Ok(ids.into_iter().map(input).collect())
    }

    /// Calls a stage, which may hang, panic or answer nonsense. No answers: a call about several
    /// entities failed, and the entity to blame is not known.
    async fn call(&self, rule: &StageRule<E>, subjects: &[Subject<E>]) -> (Option<Answers<E>>, Liveness) {
        let count = subjects.len();
        if count == 0 {
            return (Some(Vec::new()), Liveness::NotCalled);
        }
        match caught_within(rule.limits.timeout, count, rule.stage.process_many(subjects)).await {
            Ok(answers) => {
                let liveness = Liveness::of(&answers);
                (Some(answers), liveness)
            }
            Err(error) => ((count == 1).then(|| vec![Err(error.clone())]), Liveness::Silent(error)),
        }
    }

    #[expect(clippy::type_complexity, reason = "what was seen beside what was answered")]
    /// Saves the results of visits: all of them at the same time, or a few if the stage is slow.
    async fn save_answers(
        &self,
        rules: &Rules<E>,
        rule: &StageRule<E>,
        answers: Vec<((&Due, VisitInput<E>), Result<Answer<E>, StageError>)>,
        is_slow: bool,
    ) -> Vec<Result<End>> {
        let mut checked = Vec::with_capacity(answers.len());
        for ((due, input), answer) in answers {
            let answer = answer.and_then(|answer| self.check(&input.subject, answer));
            checked.push((due, input, answer));
        }
        let answers: Vec<(&Due, VisitInput<E>, Result<CheckedAnswer<E>, StageError>)> = checked;
        let changes = answers.iter().filter_map(|(due, _, answer)| {
            let change = answer.as_ref().ok()?.change.as_ref()?;
            Some((due.entity(E::KIND), Some(rule.stage.id()), &change.fields))
        });
        let changes: Vec<_> = changes.collect();
        let mut states = match self.enqueue_states(rules, &changes).await {
            Ok(states) => states.into_iter(),
            Err(error) => return answers.iter().map(|_| Err(error.clone())).collect(),
        };
        let saves = answers.into_iter().map(|(due, input, answer)| {
            let changes = answer.as_ref().is_ok_and(|answer| answer.change.is_some());
            let state = changes.then(|| states.next()).flatten();
            self.save_answer(rules, rule, due, input, answer, state)
        });
        let saves: Vec<_> = saves.collect();
        let at_once = if is_slow { SLOW_SAVES_AT_ONCE } else { saves.len().max(1) };
        stream::iter(saves).buffered(at_once).collect().await
    }

    /// Saves the result of one visit, rebased on what changed meanwhile as far as that is right.
    async fn save_answer(
        &self,
        rules: &Rules<E>,
        rule: &StageRule<E>,
        due: &Due,
        seen: VisitInput<E>,
        mut answer: Result<CheckedAnswer<E>, StageError>,
        mut state: Option<EnqueueState>,
    ) -> Result<End> {
        let (stage, mut newer): (_, Option<VisitInput<E>>) = (rule.stage.id(), None);
        for _ in 0..REBASES_MAX {
            let input = newer.as_ref().unwrap_or(&seen);
            let mut batch = due.batch();
            let end = match &answer {
                Ok(answer) => {
                    self.add_answer(&mut batch, rules, stage, due, input, answer, state.take()).await?
                }
                Err(error) => {
                    let version = input.subject.version;
                    let parked =
                        self.add_failure(&mut batch, stage, due, version, input.entry.clone(), error);
                    End::Failed { error: error.clone(), parked }
                }
            };
            match self.store().commit(batch).await? {
                Outcome::Applied => return Ok(end),
                Outcome::Conflict(keys) if due.fence.is_among(&keys) => return Ok(End::Doubtful),
                Outcome::Conflict(_) => {}
            }
            let due = std::slice::from_ref(due);
            let loaded = self.load_inputs(stage, due, input.subject.now).await?.pop().unwrap_or(Ok(None))?;
            let Some(loaded) = loaded else { return Ok(End::Gone) };
            if !can_rebase(&*rule.stage, &answer, &seen, input, &loaded) {
                return Ok(End::Again);
            }
            if let Ok(answer) = &mut answer {
                answer.rebase(&loaded.subject);
            }
            newer = Some(loaded);
        }
        Ok(End::Again)
    }
}

impl<E: Entity> CheckedAnswer<E> {
    /// Makes the same patch to a newer version.
    fn rebase(&mut self, subject: &Subject<E>) {
        if let (Some(change), Some(fields)) = (&self.change, &self.patched) {
            let mut after = subject.entity.clone();
            after.take_fields(fields, &change.after);
            let change = Prepared::between(Some(&subject.entity), Cow::Owned(after));
            self.change = Some(change).filter(|change| !change.fields.is_empty());
        }
    }
}

/// The id that a queue row names.
pub(crate) fn parse_id<E: Entity>(text: &str) -> Result<E::Id> {
    text.parse().map_err(|_| Error::Damaged {
        place: format!("{} {text}", E::KIND),
        detail: "the id cannot be parsed from its own text".to_owned(),
    })
}

/// The rows are those of the entity, the entry and the state.
fn visit_input<E: Entity>(
    [entity, entry, state]: [Option<Row>; 3],
    now: Time,
) -> Result<Option<VisitInput<E>>> {
    let Some(entity) = entity else { return Ok(None) };
    let Versioned { entity, version, .. } = decode_entity(&entity)?;
    let (state_version, state) = state.map_or((0, Bytes::new()), |row| (row.version, row.value));
    let subject = Subject { entity, version, state, now };
    Ok(Some(VisitInput { subject, entry: Stored::read(entry)?, state_version }))
}
