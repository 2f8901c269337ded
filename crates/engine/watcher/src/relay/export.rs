//! The exporter: from the outbox to the topic.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use store::{Batch, Hint, Hints, Key, Read, Row};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use topics::limits::MESSAGE_BYTES_MAX;
use topics::{Message, Topics};

use super::backoff::{Backoff, error_backoff};
use super::cooldown::Cooldowns;
use super::{
    Committed, DamagedRows, Excluded, InFlight, LEASE_LOST_PAUSE, Serving, Unbounded, commit, log_failure,
    next_in_turn,
};
use crate::Result;
use crate::entity::Entity;
use crate::lease::Fence;
use crate::limits::{RELAY_ROWS_MAX, STAGE_ID_BYTES_MAX};
use crate::rows::{Outgoing, decode};
use crate::tables::{OUTBOX, SAVED};
use crate::watcher::Watcher;

/// How often the outbox is scanned if no hint comes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long a shard waits after all its changes were exported, so that the next ones go together. A
/// quiet shard is served at once.
const COOLDOWN: Duration = Duration::from_millis(100);
/// Shards that are exported concurrently.
const SHARDS_AT_ONCE_MAX: usize = 16;
/// Bytes of rows in one export, except for a single larger row: far less than one append takes.
const EXPORT_BYTES_MAX: usize = topics::limits::APPEND_BYTES_MAX / 4;
/// How far the clocks of other processes may be behind before one of their changes is overlooked
/// for a while.
const SKEW: Duration = Duration::from_secs(2);
/// The pause before a row that cannot be read is tried again.
const DAMAGE_PAUSE: Duration = Duration::from_secs(60);

/// Rows that cannot be read, and when to try them again.
type Aside = BTreeMap<Key, Instant>;

pub(super) struct Exporter<E: Entity> {
    watcher: Watcher<E>,
    serving: watch::Receiver<Serving>,
    in_flight: InFlight,
    damage: DamagedRows,
    /// Shards that may have changes.
    wanted: BTreeSet<u32>,
    /// The shard that had the last turn.
    last: u32,
    backoff: Backoff<u32>,
    /// Shards that were served a moment ago.
    cooldowns: Cooldowns,
    aside: BTreeMap<u32, Aside>,
    /// By shard, a time in milliseconds before which there is nothing, so that scans do not walk
    /// over deleted rows.
    lows: BTreeMap<u32, i64>,
    /// The shard whose low was reset last, in case the clock of a process is far behind.
    last_reset: u32,
}

struct Exported {
    shard: u32,
    aside: Aside,
    low: Option<i64>,
    /// Whether changes were left for the next time.
    left: bool,
    committed: Result<Committed>,
}

impl<E: Entity> Exporter<E> {
    pub(super) fn new(
        watcher: Watcher<E>,
        serving: watch::Receiver<Serving>,
        in_flight: InFlight,
        damage: DamagedRows,
    ) -> Self {
        let (wanted, last, backoff, aside) = (BTreeSet::new(), 0, Backoff::new(), BTreeMap::new());
        let (cooldowns, lows, last_reset) = (Cooldowns::new(COOLDOWN), BTreeMap::new(), 0);
        Self {
            watcher,
            serving,
            in_flight,
            damage,
            wanted,
            last,
            backoff,
            cooldowns,
            aside,
            lows,
            last_reset,
        }
    }

    pub(super) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut hints = self.watcher.store().hints();
        let (mut closed, mut poll_at) = (false, Instant::now());
        let mut under_way = FuturesUnordered::new();
        while !*stop.borrow() {
            if self.serving.has_changed().unwrap_or(false) {
                self.apply_serving();
            }
            if Instant::now() >= poll_at {
                poll_at = Instant::now() + POLL_INTERVAL * if planted!(RelayNeverLooks) { 10_000 } else { 1 };
                self.want_all();
                self.reset_one_low();
            }
            self.wanted.extend(self.cooldowns.over(Instant::now()));
            while under_way.len() < SHARDS_AT_ONCE_MAX
                && let Some(export) = self.start()
            {
                under_way.push(export);
            }
            let ends = [self.cooldowns.next_end(), self.backoff.next_end(Instant::now())];
            let wake_at = ends.into_iter().flatten().fold(poll_at, Instant::min);
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => {}
                Some(exported) = under_way.next() => self.finish(exported),
                Ok(()) = self.serving.changed() => self.apply_serving(),
                hint = hints.next(), if !closed => {
                    closed = hint.is_none();
                    self.on_hints(hint, &mut hints);
                }
                () = sleep_until(wake_at) => {}
            }
            self.on_hints(hints.next().now_or_never().flatten(), &mut hints);
        }
        while let Some(exported) = under_way.next().await {
            self.finish(exported);
        }
    }

    fn apply_serving(&mut self) {
        let serving = self.serving.borrow_and_update().clone();
        self.backoff.retain(|shard| serving.contains_key(shard));
        self.aside.retain(|shard, _| serving.contains_key(shard));
        self.lows.clear();
        self.wanted.retain(|shard| serving.contains_key(shard));
        self.want_all();
    }

    /// Has the next shard scanned from its beginning.
    fn reset_one_low(&mut self) {
        let behind = self.lows.range((Excluded(self.last_reset), Unbounded)).next();
        if let Some(shard) = behind.or_else(|| self.lows.first_key_value()).map(|(shard, _)| *shard) {
            self.lows.remove(&shard);
            self.last_reset = shard;
        }
    }

    fn want_all(&mut self) {
        let shards: Vec<u32> = self.serving.borrow().keys().copied().collect();
        for shard in shards {
            self.want(shard);
        }
    }

    /// Has a shard served as soon as possible.
    fn want(&mut self, shard: u32) {
        if !self.cooldowns.want(shard) {
            self.wanted.insert(shard);
        }
    }

    fn on_hints(&mut self, hint: Option<Hint>, hints: &mut Hints) {
        let mut next = hint;
        while let Some(hint) = next {
            match hint {
                Hint::Put(key) if key.table().name == OUTBOX.def().name => {
                    self.want(key.shard());
                    if let (Some(low), Ok((_, _, at_ms, ..))) =
                        (self.lows.get_mut(&key.shard()), OUTBOX.parts(&key))
                    {
                        *low = at_ms.min(*low);
                    }
                }
                Hint::Changed { table, shard } if table == OUTBOX.def().name => {
                    self.want(shard);
                }
                Hint::Put(_) | Hint::Changed { .. } => {}
                Hint::Anything => self.want_all(),
            }
            next = hints.next().now_or_never().flatten();
        }
    }

    /// Starts the export of the next shard in turn.
    fn start(&mut self) -> Option<impl Future<Output = Exported> + use<E>> {
        let (serving, now) = (self.serving.borrow(), Instant::now());
        let can = |shard| {
            serving.contains_key(&shard)
                && !self.in_flight.contains(shard)
                && !self.backoff.is_backing_off(&shard, now)
        };
        let behind = self.wanted.range((Excluded(self.last), Unbounded)).copied();
        let shard = next_in_turn(behind, self.wanted.range(..=self.last).copied(), can)?;
        let fence = serving.get(&shard)?.clone();
        drop(serving);
        self.wanted.remove(&shard);
        self.last = shard;
        self.in_flight.begin(shard);
        let aside = self.aside.remove(&shard).unwrap_or_default();
        let (watcher, damage) = (self.watcher.clone(), self.damage.clone());
        let low = self.lows.get(&shard).copied();
        let mut export = Export { watcher, damage, shard, fence, aside, low, left: false };
        Some(async move {
            let committed = export.run().await;
            Exported { shard, aside: export.aside, low: export.low, left: export.left, committed }
        })
    }

    fn finish(&mut self, exported: Exported) {
        let Exported { shard, aside, low, left, committed } = exported;
        self.in_flight.end(shard);
        self.lows.extend(low.filter(|_| self.serving.borrow().contains_key(&shard)).map(|low| (shard, low)));
        if !aside.is_empty() {
            self.aside.insert(shard, aside);
        }
        match committed {
            Ok(Committed::Nothing) => return self.backoff.clear(&shard),
            Ok(Committed::Some) => {
                self.backoff.clear(&shard);
                if !left {
                    // Further changes come with hints, and with the next poll.
                    self.cooldowns.begin(shard, Instant::now());
                    if self.wanted.remove(&shard) {
                        self.want(shard);
                    }
                    return;
                }
            }
            Ok(Committed::LeaseLost) => _ = self.backoff.failed(shard, |_| LEASE_LOST_PAUSE),
            Err(error) => {
                let failures = self.backoff.failed(shard, error_backoff);
                log_failure(E::KIND, shard, &error, failures, "export changes");
            }
        }
        self.wanted.insert(shard);
    }
}

/// One export of a shard.
struct Export<E: Entity> {
    watcher: Watcher<E>,
    damage: DamagedRows,
    shard: u32,
    fence: Fence,
    aside: Aside,
    /// There is nothing before this time, in milliseconds.
    low: Option<i64>,
    /// Whether changes were left for the next time.
    left: bool,
}

/// A change of the outbox.
struct Outbound {
    row: Row,
    at_ms: i64,
    entity: String,
    version: i64,
    author: String,
    /// The time of the entity's change before this one; zero if there was none.
    previous_at_ms: i64,
    message: Message,
}

impl<E: Entity> Export<E> {
    /// Writes the oldest changes of the shard to the topic.
    async fn run(&mut self) -> Result<Committed> {
        self.aside.retain(|_, again| Instant::now() < *again);
        let outbound = self.oldest().await?;
        if outbound.is_empty() {
            return Ok(Committed::Nothing);
        }
        if let Some((topics, topic)) = self.watcher.topic() {
            let messages = outbound.iter().map(|change| change.message.clone()).collect();
            append(topics, topic, messages)
                .await
                .or_else(|e| planted!(ExportUnconfirmed).then_some(()).ok_or(e))?;
        }
        let mut batch = Batch::new();
        for change in outbound {
            if self.may_want_saved(&change.author) {
                let Outbound { at_ms, version, author, entity, .. } = &change;
                let key = SAVED.key((self.shard, E::KIND, &**author, *at_ms, &**entity, *version));
                batch.set(key, change.row.value);
            }
            batch.delete(change.row.key);
        }
        // In conflict if the shard is not ours any more: its new owner exports them again.
        commit(&self.watcher, &self.fence, batch).await
    }

    /// The oldest changes that go together: one of each entity, later ones wait for the next round.
    async fn oldest(&mut self) -> Result<Vec<Outbound>> {
        let all = OUTBOX.prefix((self.shard, E::KIND)).limit(RELAY_ROWS_MAX);
        let mut low = self.low;
        let from = low.map(|low| OUTBOX.bound((self.shard, E::KIND, low)));
        let mut all = from.map_or(all.clone(), |from| all.from(from));
        let (mut scan, mut first) = (all.clone(), None);
        let none_before = (self.watcher.now() - SKEW).as_ms();
        loop {
            let page = self.watcher.store().scan(&scan).await?;
            first = first.or_else(|| OUTBOX.parts(&page.rows.first()?.key).ok().map(|(_, _, at, ..)| at));
            self.low = Some(first.map_or(none_before, |first: i64| first.min(none_before)));
            let rows = page.rows.len();
            let outbound = self.select(page.rows);
            self.left = page.next.is_some() || outbound.len() < rows;
            if let Some(from) = low
                && let Some(earlier) = self.left_behind(&outbound, from).await?
            {
                all = all.from(OUTBOX.bound((self.shard, E::KIND, earlier)));
                (scan, first, low) = (all.clone(), None, Some(earlier));
                continue;
            }
            match page.next {
                // A whole page of rows that cannot be read must not delay those behind it.
                Some(next) if outbound.is_empty() => scan = all.clone().after(next),
                _ => return Ok(outbound),
            }
        }
    }

    /// The time of the oldest change that must go before these and lies before `low`: its writer
    /// took long, or has a clock that is behind.
    async fn left_behind(&self, outbound: &[Outbound], low: i64) -> Result<Option<i64>> {
        let earlier = outbound.iter().filter(|change| (1..low).contains(&change.previous_at_ms));
        let earlier: Vec<(i64, Key)> = earlier
            .map(|Outbound { previous_at_ms, entity, version, .. }| {
                let key = OUTBOX.key((self.shard, E::KIND, *previous_at_ms, &**entity, version - 1));
                (*previous_at_ms, key)
            })
            .filter(|(_, key)| !self.aside.contains_key(key))
            .collect();
        if earlier.is_empty() || planted!(LeftBehind) {
            return Ok(None);
        }
        let keys: Vec<Key> = earlier.iter().map(|(_, key)| key.clone()).collect();
        let rows = self.watcher.store().get(&keys).await?;
        Ok(earlier.iter().zip(rows).filter(|(_, row)| row.is_some()).map(|((at_ms, _), _)| *at_ms).min())
    }

    fn select(&mut self, rows: Vec<Row>) -> Vec<Outbound> {
        let (mut outbound, mut entities, mut bytes) = (Vec::new(), BTreeSet::new(), 0);
        for row in rows {
            if self.aside.contains_key(&row.key) {
                continue;
            }
            match read_row::<E>(&row) {
                Ok(change) if entities.contains(&change.entity) => {}
                Ok(change) => {
                    bytes += change.row.value.len();
                    if bytes > EXPORT_BYTES_MAX && !outbound.is_empty() {
                        break;
                    }
                    entities.insert(change.entity.clone());
                    outbound.push(change);
                }
                Err(detail) => {
                    // Later changes of the entity do not wait for it.
                    self.damage.note(&row.key, &detail, "it stays in the outbox and is not exported");
                    self.aside.insert(row.key, Instant::now() + DAMAGE_PAUSE);
                }
            }
        }
        outbound
    }

    /// Whether a change is to be delivered to its stage. A stage that is unknown here may be known
    /// to a process of another release. Changes of stages that no process knows stay in
    /// `watcher_saved`: the stage may come back.
    fn may_want_saved(&self, author: &str) -> bool {
        let can_be_a_stage =
            !author.is_empty() && author.len() <= STAGE_ID_BYTES_MAX && !author.contains('\0');
        can_be_a_stage && self.watcher.rules().stages.get(author).is_none_or(|rule| rule.stage.wants_saved())
    }
}

/// A change with its message: the encoded entity under its id. The entity is not decoded: readers
/// of the topic may know newer fields.
fn read_row<E: Entity>(row: &Row) -> Result<Outbound, String> {
    let (_, _, at_ms, entity, version) = OUTBOX.parts(&row.key).map_err(|e| e.to_string())?;
    let outgoing: Outgoing = decode(row).map_err(|e| e.to_string())?;
    let Outgoing {
        entity: content, removed, author, changed, changed_more, previous_at_ms, signature, ..
    } = outgoing;
    let fields = if changed_more { "*".to_owned() } else { changed.join(",") };
    let content = if removed { content.into() } else { E::published(content.into())? };
    let message = Message::new(entity.clone(), content, at_ms.max(1))
        .header("kind", E::KIND)
        .header("version", version.cast_unsigned().to_string())
        .header("author", author.clone())
        .header("changed", fields);
    let message = if signature.is_empty() { message } else { message.header("signature", signature) };
    let message = if removed { message.header("removed", "true") } else { message };
    if message.bytes() > MESSAGE_BYTES_MAX {
        return Err(format!("the topic takes {MESSAGE_BYTES_MAX} bytes, it has {}", message.bytes()));
    }
    Ok(Outbound { row: row.clone(), at_ms, entity, version, author, previous_at_ms, message })
}

async fn append(topics: &Topics, topic: &str, messages: Vec<Message>) -> Result<()> {
    topics.append(topic, messages).await.map_err(Arc::new)?;
    Ok(())
}
