//! The system stage: asks the stages that must be asked whether they want to visit entities that have changed.
//!
//! A stage that is about to visit an entity anyway is not asked about it. All stages are asked at the same time, each about all entities at once.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures::future::join_all;
use store::{Batch, Outcome, Row};

use crate::Result;
use crate::answer::shortened;
use crate::ask::Cause;
use crate::change::{SYSTEM, Versioned, changed_since, next_version};
use crate::entity::Entity;
use crate::queue::{Lane, Wanted, leave, offer, park, waiting};
use crate::rows::{Entry, Head, encode};
use crate::stage::Subject;
use crate::tables::STATES;
use crate::time::Time;
use crate::visit::{Due, End, Heard, Visited, id_of};
use crate::watcher::{Found, Watcher, found, versioned};

/// An entity about which stages are asked.
struct Question<'a, E> {
    due: &'a Due,
    found: Found<E>,
    head: Versioned<Head>,
    /// The stages that may have to be asked: where the entity stands with them, and their states.
    stages: BTreeMap<&'a str, (Versioned<Entry>, Bytes)>,
    wishes: BTreeMap<&'a str, Wanted>,
}

impl<E: Entity> Watcher<E> {
    /// Asks all stages that must be asked about some entities.
    pub(crate) async fn ask_stages(&self, due: &[Due]) -> Visited {
        let now = self.now();
        let mut ends: Vec<Option<Result<End>>> = Vec::with_capacity(due.len());
        let mut questions = Vec::new();
        match self.heads(due, now).await {
            Ok(heads) => {
                for head in heads {
                    ends.push(head.map_or_else(Some, |question| {
                        questions.push(question);
                        None
                    }));
                }
            }
            Err(error) => return Visited::failed(due, &error),
        }
        if let Err(error) = self.add_stages(&mut questions).await {
            return Visited::failed(due, &error);
        }
        let heard = self.ask_all(&mut questions, now).await;
        let commits: Vec<_> =
            questions.into_iter().map(|question| self.queue_wishes(question, now)).collect();
        let mut ended = join_all(commits).await.into_iter();
        let ends =
            ends.into_iter().map(|end| end.or_else(|| ended.next()).unwrap_or(Ok(End::Again))).collect();
        Visited { ends, heard }
    }

    /// Each entity with its head, in one read; or how its visit ends already.
    async fn heads<'a>(
        &self,
        due: &'a [Due],
        now: Time,
    ) -> Result<Vec<Result<Question<'a, E>, Result<End>>>> {
        let ids: Vec<Result<E::Id>> = due.iter().map(|due| id_of::<E>(&due.entity)).collect();
        let mut keys = Vec::with_capacity(2 * due.len());
        for (due, id) in due.iter().zip(&ids) {
            if let Ok(id) = id {
                keys.extend([E::key(due.shard, id), due.which(E::KIND).head_key()]);
            }
        }
        let mut rows = self.get_all(&keys).await?.into_iter();
        let mut heads = Vec::with_capacity(due.len());
        for (due, id) in due.iter().zip(ids) {
            if let Err(error) = id {
                heads.push(Err(Err(error)));
                continue;
            }
            let (entity, head) = (rows.next().flatten(), rows.next().flatten());
            heads.push(match (entity, head) {
                (None, _) => Err(self.forget(due).await),
                (Some(entity), head) => self.question(due, &entity, head, now).await,
            });
        }
        Ok(heads)
    }

    async fn question<'a>(
        &self,
        due: &'a Due,
        entity: &Row,
        head: Option<Row>,
        now: Time,
    ) -> Result<Question<'a, E>, Result<End>> {
        let head: Versioned<Head> = versioned(head).map_err(Err)?;
        let waits = head.content.entry.as_option().and_then(waiting);
        if waits.is_none_or(|waits| waits.visit > now) {
            return Err(Ok(End::Gone));
        }
        match found(entity) {
            Ok(found) => Ok(Question { due, found, head, stages: BTreeMap::new(), wishes: BTreeMap::new() }),
            Err(error) => Err(self.park_head(due, head, &error.to_string()).await),
        }
    }

    /// Parks an entity that cannot be read: nobody can be asked about it before it changes.
    async fn park_head(&self, due: &Due, head: Versioned<Head>, error: &str) -> Result<End> {
        tracing::error!(kind = E::KIND, entity = &*due.entity, error, "nobody can be asked about an entity");
        let Versioned { version, content: mut head } = head;
        let (which, mut batch) = (due.which(E::KIND), Batch::new());
        let mut entry = head.entry.take().unwrap_or_default();
        park(&mut batch, &which.in_stage(SYSTEM), &mut entry, self.now());
        entry.error = shortened(error);
        head.entry = Some(entry).into();
        due.fence.guard(&mut batch);
        batch.check(which.head_key(), version).put(which.head_key(), version + 1, encode(&head));
        let parked = self.store().commit(batch).await?.is_applied();
        Ok(if parked { End::Gone } else { End::Again })
    }

    /// Reads where all entities stand with all stages that may have to be asked, in one read.
    async fn add_stages<'a>(&'a self, questions: &mut [Question<'a, E>]) -> Result<()> {
        let mut keys = Vec::new();
        let stages: Vec<Vec<&'a str>> =
            questions.iter().map(|q| self.rules().to_ask(&changed_since(&q.head.content))).collect();
        for (question, stages) in questions.iter().zip(&stages) {
            let which = question.due.which(E::KIND);
            for stage in stages {
                let state = STATES.key((which.shard, which.kind, which.entity, *stage));
                keys.extend([which.entry_key(stage), state]);
            }
        }
        let mut rows = self.get_all(&keys).await?.into_iter();
        for (question, stages) in questions.iter_mut().zip(stages) {
            for stage in stages {
                let entry = versioned(rows.next().flatten())?;
                let state = rows.next().flatten().map(|row| row.value).unwrap_or_default();
                question.stages.insert(stage, (entry, state));
            }
        }
        Ok(())
    }

    /// Asks every stage about all entities that it is not about to visit anyway.
    async fn ask_all(&self, questions: &mut [Question<'_, E>], now: Time) -> Vec<(String, Heard)> {
        let ask = |(id, stage)| {
            let id: &String = id;
            let (mut about, mut subjects) = (Vec::new(), Vec::new());
            for (number, question) in questions.iter().enumerate() {
                let Some((entry, state)) = question.stages.get(&**id) else { continue };
                if waiting(&entry.content).is_none_or(|waits| waits.visit > now) {
                    let Found { entity, version } = question.found.clone();
                    about.push(number);
                    subjects.push(Subject { entity, version, state: state.clone(), now });
                }
            }
            async move {
                let (wishes, heard) = self.ask(stage, &subjects, Cause::CHANGE).await;
                (id, about, wishes, heard)
            }
        };
        let answers = join_all(self.stages().iter().map(ask).collect::<Vec<_>>()).await;
        let mut all_heard = Vec::new();
        for (id, about, wishes, heard) in answers {
            for (number, wish) in about.into_iter().zip(wishes) {
                let name = questions[number].stages.get_key_value(&**id).map(|(name, _)| *name);
                if let (Some(name), Some(wish)) = (name, wish) {
                    questions[number].wishes.insert(name, wish);
                }
            }
            all_heard.push((id.clone(), heard));
        }
        all_heard
    }

    /// Queues what stages wish, and takes the entity out of the system stage's queue.
    async fn queue_wishes(&self, question: Question<'_, E>, now: Time) -> Result<End> {
        let Question { due, found, head, mut stages, wishes } = question;
        let which = due.which(E::KIND);
        let mut batch = Batch::new();
        due.fence.guard(&mut batch);
        batch.check(E::key(due.shard, &found.entity.id()), found.version);
        let several = wishes.len() > 1;
        for (stage, mut wish) in wishes {
            let Some((Versioned { version, content: mut entry }, _)) = stages.remove(stage) else { continue };
            if several && wish.lane == Lane::Fresh {
                wish.visit = wish.visit + self.random_part(self.spread());
            }
            entry.attempts = 0;
            offer(&mut batch, &which.in_stage(stage), &mut entry, wish, now);
            let key = which.entry_key(stage);
            let next = next_version(version, &head.content);
            batch.check(key.clone(), version).put(key, next, encode(&entry));
        }
        let Versioned { version, content: mut head } = head;
        let mut entry = head.entry.take().unwrap_or_default();
        leave(&mut batch, &which.in_stage(SYSTEM), &mut entry);
        head.entry = Some(entry).into();
        (head.changed, head.changed_more) = (Vec::new(), false);
        batch.check(which.head_key(), version).put(which.head_key(), version + 1, encode(&head));
        match self.store().commit(batch).await? {
            Outcome::Applied => Ok(End::Saved { changed: false, fight: None }),
            Outcome::Conflict(keys) if due.fence.is_among(&keys) => Ok(End::Doubtful),
            Outcome::Conflict(_) => Ok(End::Again),
        }
    }
}
