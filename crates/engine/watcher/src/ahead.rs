//! What waits for a stage, to be looked at.

use futures::stream::{self, StreamExt, TryStreamExt};
use store::{Read, Row};

use crate::Result;
use crate::entity::Entity;
use crate::limits::SHARDS_COUNTED_AT_ONCE_MAX;
use crate::queue::Lane;
use crate::tables::QUEUES;
use crate::time::Time;
use crate::watcher::Watcher;

/// A visit that waits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ahead {
    /// When it is due, or was.
    pub visit: Time,
    /// The entity's id.
    pub entity: String,
}

impl<E: Entity> Watcher<E> {
    /// The visits of a lane of a stage whose time comes first, of all shards, at most `limit`. Reads so many rows of every shard: not for every second.
    /// [`NotFound`](crate::Error::NotFound) if there is no such stage.
    pub async fn ahead(&self, stage: &str, lane: Lane, limit: usize) -> Result<Vec<Ahead>> {
        let stage = self.require_stage(stage)?;
        let in_shard = async |shard: u32| -> Result<Vec<Ahead>> {
            let scan = QUEUES.prefix((shard, E::KIND, lane.number(), stage)).limit(limit.max(1));
            let page = self.store().scan(&scan).await?;
            let read = |row: &Row| {
                let (.., visit, entity) = QUEUES.parts(&row.key)?;
                Ok(Ahead { visit: Time::from_ms(visit), entity })
            };
            page.rows.iter().map(read).collect()
        };
        let in_shards =
            stream::iter(0..self.shards()).map(in_shard).buffer_unordered(SHARDS_COUNTED_AT_ONCE_MAX);
        let first = async |mut all: Vec<Ahead>, more: Vec<Ahead>| {
            all.extend(more);
            all.sort();
            all.truncate(limit);
            Ok(all)
        };
        in_shards.try_fold(Vec::new(), first).await
    }
}
