//! What others may ask of a stage's rows: to see or replace a private state, to have an entity visited, to release one that is parked.

use bytes::Bytes;
use store::{Batch, Read};

use crate::change::{SYSTEM, Versioned, Which, next_version};
use crate::entity::Entity;
use crate::limits::STATE_BYTES_MAX;
use crate::queue::{Lane, Wanted, offer};
use crate::rows::{Entry, Head, Why, encode};
use crate::tables::STATES;
use crate::watcher::{Watcher, versioned};
use crate::{Error, Result};

/// A private state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Its version; zero if there never was one.
    pub version: u64,
    /// What the stage keeps; empty if it keeps nothing.
    pub bytes: Bytes,
}

impl<E: Entity> Watcher<E> {
    /// The private state that a stage keeps beside an entity.
    pub async fn state(&self, id: &E::Id, stage: &str) -> Result<State> {
        let text = id.to_string();
        let key = STATES.key((self.shard(&text), E::KIND, &*text, self.require_stage(stage)?));
        let row = self.store().get_one(&key).await?;
        Ok(row.map_or_else(State::default, |row| State { version: row.version, bytes: row.value }))
    }

    /// Adds to a batch that a private state becomes this, if it still is of the version that was seen, and if nobody changes or removes
    /// the entity meanwhile. A visit of the stage that is under way is made again. [`NotFound`](Error::NotFound) if there is no such entity,
    /// [`Refused`](Error::Refused) if the state is too long.
    pub async fn set_state(
        &self,
        batch: &mut Batch,
        id: &E::Id,
        stage: &str,
        seen_version: u64,
        bytes: impl Into<Bytes> + Send,
    ) -> Result<()> {
        let (text, bytes) = (id.to_string(), bytes.into());
        if bytes.len() > STATE_BYTES_MAX {
            let what =
                format!("a state of {} bytes cannot be kept, at most {STATE_BYTES_MAX} can be", bytes.len());
            return Err(Error::Refused { kind: E::KIND, id: text, what });
        }
        let shard = self.shard(&text);
        let key = STATES.key((shard, E::KIND, &*text, self.require_stage(stage)?));
        let which = Which { shard, kind: E::KIND, entity: &text };
        let rows = self.store().get(&[E::key(shard, id), which.head_key()]).await?;
        let [entity, head] = <[_; 2]>::try_from(rows).unwrap_or_default();
        let Some(entity) = entity else {
            let what =
                format!("{} {text}: there is no such entity to keep a state beside, save it first", E::KIND);
            return Err(Error::NotFound { what });
        };
        batch.check(entity.key, entity.version);
        let next = next_version(seen_version, &versioned::<Head>(head)?.content);
        batch.check(key.clone(), seen_version).put(key, next, bytes);
        Ok(())
    }

    /// Has a stage visit an entity now, also one that is parked. `false` if there is no such entity.
    pub async fn request_visit(&self, id: &E::Id, stage: &str) -> Result<bool> {
        let (text, stage) = (id.to_string(), self.require_stage(stage)?);
        let which = Which { shard: self.shard(&text), kind: E::KIND, entity: &text };
        loop {
            let keys = [E::key(which.shard, id), which.entry_key(stage), which.head_key()];
            let [entity, entry, head] =
                <[_; 3]>::try_from(self.store().get(&keys).await?).unwrap_or_default();
            let Some(entity) = entity else { return Ok(false) };
            let Versioned { version, content: mut entry } = versioned::<Entry>(entry)?;
            let (head, now) = (versioned::<Head>(head)?, self.now());
            let wanted = Wanted { visit: now, lane: Lane::Fresh, why: Why::WHY_REQUEST };
            let mut batch = Batch::new();
            // An entity that is being removed must not be queued.
            batch.check(entity.key, entity.version);
            entry.attempts = 0;
            offer(&mut batch, &which.in_stage(stage), &mut entry, wanted, now);
            let key = which.entry_key(stage);
            batch.check(key.clone(), version).put(key, next_version(version, &head.content), encode(&entry));
            if version == 0 {
                // A removal that is under way must notice that there is one more entry.
                let key = which.head_key();
                batch.check(key.clone(), head.version).put(key, head.version + 1, encode(&head.content));
            }
            if self.store().commit(batch).await?.is_applied() {
                return Ok(true);
            }
        }
    }

    /// Has stages asked again about an entity that is parked because nobody could be asked. `false` if it is not.
    pub(crate) async fn ask_again(&self, entity: &str) -> Result<bool> {
        let which = Which { shard: self.shard(entity), kind: E::KIND, entity };
        loop {
            let Versioned { version, content: mut head } = self.head(which).await?;
            let Some(mut entry) = head.entry.take().filter(|entry| entry.parked) else { return Ok(false) };
            let (mut batch, now) = (Batch::new(), self.now());
            let wanted = Wanted { visit: now, lane: Lane::Fresh, why: Why::WHY_REQUEST };
            offer(&mut batch, &which.in_stage(SYSTEM), &mut entry, wanted, now);
            head.entry = Some(entry).into();
            batch.check(which.head_key(), version).put(which.head_key(), version + 1, encode(&head));
            if self.store().commit(batch).await?.is_applied() {
                return Ok(true);
            }
        }
    }

    pub(crate) fn require_stage<'a>(&'a self, stage: &str) -> Result<&'a str> {
        let known = self.stage(stage).map(|stage| stage.id());
        known.ok_or_else(|| {
            let known: Vec<&str> = self.stages().keys().map(String::as_str).collect();
            let what = format!("{} has no stage {stage:?}; it has {}", E::KIND, known.join(", "));
            Error::NotFound { what }
        })
    }
}
