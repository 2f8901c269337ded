//! How far the topic has come.

use store::Read as _;

use crate::Result;
use crate::entity::Entity;
use crate::limits::CLOCKS_APART_MAX;
use crate::tables::OUTBOX;
use crate::time::Time;
use crate::watcher::Watcher;

impl<E: Entity> Watcher<E> {
    /// Every change that was made before this moment has reached the topic. It lags behind by [`CLOCKS_APART_MAX`], for a commit that is
    /// under way, or comes from a machine whose clock is behind, is not seen. It looks at every shard.
    pub async fn exported_to(&self) -> Result<Time> {
        let mut to = self.now() - CLOCKS_APART_MAX;
        for shard in 0..self.shards() {
            let first = self.store().scan(&OUTBOX.prefix((shard, E::KIND)).limit(1)).await?;
            if let Some(row) = first.rows.first() {
                let (_, _, at, ..) = OUTBOX.parts(&row.key)?;
                to = to.min(Time::from_ms(at));
            }
        }
        Ok(to)
    }
}
