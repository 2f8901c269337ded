//! The system stage: asks stages whether they want to visit entities that changed.
//!
//! A stage that is about to visit an entity anyway is not asked about it. All stages are asked at
//! the same time, each about all entities at once. Usually all of them answer soon, and one commit
//! enqueues what they want. What the quick ones want does not wait for the slow ones. A stage that
//! takes very long gets the visits, and is not asked for a while.

use std::collections::BTreeMap;
use std::pin::pin;

use bytes::Bytes;
use futures::StreamExt;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use store::{Outcome, Row};
use tokio::time::sleep;

use crate::Result;
use crate::answer::truncate;
use crate::ask::Cause;
use crate::change::{SYSTEM, Stored, changed_since, next_version};
use crate::enqueue::EnqueueRequest;
use crate::entity::Entity;
use crate::limits::{ANSWER_PATIENCE, ANSWER_TIME_MAX, ERROR_BYTES_MAX};
use crate::queue::{Lane, VisitRequest, dequeue, enqueue, park, queued_visit};
use crate::rows::{Entry, Head, Why, encode};
use crate::rules::{Rules, StageRule};
use crate::stage::Subject;
use crate::tables::STATES;
use crate::visit::{Due, End, Liveness, Visited, parse_id};
use crate::watcher::{Versioned, Watcher, decode_entity};
use clock::Time;

/// An entity about which stages are asked.
struct Question<'a, E> {
    due: &'a Due,
    found: Versioned<E>,
    head: Stored<Head>,
    /// The entries and states of the stages that may have to be asked.
    stages: BTreeMap<&'a str, (Stored<Entry>, Bytes)>,
    /// The visits that stages want and that are not queued yet.
    visits: BTreeMap<String, VisitRequest>,
    /// Whether something was queued before all stages had answered.
    is_early: bool,
}

/// What a stage answered.
struct Answered<'a> {
    stage: &'a str,
    /// By the number of the question.
    visits: Vec<(usize, VisitRequest)>,
    liveness: Liveness,
}

impl<E: Entity> Watcher<E> {
    /// Asks all stages that must be asked about some entities.
    pub(crate) async fn ask_stages(&self, rules: &Rules<E>, due: &[Due]) -> Visited {
        let mut ends: Vec<Option<Result<End>>> = Vec::with_capacity(due.len());
        let mut questions = Vec::new();
        match self.load_questions(due, self.now()).await {
            Ok(loaded) => {
                for question in loaded {
                    ends.push(question.map_or_else(Some, |question| {
                        questions.push(question);
                        None
                    }));
                }
            }
            Err(error) => return Visited::failed(due, &error),
        }
        if let Err(error) = self.add_stages(rules, &mut questions).await {
            return Visited::failed(due, &error);
        }
        let liveness = self.ask_all(rules, &mut questions).await;
        let commits: Vec<_> =
            questions.into_iter().map(|question| self.enqueue_and_finish(question)).collect();
        let mut ended = join_all(commits).await.into_iter();
        let ends = ends.into_iter().map(|end| end.or_else(|| ended.next()).unwrap_or(Ok(End::Again)));
        Visited { ends: ends.collect(), liveness }
    }

    /// Each entity with its head, in one read; or how its visit ends already.
    async fn load_questions<'a>(
        &self,
        due: &'a [Due],
        now: Time,
    ) -> Result<Vec<Result<Question<'a, E>, Result<End>>>> {
        let ids: Vec<Result<E::Id>> = due.iter().map(|due| parse_id::<E>(&due.entity)).collect();
        let mut keys = Vec::with_capacity(2 * due.len());
        for (due, id) in due.iter().zip(&ids) {
            if let Ok(id) = id {
                keys.extend([E::key(due.shard, id), due.entity(E::KIND).head_key()]);
            }
        }
        let mut rows = self.get_all(&keys).await?.into_iter();
        let mut questions = Vec::with_capacity(due.len());
        for (due, id) in due.iter().zip(ids) {
            questions.push(match id {
                Err(error) => Err(Err(error)),
                Ok(_) => match (rows.next().flatten(), rows.next().flatten()) {
                    (None, _) => Err(self.drop_missing(due).await),
                    (Some(entity), head) => self.question(due, &entity, head, now).await,
                },
            });
        }
        Ok(questions)
    }

    async fn question<'a>(
        &self,
        due: &'a Due,
        entity: &Row,
        head: Option<Row>,
        now: Time,
    ) -> Result<Question<'a, E>, Result<End>> {
        let head: Stored<Head> = Stored::read(head).map_err(Err)?;
        let queued = head.content.entry.as_option().and_then(queued_visit);
        if queued.is_none_or(|queued| queued.visit > now) {
            return Err(Ok(End::Gone));
        }
        match decode_entity(entity) {
            Ok(found) => {
                let (stages, visits) = (BTreeMap::new(), BTreeMap::new());
                Ok(Question { due, found, head, stages, visits, is_early: false })
            }
            Err(error) => Err(self.park_head(due, head, &error.to_string()).await),
        }
    }

    /// Parks an entity that cannot be read until it changes or is released.
    async fn park_head(&self, due: &Due, mut head: Stored<Head>, error: &str) -> Result<End> {
        tracing::error!(
            kind = E::KIND,
            entity = &*due.entity,
            error,
            "stages cannot be asked about an entity"
        );
        let (entity, mut batch) = (due.entity(E::KIND), due.batch());
        let mut entry = head.content.entry.take().unwrap_or_default();
        park(&mut batch, &entity.in_stage(SYSTEM), &mut entry, self.now());
        entry.error = truncate(error, ERROR_BYTES_MAX);
        head.content.entry = Some(entry).into();
        head.put(&mut batch, entity);
        let parked = self.store().commit(batch).await?.is_applied();
        Ok(if parked { End::Gone } else { End::Again })
    }

    /// Reads the entries and states of all stages that may have to be asked, in one read.
    async fn add_stages<'a>(&self, rules: &'a Rules<E>, questions: &mut [Question<'a, E>]) -> Result<()> {
        let stages: Vec<Vec<&'a str>> =
            questions.iter().map(|q| rules.to_ask(&changed_since(&q.head.content)).collect()).collect();
        let mut keys = Vec::new();
        for (question, stages) in questions.iter().zip(&stages) {
            let entity = question.due.entity(E::KIND);
            for stage in stages {
                let state = STATES.key((entity.shard, entity.kind, entity.entity, *stage));
                keys.extend([entity.entry_key(stage), state]);
            }
        }
        let mut rows = self.get_all(&keys).await?.into_iter();
        for (question, stages) in questions.iter_mut().zip(stages) {
            for stage in stages {
                let entry = Stored::read(rows.next().flatten())?;
                let state = rows.next().flatten().map(|row| row.value).unwrap_or_default();
                question.stages.insert(stage, (entry, state));
            }
        }
        Ok(())
    }

    /// Asks every stage about all entities that it is not about to visit anyway.
    async fn ask_all(&self, rules: &Rules<E>, questions: &mut [Question<'_, E>]) -> Vec<(String, Liveness)> {
        let (mut under_way, mut unanswered) = (FuturesUnordered::new(), BTreeMap::new());
        for (id, rule) in &rules.stages {
            let (about, subjects) = self.subjects_for(id, questions);
            if !about.is_empty() {
                under_way.push(self.ask_about(rules, rule, about.clone(), subjects));
                unanswered.insert(id.as_str(), about);
            }
        }
        let (mut patience, mut timeout) = (pin!(sleep(ANSWER_PATIENCE)), pin!(sleep(ANSWER_TIME_MAX)));
        let (mut all_liveness, mut is_late) = (Vec::new(), false);
        while !under_way.is_empty() {
            tokio::select! {
                biased;
                Some(Answered { stage, visits, liveness }) = under_way.next() => {
                    unanswered.remove(stage);
                    all_liveness.push((stage.to_owned(), liveness));
                    for (number, visit) in visits {
                        questions[number].visits.insert(stage.to_owned(), visit);
                    }
                }
                () = &mut patience, if !is_late => is_late = true,
                () = &mut timeout => break,
            }
            if is_late && !under_way.is_empty() {
                join_all(questions.iter_mut().map(|question| self.enqueue_early(question))).await;
            }
        }
        drop(under_way);
        for (stage, about) in unanswered {
            rules.slow_answers.timed_out(stage, self.now());
            let unsure = VisitRequest { visit: self.now(), lane: Cause::CHANGE.lane, why: Why::WHY_UNSURE };
            for number in about {
                questions[number].visits.insert(stage.to_owned(), unsure);
            }
        }
        all_liveness
    }

    /// The entities about which a stage is asked, with the numbers of their questions.
    fn subjects_for(&self, stage: &str, questions: &[Question<'_, E>]) -> (Vec<usize>, Vec<Subject<E>>) {
        let (now, mut about, mut subjects) = (self.now(), Vec::new(), Vec::new());
        for (number, question) in questions.iter().enumerate() {
            let Some((entry, state)) = question.stages.get(stage) else { continue };
            if queued_visit(&entry.content).is_none_or(|queued| queued.visit > now) {
                let Versioned { entity, version, .. } = question.found.clone();
                about.push(number);
                subjects.push(Subject { entity, version, state: state.clone(), now });
            }
        }
        (about, subjects)
    }

    async fn ask_about<'s>(
        &self,
        rules: &Rules<E>,
        rule: &'s StageRule<E>,
        about: Vec<usize>,
        subjects: Vec<Subject<E>>,
    ) -> Answered<'s> {
        let (visits, liveness) = self.ask(rules, rule, &subjects, Cause::CHANGE).await;
        let visits = about.into_iter().zip(visits).filter_map(|(number, visit)| Some((number, visit?)));
        Answered { stage: rule.stage.id(), visits: visits.collect(), liveness }
    }

    /// Enqueues what stages want so far; the entity goes on waiting for the others. If that fails,
    /// the final commit enqueues it.
    async fn enqueue_early(&self, question: &mut Question<'_, E>) {
        if question.visits.is_empty() {
            return;
        }
        self.spread_out(&mut question.visits);
        if let Ok(true) = self.enqueue_answered(question).await {
            question.visits.clear();
            question.is_early = true;
        }
    }

    /// Enqueues visits without taking the entity out of the queue of the system stage; says whether
    /// that was done.
    async fn enqueue_answered(&self, question: &Question<'_, E>) -> Result<bool> {
        let Question { due, found, visits, .. } = question;
        let row = E::key(due.shard, &found.entity.id());
        let request = EnqueueRequest { entity: due.entity(E::KIND), row, version: found.version, visits };
        let mut batch = due.batch();
        self.enqueue_all(&mut batch, &[request], true).await?;
        Ok(self.store().commit(batch).await?.is_applied())
    }

    /// Spreads several visits of one entity over time, if that is configured.
    fn spread_out(&self, visits: &mut BTreeMap<String, VisitRequest>) {
        if visits.len() > 1 {
            for visit in visits.values_mut().filter(|visit| visit.lane == Lane::Fresh) {
                visit.visit = visit.visit + self.random_part(self.config().spread);
            }
        }
    }

    /// Enqueues what stages want, and takes the entity out of the queue of the system stage.
    async fn enqueue_and_finish(&self, mut question: Question<'_, E>) -> Result<End> {
        let (entity, now) = (question.due.entity(E::KIND), self.now());
        if question.is_early {
            // Early visits may have written the head again, but its content must be the same.
            let head = self.head(entity).await?;
            if head.content != question.head.content {
                return self.enqueue_and_retry(question).await;
            }
            question.head = head;
        }
        self.spread_out(&mut question.visits);
        let mut batch = question.due.batch();
        batch.check(E::key(question.due.shard, &question.found.entity.id()), question.found.version);
        let mut head = question.head.clone();
        for (stage, visit) in &question.visits {
            let Some((Stored { version, content }, _)) = question.stages.get(&**stage) else { continue };
            let mut entry = Entry { attempts: 0, ..content.clone() };
            enqueue(&mut batch, &entity.in_stage(stage), &mut entry, *visit, now);
            let (key, next) = (entity.entry_key(stage), next_version(*version, &head.content));
            batch.check(key.clone(), *version).put(key, next, encode(&entry));
        }
        let mut entry = head.content.entry.take().unwrap_or_default();
        dequeue(&mut batch, &entity.in_stage(SYSTEM), &mut entry);
        head.content.entry = Some(entry).into();
        (head.content.changed, head.content.changed_more) = (Vec::new(), false);
        head.put(&mut batch, entity);
        match self.store().commit(batch).await? {
            Outcome::Applied => Ok(End::Saved { changed: false, fight: None }),
            Outcome::Conflict(keys) if question.due.fence.is_among(&keys) => Ok(End::Doubtful),
            Outcome::Conflict(_) => self.enqueue_and_retry(question).await,
        }
    }

    /// The entity changed while stages were asked, so they are asked again. What they want already
    /// is enqueued: a stage that answers more slowly than the entity changes would never see it.
    async fn enqueue_and_retry(&self, question: Question<'_, E>) -> Result<End> {
        if !question.visits.is_empty() {
            self.enqueue_answered(&question).await?;
        }
        Ok(End::Again)
    }
}
