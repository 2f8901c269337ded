//! Parked visits, for display.

use store::Read;

use crate::Result;
use crate::change::{EntityRef, Stored};
use crate::entity::Entity;
use crate::queue::PARKED;
use crate::rows::Entry;
use crate::tables::QUEUES;
use crate::watcher::Watcher;
use clock::Time;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parked {
    pub entity: String,
    /// The error of the last attempt.
    pub error: String,
    pub attempts: u32,
    pub since: Time,
}

impl<E: Entity> Watcher<E> {
    /// Some parked visits of a stage, at most `limit`: shard by shard, the oldest of each first.
    /// [`NotFound`](crate::Error::NotFound) for an unknown stage.
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
                let which = EntityRef { shard, kind: E::KIND, entity: &entity };
                let entry = self.store().get_one(&which.entry_key(stage)).await?;
                let Stored { content: Entry { error, attempts, .. }, .. } = Stored::<Entry>::read(entry)?;
                let since = Time::from_ms(since_ms);
                parked.push(Parked { entity, error, attempts, since });
            }
        }
        Ok(parked)
    }
}
