//! Waits until the background work of a measurement is done, so that the next one does not begin
//! with it.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use store::{Read as _, Store};

/// The longest time that the changes of a measurement may take to reach their topic.
const PATIENCE: Duration = Duration::from_secs(600);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The engine is idle if this many samples in a row show it idle.
const QUIET_LOOKS: u32 = 5;
const QUIET_LOOK_EVERY: Duration = Duration::from_millis(100);

/// Waits until the topic has every change and returns how long it took.
pub(super) async fn until_exported(store: &Store) -> anyhow::Result<Duration> {
    let start = Instant::now();
    let tables = watcher::tables();
    let outbox = tables.iter().find(|def| def.name == "watcher_outbox").context("there is no outbox")?;
    while !store.scan(&outbox.scan().limit(1)).await?.rows.is_empty() {
        anyhow::ensure!(start.elapsed() < PATIENCE, "the changes do not reach the topic");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(start.elapsed())
}

/// Waits until the engine's threads have flushed and compacted what was written.
pub(super) async fn until_settled(store: &Store) {
    let mut quiet = 0;
    while quiet < QUIET_LOOKS {
        let gauges = store.gauges();
        let busy = gauges.iter().any(|(name, value)| *name == "store_compactions_active" && *value > 0.0);
        quiet = if busy { 0 } else { quiet + 1 };
        tokio::time::sleep(QUIET_LOOK_EVERY).await;
    }
}
