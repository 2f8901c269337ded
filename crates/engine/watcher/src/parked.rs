//! Visits that are parked, to look at.

use store::Read;

use crate::Result;
use crate::change::{Versioned, Which};
use crate::entity::Entity;
use crate::queue::PARKED;
use crate::rows::Entry;
use crate::tables::QUEUES;
use crate::time::Time;
use crate::watcher::{Watcher, versioned};

/// A visit that is parked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parked {
    /// The entity.
    pub entity: String,
    /// What the last attempt said.
    pub error: String,
    /// How many attempts there were.
    pub attempts: u32,
    /// Since when it is parked.
    pub since: Time,
}

impl<E: Entity> Watcher<E> {
    /// Some visits of a stage that are parked, at most `limit`: from one shard after the other, the oldest of each first.
    /// [`NotFound`](crate::Error::NotFound) if there is no such stage.
    pub async fn parked(&self, stage: &str, limit: usize) -> Result<Vec<Parked>> {
        let (stage, mut parked) = (self.require_stage(stage)?, Vec::new());
        for shard in 0..self.shards() {
            let left = limit - parked.len();
            if left == 0 {
                break;
            }
            let page = self.store().scan(&QUEUES.prefix((shard, E::KIND, PARKED, stage)).limit(left)).await?;
            for row in &page.rows {
                let (.., since_ms, entity) = QUEUES.parts(&row.key)?;
                let which = Which { shard, kind: E::KIND, entity: &entity };
                let entry = self.store().get_one(&which.entry_key(stage)).await?;
                let Versioned { content: Entry { error, attempts, .. }, .. } = versioned::<Entry>(entry)?;
                let since = Time::from_ms(since_ms);
                parked.push(Parked { entity, error, attempts, since });
            }
        }
        Ok(parked)
    }
}
