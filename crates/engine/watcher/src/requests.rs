//! Access to the rows of a stage: private states, requests for a visit, release of what is parked.

use bytes::Bytes;
use store::{Batch, Read};

use crate::change::{SYSTEM, Stored, next_version};
use crate::entity::Entity;
use crate::limits::STATE_BYTES_MAX;
use crate::queue::{Lane, VisitRequest, enqueue};
use crate::rows::{Entry, Head, Why, encode};
use crate::tables::STATES;
use crate::watcher::Watcher;
use crate::{Error, Result};

/// A private state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Zero if there never was one.
    pub version: u64,
    /// Empty if there is none.
    pub bytes: Bytes,
}

impl<E: Entity> Watcher<E> {
    /// The private state of a stage beside an entity.
    pub async fn state(&self, id: &E::Id, stage: &str) -> Result<State> {
        let text = id.to_string();
        let key = STATES.key((self.shard(&text), E::KIND, &*text, self.require_stage(stage)?));
        let row = self.store().get_one(&key).await?;
        Ok(row.map_or_else(State::default, |row| State { version: row.version, bytes: row.value }))
    }

    /// Adds to a batch that a private state is replaced, if it still has the version that was seen,
    /// and if nobody changes or removes the entity meanwhile. A visit of the stage that is under
    /// way is made again. [`NotFound`](Error::NotFound) for an unknown entity,
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
        let which = self.entity_ref(&text);
        let shard = which.shard;
        let key = STATES.key((shard, E::KIND, &*text, self.require_stage(stage)?));
        let rows = self.store().get(&[E::key(shard, id), which.head_key()]).await?;
        let [entity, head] = <[_; 2]>::try_from(rows).unwrap_or_default();
        let Some(entity) = entity else {
            let what =
                format!("{} {text}: there is no such entity to keep a state beside, save it first", E::KIND);
            return Err(Error::NotFound { what });
        };
        batch.check(entity.key, entity.version);
        let next = next_version(seen_version, &Stored::<Head>::read(head)?.content);
        batch.check(key.clone(), seen_version).put(key, next, bytes);
        Ok(())
    }

    /// Has a stage visit an entity now, also if it is parked. `false` if there is no such entity.
    pub async fn request_visit(&self, id: &E::Id, stage: &str) -> Result<bool> {
        let (text, stage) = (id.to_string(), self.require_stage(stage)?);
        let which = self.entity_ref(&text);
        loop {
            let keys = [E::key(which.shard, id), which.entry_key(stage), which.head_key()];
            let [entity, entry, head] =
                <[_; 3]>::try_from(self.store().get(&keys).await?).unwrap_or_default();
            let Some(entity) = entity else { return Ok(false) };
            let Stored { version, content: mut entry } = Stored::<Entry>::read(entry)?;
            let (head, now) = (Stored::<Head>::read(head)?, self.now());
            let wanted = VisitRequest { visit: now, lane: Lane::Fresh, why: Why::WHY_REQUEST };
            let mut batch = Batch::new();
            // An entity that is being removed must not be queued.
            batch.check(entity.key, entity.version);
            entry.attempts = 0;
            enqueue(&mut batch, &which.in_stage(stage), &mut entry, wanted, now);
            let key = which.entry_key(stage);
            batch.check(key.clone(), version).put(key, next_version(version, &head.content), encode(&entry));
            if version == 0 {
                // A removal under way must notice that there is one more entry.
                head.put(&mut batch, which);
            }
            if self.store().commit(batch).await?.is_applied() {
                return Ok(true);
            }
        }
    }

    /// Has stages asked again about an entity that was parked because it could not be read. `false`
    /// if it is not parked.
    pub(crate) async fn ask_again(&self, entity: &str) -> Result<bool> {
        let which = self.entity_ref(entity);
        loop {
            let mut head = self.head(which).await?;
            let Some(mut entry) = head.content.entry.take().filter(|entry| entry.parked) else {
                return Ok(false);
            };
            let (mut batch, now) = (Batch::new(), self.now());
            let wanted = VisitRequest { visit: now, lane: Lane::Fresh, why: Why::WHY_REQUEST };
            enqueue(&mut batch, &which.in_stage(SYSTEM), &mut entry, wanted, now);
            head.content.entry = Some(entry).into();
            head.put(&mut batch, which);
            if self.store().commit(batch).await?.is_applied() {
                return Ok(true);
            }
        }
    }

    pub(crate) fn require_stage<'a>(&self, stage: &'a str) -> Result<&'a str> {
        let rules = self.rules();
        if rules.stages.contains_key(stage) {
            return Ok(stage);
        }
        let known: Vec<&str> = rules.stages.keys().map(String::as_str).collect();
        let what = format!("{} has no stage {stage:?}; it has {}", E::KIND, known.join(", "));
        Err(Error::NotFound { what })
    }
}
