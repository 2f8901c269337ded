//! The next visits of a stage, for display.

use futures::stream::{self, StreamExt, TryStreamExt};
use store::{Read, Row};

use crate::Result;
use crate::entity::Entity;
use crate::limits::SHARDS_COUNTED_AT_ONCE_MAX;
use crate::queue::Lane;
use crate::tables::QUEUES;
use crate::watcher::Watcher;
use clock::Time;

/// A queued visit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Upcoming {
    /// When it is due, or was.
    pub visit: Time,
    pub entity: String,
}

impl<E: Entity> Watcher<E> {
    /// The next visits in a lane of a stage, over all shards, at most `limit`. Reads that many rows
    /// of every shard: not for every second. [`NotFound`](crate::Error::NotFound) for an unknown
    /// stage.
    pub async fn upcoming(&self, stage: &str, lane: Lane, limit: usize) -> Result<Vec<Upcoming>> {
        let stage = self.require_stage(stage)?;
        let in_shard = async |shard: u32| -> Result<Vec<Upcoming>> {
            let scan = QUEUES.prefix((shard, E::KIND, lane.number(), stage)).limit(limit.max(1));
            let page = self.store().scan(&scan).await?;
            let read = |row: &Row| {
                let (.., visit, entity) = QUEUES.parts(&row.key)?;
                Ok(Upcoming { visit: Time::from_ms(visit), entity })
            };
            page.rows.iter().map(read).collect()
        };
        let in_shards =
            stream::iter(0..self.shards()).map(in_shard).buffer_unordered(SHARDS_COUNTED_AT_ONCE_MAX);
        let first = async |mut all: Vec<Upcoming>, more: Vec<Upcoming>| {
            all.extend(more);
            all.sort();
            all.truncate(limit);
            Ok(all)
        };
        in_shards.try_fold(Vec::new(), first).await
    }
}
