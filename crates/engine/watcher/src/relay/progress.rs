//! How far the export to the topic has come.

use std::collections::BTreeMap;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use store::Read as _;

use crate::Result;
use crate::entity::Entity;
use crate::limits::{CLOCKS_APART_MAX, SHARDS_COUNTED_AT_ONCE_MAX};
use crate::tables::OUTBOX;
use crate::watcher::Watcher;
use clock::Time;

impl<E: Entity> Watcher<E> {
    /// Every change before this time has reached the topic. It lags behind by [`CLOCKS_APART_MAX`],
    /// because commits under way and commits of machines whose clock is behind are not seen. Reads
    /// every shard.
    pub async fn exported_to(&self) -> Result<Time> {
        let certain = self.now() - CLOCKS_APART_MAX;
        let waiting = self.export_waits().await?;
        Ok(waiting.into_values().fold(certain, Time::min))
    }

    /// The time of the oldest change that is not exported yet, by shard. Reads every shard, several
    /// concurrently.
    pub async fn export_waits(&self) -> Result<BTreeMap<u32, Time>> {
        let firsts = stream::iter(0..self.shards()).map(|shard| async move {
            let first = self.store().scan(&OUTBOX.prefix((shard, E::KIND)).limit(1)).await?;
            let Some(row) = first.rows.first() else { return Ok(None) };
            let (_, _, at, ..) = OUTBOX.parts(&row.key)?;
            Ok(Some((shard, Time::from_ms(at))))
        });
        let firsts = firsts.buffer_unordered(SHARDS_COUNTED_AT_ONCE_MAX);
        firsts.try_filter_map(|first| std::future::ready(Ok(first))).try_collect().await
    }
}
