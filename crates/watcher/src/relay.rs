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

use futures::FutureExt;
use futures::future::join_all;
use store::{Batch, Hint, Hints, Read, Row};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
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

/// Shards out of which changes are moved at the same time.
const SHARDS_AT_ONCE_MAX: usize = 16;

/// The shards that this process serves.
pub(crate) type Serving = BTreeMap<u32, Fence>;

/// Moves changes out of the shards of this process.
pub(crate) struct Relay<E: Entity> {
    watcher: Watcher<E>,
    serving: watch::Receiver<Serving>,
    /// Stages that failed to hear: how often in a row, and when to tell them again.
    failing: BTreeMap<(u32, String), (u32, Instant)>,
}

/// Where there may be something to move.
enum Look {
    Everywhere,
    Shards(BTreeSet<u32>),
}

impl Look {
    fn is_nowhere(&self) -> bool {
        matches!(self, Self::Shards(shards) if shards.is_empty())
    }

    /// Adds what has been hinted at so far.
    fn add_all(&mut self, hints: &mut Hints) {
        while let Some(Some(hint)) = hints.next().now_or_never() {
            self.add(Some(&hint));
        }
    }

    fn add(&mut self, hint: Option<&Hint>) {
        let (table, shard) = match hint {
            Some(Hint::Put(key)) => (key.table().name, key.shard()),
            Some(Hint::Changed { table, shard }) => (*table, *shard),
            Some(Hint::Anything) => return *self = Self::Everywhere,
            None => return,
        };
        if let Self::Shards(shards) = self
            && [OUTBOX.def().name, SAVED.def().name].contains(&table)
        {
            shards.insert(shard);
        }
    }
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
        Self { watcher, serving, failing: BTreeMap::new() }
    }

    /// Works until `stop` turns true.
    pub(crate) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut hints = self.watcher.store().hints();
        let (mut look, mut next_look) = (Look::Everywhere, Instant::now());
        while !*stop.borrow() {
            if Instant::now() >= next_look {
                (look, next_look) = (Look::Everywhere, Instant::now() + LOOK_EVERY);
            }
            let serving = self.serving.borrow_and_update().clone();
            let there = |shard: &u32| match &look {
                Look::Everywhere => true,
                Look::Shards(shards) => shards.contains(shard),
            };
            let rounds = serving.iter().filter(|(shard, _)| there(shard)).collect::<Vec<_>>();
            let mut more = BTreeSet::new();
            for shards in rounds.chunks(SHARDS_AT_ONCE_MAX) {
                let exports = join_all(shards.iter().map(|(shard, fence)| self.export(**shard, fence))).await;
                for ((shard, fence), exported) in shards.iter().zip(exports) {
                    let mut moved = logged::<E>(exported, "export changes");
                    moved |= logged::<E>(self.tell(**shard, fence).await, "tell a stage of its changes");
                    more.extend(moved.then_some(**shard));
                }
            }
            look = Look::Shards(more);
            look.add_all(&mut hints);
            if look.is_nowhere() {
                tokio::select! {
                    biased;
                    _ = stop.wait_for(|stop| *stop) => {}
                    _ = self.serving.changed() => look = Look::Everywhere,
                    hint = hints.next() => look.add(hint.as_ref()),
                    () = sleep_until(next_look) => {}
                }
            } else {
                // Others have their turn first.
                tokio::task::yield_now().await;
            }
        }
    }

    /// Writes the oldest changes of a shard to the topic; says whether there were any.
    async fn export(&self, shard: u32, fence: &Fence) -> Result<bool> {
        let page = self.watcher.store().scan(&OUTBOX.prefix((shard, E::KIND)).limit(RELAY_ROWS_MAX)).await?;
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
            append(topics, topic, E::KIND, &outbound).await?;
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
        Ok(self.watcher.store().commit(batch).await?.is_applied())
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
                let pause = watcher.limits_of(stage.id()).pause_after(failures);
                self.failing.insert(place, (failures, Instant::now() + pause));
            } else {
                self.failing.remove(&place);
            }
        }
        Ok(told)
    }

    /// Says whether the stage has heard of some changes, and whether it failed at some.
    async fn tell_stage(&self, shard: u32, fence: &Fence, stage: &Arc<dyn Stage<E>>) -> Result<(bool, bool)> {
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
            let heard_of =
                caught_within(self.watcher.limits_of(stage.id()).timeout, stage.on_saved(&saved)).await;
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
                    failed = true;
                    held_up.insert(entity);
                }
            }
        }
        if heard.is_empty() {
            return Ok((false, failed));
        }
        fence.guard(&mut heard);
        Ok((self.watcher.store().commit(heard).await?.is_applied(), failed))
    }
}

fn logged<E: Entity>(outcome: Result<bool>, what: &str) -> bool {
    outcome.unwrap_or_else(|error| {
        tracing::warn!(kind = E::KIND, %error, "cannot {what}, will try again");
        false
    })
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
