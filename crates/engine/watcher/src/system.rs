//! The system stage: asks the stages that must be asked whether they want to visit entities that have changed.
//!
//! A stage that is about to visit an entity anyway is not asked about it. All stages are asked at the same time, each about all entities at once.
//! As a rule all of them answer soon, and one commit queues what they want. What is wanted by those who did answer does not wait for those who take long.
//! One that takes very long is not waited for: it is taken to want the entities, and is not asked for a while.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use store::{Batch, Outcome, Row};
use tokio::time::sleep;

use crate::Result;
use crate::answer::shortened;
use crate::ask::Cause;
use crate::change::{SYSTEM, Versioned, changed_since, next_version};
use crate::entity::Entity;
use crate::limits::{ANSWER_PATIENCE, ANSWER_TIME_MAX};
use crate::queue::{Lane, Wanted, leave, offer, park, waiting};
use crate::rows::{Entry, Head, Why, encode};
use crate::stage::{Stage, Subject};
use crate::tables::STATES;
use crate::time::Time;
use crate::visit::{Due, End, Heard, Visited, id_of};
use crate::watcher::{Found, Watcher, found, versioned};
use crate::wishes::Wishes;

/// An entity about which stages are asked.
struct Question<'a, E> {
    due: &'a Due,
    found: Found<E>,
    head: Versioned<Head>,
    /// The stages that may have to be asked: where the entity stands with them, and their states.
    stages: BTreeMap<&'a str, (Versioned<Entry>, Bytes)>,
    /// What stages want, as far as it is not queued.
    wishes: BTreeMap<String, Wanted>,
    /// Whether something was queued before all stages had answered.
    is_early: bool,
}

/// What a stage has answered.
struct Answered<'a> {
    stage: &'a str,
    /// By the number of the question.
    wishes: Vec<(usize, Wanted)>,
    heard: Heard,
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
        let heard = self.ask_all(&mut questions).await;
        let commits: Vec<_> = questions.into_iter().map(|question| self.queue_wishes(question)).collect();
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
            Ok(found) => Ok(Question {
                due,
                found,
                head,
                stages: BTreeMap::new(),
                wishes: BTreeMap::new(),
                is_early: false,
            }),
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

    /// Asks every stage about all entities that it is not about to visit anyway. One that takes too long is taken to want them.
    async fn ask_all(&self, questions: &mut [Question<'_, E>]) -> Vec<(String, Heard)> {
        let (mut under_way, mut thinking) = (FuturesUnordered::new(), BTreeMap::new());
        for stage in self.stages().values() {
            let (about, subjects) = self.to_ask(stage.id(), questions);
            if !about.is_empty() {
                under_way.push(self.ask_about(stage, about.clone(), subjects));
                thinking.insert(stage.id(), about);
            }
        }
        let (patience, all_patience) = (sleep(ANSWER_PATIENCE), sleep(ANSWER_TIME_MAX));
        let (mut patience, mut all_patience, mut all_heard) =
            (pin!(patience), pin!(all_patience), Vec::new());
        let mut is_late = false;
        while !under_way.is_empty() {
            tokio::select! {
                biased;
                Some(Answered { stage, wishes, heard }) = under_way.next() => {
                    thinking.remove(stage);
                    all_heard.push((stage.to_owned(), heard));
                    for (number, wish) in wishes {
                        questions[number].wishes.insert(stage.to_owned(), wish);
                    }
                }
                () = &mut patience, if !is_late => is_late = true,
                () = &mut all_patience => break,
            }
            if is_late && !under_way.is_empty() {
                join_all(questions.iter_mut().map(|question| self.queue_early(question))).await;
            }
        }
        drop(under_way);
        for (stage, about) in thinking {
            self.board().answered_in_time(stage, false, self.now());
            let unsure = Wanted { visit: self.now(), lane: Cause::CHANGE.lane, why: Why::WHY_UNSURE };
            for number in about {
                questions[number].wishes.insert(stage.to_owned(), unsure);
            }
        }
        all_heard
    }

    /// The entities about which a stage is asked, by their numbers.
    fn to_ask(&self, stage: &str, questions: &[Question<'_, E>]) -> (Vec<usize>, Vec<Subject<E>>) {
        let (now, mut about, mut subjects) = (self.now(), Vec::new(), Vec::new());
        for (number, question) in questions.iter().enumerate() {
            let Some((entry, state)) = question.stages.get(stage) else { continue };
            if waiting(&entry.content).is_none_or(|waits| waits.visit > now) {
                let Found { entity, version, .. } = question.found.clone();
                about.push(number);
                subjects.push(Subject { entity, version, state: state.clone(), now });
            }
        }
        (about, subjects)
    }

    /// Asks one stage.
    async fn ask_about<'s>(
        &'s self,
        stage: &'s Arc<dyn Stage<E>>,
        about: Vec<usize>,
        subjects: Vec<Subject<E>>,
    ) -> Answered<'s> {
        let (wishes, heard) = self.ask(stage, &subjects, Cause::CHANGE).await;
        let wishes = about.into_iter().zip(wishes).filter_map(|(number, wish)| Some((number, wish?)));
        Answered { stage: stage.id(), wishes: wishes.collect(), heard }
    }

    /// Queues what stages wish so far; the entity goes on waiting for the others. If that fails, it is done with what they wish.
    async fn queue_early(&self, question: &mut Question<'_, E>) {
        if question.wishes.is_empty() {
            return;
        }
        self.spread_out(&mut question.wishes);
        if let Ok(true) = self.offer_wishes(question).await {
            question.wishes.clear();
            question.is_early = true;
        }
    }

    /// Queues wishes without taking the entity out of the system stage's queue; says whether that was done.
    async fn offer_wishes(&self, question: &Question<'_, E>) -> Result<bool> {
        let Question { due, found, wishes, .. } = question;
        let entity = E::key(due.shard, &found.entity.id());
        let wishes = Wishes { which: due.which(E::KIND), entity, asked_about: found.version, wanted: wishes };
        let mut batch = Batch::new();
        due.fence.guard(&mut batch);
        self.add_wishes(&mut batch, &[wishes], true).await?;
        Ok(self.store().commit(batch).await?.is_applied())
    }

    /// Several stages that want an entity at once come at different times, if that is configured.
    fn spread_out(&self, wishes: &mut BTreeMap<String, Wanted>) {
        if wishes.len() > 1 {
            for wish in wishes.values_mut().filter(|wish| wish.lane == Lane::Fresh) {
                wish.visit = wish.visit + self.random_part(self.spread());
            }
        }
    }

    /// Queues what stages wish, and takes the entity out of the system stage's queue.
    async fn queue_wishes(&self, mut question: Question<'_, E>) -> Result<End> {
        let (which, now) = (question.due.which(E::KIND), self.now());
        if question.is_early {
            // What was queued early may have written the head, but nothing else in it may be different.
            let head = self.head(which).await?;
            if head.content != question.head.content {
                return self.queue_rest(question).await;
            }
            question.head = head;
        }
        self.spread_out(&mut question.wishes);
        let mut batch = Batch::new();
        question.due.fence.guard(&mut batch);
        batch.check(E::key(question.due.shard, &question.found.entity.id()), question.found.version);
        let Versioned { version: head_version, content: mut head } = question.head.clone();
        for (stage, wish) in &question.wishes {
            let Some((Versioned { version, content: entry }, _)) = question.stages.get(&**stage) else {
                continue;
            };
            let mut entry = entry.clone();
            entry.attempts = 0;
            offer(&mut batch, &which.in_stage(stage), &mut entry, *wish, now);
            let (key, next) = (which.entry_key(stage), next_version(*version, &head));
            batch.check(key.clone(), *version).put(key, next, encode(&entry));
        }
        let mut entry = head.entry.take().unwrap_or_default();
        leave(&mut batch, &which.in_stage(SYSTEM), &mut entry);
        head.entry = Some(entry).into();
        (head.changed, head.changed_more) = (Vec::new(), false);
        batch.check(which.head_key(), head_version).put(which.head_key(), head_version + 1, encode(&head));
        match self.store().commit(batch).await? {
            Outcome::Applied => Ok(End::Saved { changed: false, fight: None }),
            Outcome::Conflict(keys) if question.due.fence.is_among(&keys) => Ok(End::Doubtful),
            Outcome::Conflict(_) => self.queue_rest(question).await,
        }
    }

    /// The entity changed while stages thought about it. They will be asked again, but what they want already is not forgotten: one that
    /// thinks longer than the entity stays the same would never get to see it.
    async fn queue_rest(&self, question: Question<'_, E>) -> Result<End> {
        if !question.wishes.is_empty() {
            self.offer_wishes(&question).await?;
        }
        Ok(End::Again)
    }
}
