//! The relay: takes saved changes out of the outbox, writes them to the topic, and has the stages hear of them.
//!
//! ```text
//! watcher_outbox ── topic ──► deleted, or moved in the same batch to
//! watcher_saved  ── on_saved of the stage that made the change ──► deleted
//! ```
//!
//! A row leaves only after its message is durable, or its stage has heard of it: at least once. No two changes of one entity are on their way
//! at the same time: in the order of versions. A stage that fails to hear is told again later, and holds up nobody else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use store::{Batch, Hint, Hints, Read, Row};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use topics::{Message, Topics};

use crate::call::caught_within;
use crate::entity::Entity;
use crate::limits::RELAY_ROWS_MAX;
use crate::rows::{Outgoing, decode};
use crate::shards::Fence;
use crate::stage::{Saved, Stage, StageError};
use crate::tables::{OUTBOX, SAVED};
use crate::time::Time;
use crate::watcher::Watcher;
use crate::{Error, Result};

/// The longest pause between two looks at the outbox, should no hint come.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The shards that this process serves.
pub(crate) type Serving = BTreeMap<u32, Fence>;

/// Moves changes out of the shards of this process.
pub(crate) struct Relay<E: Entity> {
    watcher: Watcher<E>,
    serving: watch::Receiver<Serving>,
    /// Stages that failed to hear: how often in a row, and when to tell them again.
    failing: BTreeMap<(u32, String), (u32, Instant)>,
    /// Shards that may not be ours any more, and when to try again. Without a pause the hints of our own refused commits would wake us
    /// for ever, with a repeat in the topic each time.
    doubtful: BTreeMap<u32, Instant>,
}

/// A change of the outbox.
struct Outbound {
    row: Row,
    at: Time,
    entity: String,
    version: u64,
    outgoing: Outgoing,
}

impl<E: Entity> Relay<E> {
    pub(crate) fn new(watcher: Watcher<E>, serving: watch::Receiver<Serving>) -> Self {
        Self { watcher, serving, failing: BTreeMap::new(), doubtful: BTreeMap::new() }
    }

    /// Works until `stop` turns true.
    pub(crate) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut hints = self.watcher.store().hints();
        while !*stop.borrow() {
            let mut moved = false;
            let serving = self.serving.borrow_and_update().clone();
            for (shard, fence) in &serving {
                if self.doubtful.get(shard).is_some_and(|again| Instant::now() < *again) {
                    continue;
                }
                moved |= logged::<E>(self.export(*shard, fence).await, "export changes");
                let told = self.tell(*shard, fence).await;
                moved |= logged::<E>(told, "tell a stage of its changes");
            }
            if moved {
                // There may be more.
                tokio::task::yield_now().await;
                continue;
            }
            let until = Instant::now() + LOOK_EVERY * if planted!(RelayNeverLooks) { 10_000 } else { 1 };
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => {}
                _ = self.serving.changed() => {}
                _ = timeout_at(until, outbox_hint(&mut hints)) => {}
            }
        }
    }

    /// Writes the oldest changes of a shard to the topic; says whether there were any.
    async fn export(&mut self, shard: u32, fence: &Fence) -> Result<bool> {
        let oldest = OUTBOX.prefix((shard, E::KIND)).limit(RELAY_ROWS_MAX);
        let oldest = if planted!(NewestFirst) { oldest.descending() } else { oldest };
        let page = self.watcher.store().scan(&oldest).await?;
        let mut outbound = Vec::new();
        let mut entities = BTreeSet::new();
        for row in page.rows {
            let (_, _, at, entity, version) = OUTBOX.parts(&row.key)?;
            // A later change of the same entity waits for the next round.
            if entities.insert(entity.clone()) {
                let (at, version) = (Time::from_ms(at), version.cast_unsigned());
                outbound.push(Outbound { outgoing: decode(&row)?, row, at, entity, version });
            }
        }
        if outbound.is_empty() {
            return Ok(false);
        }
        if let Some((topics, topic)) = self.watcher.topic() {
            append(topics, topic, E::KIND, &outbound)
                .await
                .or_else(|e| planted!(ExportUnconfirmed).then_some(()).ok_or(e))?;
        }
        let mut batch = Batch::new();
        fence.guard(&mut batch);
        for change in outbound {
            if self.watcher.stage(&change.outgoing.author).is_some_and(|stage| stage.wants_saved()) {
                let (at, version) = (change.at.as_ms(), change.version.cast_signed());
                let key = SAVED.key((shard, E::KIND, &*change.outgoing.author, at, &*change.entity, version));
                batch.set(key, change.row.value);
            }
            batch.delete(change.row.key);
        }
        // In conflict if the shard is not ours any more: its new owner exports them again.
        self.commit(shard, batch).await
    }

    /// Commits as the owner of a shard; says whether we still were.
    async fn commit(&mut self, shard: u32, batch: Batch) -> Result<bool> {
        let is_ours = self.watcher.store().commit(batch).await?.is_applied();
        if is_ours {
            self.doubtful.remove(&shard);
        } else {
            self.doubtful.insert(shard, Instant::now() + LOOK_EVERY);
        }
        Ok(is_ours)
    }

    /// Tells stages of their oldest changes in a shard; says whether one has heard of any.
    async fn tell(&mut self, shard: u32, fence: &Fence) -> Result<bool> {
        let mut told = false;
        let watcher = self.watcher.clone();
        for stage in watcher.stages().values().filter(|stage| stage.wants_saved()) {
            let place = (shard, stage.id().to_owned());
            if self.failing.get(&place).is_some_and(|(_, again)| Instant::now() < *again) {
                continue;
            }
            let (heard, failed) = self.tell_stage(shard, fence, stage).await?;
            told |= heard;
            if failed {
                let failures = self.failing.get(&place).map_or(0, |(failures, _)| *failures) + 1;
                let pause = watcher.limits().pause_after(failures);
                self.failing.insert(place, (failures, Instant::now() + pause));
            } else {
                self.failing.remove(&place);
            }
        }
        Ok(told)
    }

    /// Says whether the stage has heard of some changes, and whether it failed at some.
    async fn tell_stage(
        &mut self,
        shard: u32,
        fence: &Fence,
        stage: &Arc<dyn Stage<E>>,
    ) -> Result<(bool, bool)> {
        let scan = SAVED.prefix((shard, E::KIND, stage.id())).limit(RELAY_ROWS_MAX);
        let (mut heard, mut failed) = (Batch::new(), false);
        let mut held_up = BTreeSet::new();
        for row in self.watcher.store().scan(&scan).await?.rows {
            let (.., entity, version) = SAVED.parts(&row.key)?;
            if held_up.contains(&entity) {
                continue;
            }
            let outgoing: Outgoing = decode(&row)?;
            let saved = Saved {
                entity: E::decode(&outgoing.entity.into())
                    .map_err(|detail| Error::Damaged { place: row.key.to_string(), detail })?,
                version: version.cast_unsigned(),
                state: outgoing.state.into(),
            };
            let heard_of = caught_within(self.watcher.limits().timeout, stage.on_saved(&saved)).await;
            match heard_of.flatten() {
                Ok(()) => _ = heard.delete(row.key),
                Err(StageError::Lasting(error)) => {
                    tracing::error!(
                        stage = stage.id(),
                        entity,
                        version,
                        error,
                        "a stage refused to hear of its change"
                    );
                    heard.delete(row.key);
                }
                Err(StageError::Passing(error)) => {
                    tracing::warn!(
                        stage = stage.id(),
                        entity,
                        version,
                        error,
                        "a stage will be told of its change again"
                    );
                    if planted!(Untold) {
                        heard.delete(row.key);
                    }
                    failed = true;
                    held_up.insert(entity);
                }
            }
        }
        if heard.is_empty() {
            return Ok((false, failed));
        }
        fence.guard(&mut heard);
        Ok((self.commit(shard, heard).await?, failed))
    }
}

fn logged<E: Entity>(outcome: Result<bool>, what: &str) -> bool {
    outcome.unwrap_or_else(|error| {
        tracing::warn!(kind = E::KIND, %error, "cannot {what}, will try again");
        false
    })
}

/// Waits until somebody wrote to the outbox.
async fn outbox_hint(hints: &mut Hints) {
    while let Some(hint) = hints.next().await {
        let tables = [OUTBOX.def().name, SAVED.def().name];
        if hint == Hint::Anything || matches!(hint, Hint::Changed { table, .. } if tables.contains(&table)) {
            return;
        }
    }
    std::future::pending::<()>().await;
}

/// One message for each change: the entity as it was saved, under its id.
async fn append(topics: &Topics, topic: &str, kind: &'static str, outbound: &[Outbound]) -> Result<()> {
    let message = |change: &Outbound| {
        let Outgoing { entity, removed, author, changed, changed_more, .. } = &change.outgoing;
        let fields = if *changed_more { "*".to_owned() } else { changed.join(",") };
        let message = Message::new(change.entity.clone(), entity.clone(), change.at.as_ms())
            .header("kind", kind)
            .header("version", change.version.to_string())
            .header("author", author.clone())
            .header("changed", fields);
        if *removed { message.header("removed", "true") } else { message }
    };
    let messages = outbound.iter().map(message).collect();
    topics.append(topic, messages).await.map_err(Arc::new)?;
    Ok(())
}
