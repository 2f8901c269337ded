//! Rehearsals: what a stage would make of entities. Nothing is saved, and nobody hears of it.

use store::{Read, Row};

use crate::answer::changed;
use crate::call::caught_within;
use crate::entity::Entity;
use crate::fields::Fields;
use crate::limits::READ_KEYS_MAX;
use crate::stage::{NewState, Stage, Subject};
use crate::tables::STATES;
use crate::time::Time;
use crate::watcher::{Found, Watcher, found};
use crate::{Error, Result};

/// What a stage would make of an entity.
#[derive(Clone, Debug)]
pub struct Rehearsed<E> {
    /// The entity as it is.
    pub before: E,
    /// Its version.
    pub version: u64,
    /// What would become of it, or why the stage has no answer.
    pub outcome: Result<Outcome<E>, String>,
}

/// What an answer comes to.
#[derive(Clone, Debug)]
pub struct Outcome<E> {
    /// The entity after it, and the fields that change; `None` if nothing does.
    pub change: Option<(E, Fields)>,
    /// Whether the private state becomes another.
    pub state_changes: bool,
    /// When the stage wants to see the entity again.
    pub next: Option<Time>,
}

impl<E: Entity> Watcher<E> {
    /// Entities from all over the base, about as many from each shard, at most `count`. In each shard they begin at a random place, if the entity knows of one
    /// ([`Entity::random_id`]), so that two samples differ. Reads no more than it returns, but for a row or two a shard.
    pub async fn sample(&self, count: usize) -> Result<Vec<Found<E>>> {
        let shards = self.shards();
        let each = count.div_ceil(shards as usize).max(1);
        let first = (self.random_number() % u64::from(shards)) as u32;
        let mut sample = Vec::new();
        for shard in (0..shards).map(|n| (first + n) % shards) {
            // One that cannot be read is none for a rehearsal.
            sample.extend(self.some_of(shard, each).await?.iter().filter_map(|row| found(row).ok()));
            if sample.len() >= count {
                break;
            }
        }
        sample.truncate(count);
        Ok(sample)
    }

    /// So many rows of a shard from a random place on, and from its beginning if there are not enough behind that.
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

    /// What a stage would make of entities: one of this watcher, or another one that has the same id. They are called as it is usual for the stage: in batches, for a limited time.
    pub async fn rehearse(&self, stage: &dyn Stage<E>, entities: Vec<Found<E>>) -> Result<Vec<Rehearsed<E>>> {
        let limits = *self.limits_of(stage.id());
        let mut rehearsed = Vec::with_capacity(entities.len());
        for entities in entities.chunks(limits.batch_max.clamp(1, READ_KEYS_MAX)) {
            let subjects = self.subjects(stage.id(), entities).await?;
            let answers = match caught_within(limits.timeout, stage.process_many(&subjects)).await {
                Ok(answers) if answers.len() == subjects.len() => answers,
                Ok(answers) => {
                    let what = format!("{} answers to {} questions", answers.len(), subjects.len());
                    return Err(Error::Refused { kind: E::KIND, id: String::new(), what });
                }
                Err(error) => subjects.iter().map(|_| Err(error.clone())).collect(),
            };
            for ((entity, subject), answer) in entities.iter().zip(subjects).zip(answers) {
                let answer = answer.and_then(|answer| self.sound(entity, answer));
                let outcome = answer.map_err(|error| error.to_string()).map(|answer| Outcome {
                    change: changed(&entity.entity, &answer),
                    state_changes: matches!(&answer.state, NewState::Set(state) if *state != subject.state),
                    next: answer.next,
                });
                let (before, version) = (entity.entity.clone(), entity.version);
                rehearsed.push(Rehearsed { before, version, outcome });
            }
        }
        Ok(rehearsed)
    }

    async fn subjects(&self, stage: &str, entities: &[Found<E>]) -> Result<Vec<Subject<E>>> {
        let key = |entity: &Found<E>| {
            let id = entity.entity.id().to_string();
            STATES.key((self.shard(&id), E::KIND, &*id, stage))
        };
        let states = self.get_all(&entities.iter().map(key).collect::<Vec<_>>()).await?;
        let now = self.now();
        let subject = |(entity, state): (&Found<E>, Option<store::Row>)| Subject {
            entity: entity.entity.clone(),
            version: entity.version,
            state: state.map(|row| row.value).unwrap_or_default(),
            now,
        };
        Ok(entities.iter().zip(states).map(subject).collect())
    }
}
