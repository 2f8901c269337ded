//! Dry runs: what a stage would do with entities. Nothing is saved.

use store::{Read, Row};

use crate::Result;
use crate::call::caught_within;
use crate::entity::Entity;
use crate::fields::Fields;
use crate::stage::{Answer, NewState, Stage, StageError, Subject};
use crate::tables::STATES;
use crate::watcher::{Versioned, Watcher, decode_entity};
use clock::Time;

/// What a stage would do with an entity.
#[derive(Clone, Debug)]
pub struct Rehearsed<E> {
    pub before: E,
    pub version: u64,
    /// The error says why the stage has no answer.
    pub outcome: Result<Outcome<E>, String>,
}

/// The effect of an answer.
#[derive(Clone, Debug)]
pub struct Outcome<E> {
    /// The entity after it and the fields that change; `None` if nothing changes.
    pub change: Option<(E, Fields)>,
    pub state_changes: bool,
    /// When the stage wants to visit the entity again.
    pub next: Option<Time>,
}

impl<E: Entity> Watcher<E> {
    /// At most `count` entities, about as many from each shard, from a random place of each if the
    /// entity supports it ([`Entity::random_id`]). Reads a row or two a shard more than it returns.
    pub async fn sample(&self, count: usize) -> Result<Vec<Versioned<E>>> {
        let shards = self.shards();
        let each = count.div_ceil(shards as usize).max(1);
        let first = (self.random_number() % u64::from(shards)) as u32;
        let mut sample = Vec::new();
        for shard in (0..shards).map(|n| (first + n) % shards) {
            // An entity that cannot be read is left out.
            sample.extend(self.some_of(shard, each).await?.iter().filter_map(|row| decode_entity(row).ok()));
            if sample.len() >= count {
                break;
            }
        }
        sample.truncate(count);
        Ok(sample)
    }

    /// Rows of a shard from a random place on, continued at its beginning.
    async fn some_of(&self, shard: u32, count: usize) -> Result<Vec<Row>> {
        let all = E::scan(shard);
        let place = E::random_id(self.random_number()).map(|id| E::key(shard, &id));
        let Some(place) = place else { return Ok(self.store().scan(&all.limit(count)).await?.rows) };
        let mut rows = self.store().scan(&all.clone().after(place.clone()).limit(count)).await?.rows;
        if rows.len() < count {
            let before = self.store().scan(&all.limit(count - rows.len())).await?.rows;
            rows.extend(before.into_iter().take_while(|row| row.key <= place));
        }
        Ok(rows)
    }

    /// What a stage would do: one of this watcher, or another one with the same id. It is called as
    /// usual: in batches, with a timeout.
    pub async fn rehearse(
        &self,
        stage: &dyn Stage<E>,
        entities: Vec<Versioned<E>>,
    ) -> Result<Vec<Rehearsed<E>>> {
        let limits = self.limits_of(stage.id());
        let key = |entity: &Versioned<E>| {
            let id = entity.entity.id().to_string();
            STATES.key((self.shard(&id), E::KIND, &*id, stage.id()))
        };
        let states = self.get_all(&entities.iter().map(key).collect::<Vec<_>>()).await?;
        let now = self.now();
        let subject = |(Versioned { entity, version, .. }, state): (Versioned<E>, Option<Row>)| {
            let state = state.map(|row| row.value).unwrap_or_default();
            Subject { entity, version, state, now }
        };
        let subjects: Vec<Subject<E>> = entities.into_iter().zip(states).map(subject).collect();
        let mut answers = Vec::with_capacity(subjects.len());
        for subjects in subjects.chunks(limits.batch_max) {
            match caught_within(limits.timeout, subjects.len(), stage.process_many(subjects)).await {
                Ok(more) => answers.extend(more),
                Err(error) => answers.extend(subjects.iter().map(|_| Err(error.clone()))),
            }
        }
        let rehearsed = |(subject, answer): (Subject<E>, Result<Answer<E>, StageError>)| {
            let answer = answer.and_then(|answer| self.check(&subject, answer));
            let outcome = answer.map_err(|error| error.to_string()).map(|answer| Outcome {
                change: answer.change.map(|change| (change.after.into_owned(), change.fields)),
                state_changes: matches!(&answer.state, NewState::Set(state) if *state != subject.state),
                next: answer.next,
            });
            Rehearsed { before: subject.entity, version: subject.version, outcome }
        };
        Ok(subjects.into_iter().zip(answers).map(rehearsed).collect())
    }
}
