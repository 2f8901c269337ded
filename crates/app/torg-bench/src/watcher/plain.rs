//! The reference of stateful visits: plain commits of the rows that such a visit writes, with the
//! same sizes and checks. It reads no row, calls no stage and exports nothing: this is the limit of
//! the store.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bytes::Bytes;
use store::{Batch, Key, Store, Table};
use watcher::{Entity, Time, shard_of};

use super::ad::{Ad, BODY_BYTES};
use super::base::Base;
use super::options::{SHARDS, WatcherBench};
use super::stages::{Stateful, state_of, timer_of};
use crate::data::mix;
use crate::home::Home;
use crate::measure::Measure;

static ENTITIES: Table<(u32, String, String)> =
    Table::versioned("plain_entities", &["shard", "kind", "entity"]).large();
static HEADS: Table<(u32, String, String)> = Table::versioned("plain_heads", &["shard", "kind", "entity"]);
static ENTRIES: Table<(u32, String, String, String)> =
    Table::versioned("plain_entries", &["shard", "kind", "entity", "stage"]);
static QUEUES: Table<(u32, String, u32, String, i64, String)> =
    Table::plain("plain_queues", &["shard", "kind", "lane", "stage", "visit", "entity"]).queue();
static STATES: Table<(u32, String, String, String)> =
    Table::versioned("plain_states", &["shard", "kind", "entity", "stage"]);
static OUTBOX: Table<(u32, String, i64, String, i64)> =
    Table::plain("plain_outbox", &["shard", "kind", "at", "entity", "entity_version"]).queue();
static LEASES: Table<(u32, String)> = Table::versioned("plain_leases", &["shard", "kind"]);

const KIND: &str = Ad::KIND;
/// Concurrent batches while rows are created.
const FILLERS: u64 = 64;
/// Ads in one batch while rows are created.
const FILL_STEP: u64 = 8;

/// A store with the rows of queued ads.
pub(super) struct Plain {
    home: Home,
    store: Store,
    callers: u64,
    like: Arc<Like>,
}

/// The contents of the rows, copied from rows of the watcher.
struct Like {
    head: Bytes,
    entry: Bytes,
    now: i64,
    timers_at: Time,
}

/// The keys of one ad.
struct Keys {
    shard: u32,
    id: String,
}

impl Keys {
    fn new(number: u64) -> Self {
        let id = mix(number).to_string();
        Self { shard: shard_of(&id, SHARDS), id }
    }

    fn entity(&self) -> Key {
        ENTITIES.key((self.shard, KIND, &*self.id))
    }

    fn head(&self) -> Key {
        HEADS.key((self.shard, KIND, &*self.id))
    }

    fn entry(&self) -> Key {
        ENTRIES.key((self.shard, KIND, &*self.id, Stateful::ID))
    }

    fn state(&self) -> Key {
        STATES.key((self.shard, KIND, &*self.id, Stateful::ID))
    }

    fn queue(&self, lane: u32, visit: i64) -> Key {
        QUEUES.key((self.shard, KIND, lane, Stateful::ID, visit, &*self.id))
    }

    fn outbox(&self, at: i64) -> Key {
        OUTBOX.key((self.shard, KIND, at, &*self.id, 2))
    }
}

impl Plain {
    /// Creates rows like those of `base`, which has visited ads.
    pub(super) async fn open(args: &WatcherBench, base: &Base, timers_at: Time) -> anyhow::Result<Self> {
        let home = args.home("plain")?;
        home.clear().await?;
        let tables = [
            ENTITIES.def(),
            HEADS.def(),
            ENTRIES.def(),
            QUEUES.def(),
            STATES.def(),
            OUTBOX.def(),
            LEASES.def(),
        ];
        let store = home.open(tables).await?;
        let mut leases = Batch::new();
        (0..SHARDS).for_each(|shard| _ = leases.put(LEASES.key((shard, KIND)), 1, &b"an owner"[..]));
        anyhow::ensure!(store.commit(leases).await?.is_applied(), "the leases were in conflict");
        let (head, entry) = (base.sample("watcher_heads").await?, base.sample("watcher_entries").await?);
        let like = Arc::new(Like { head, entry, now: base.clock.now().as_ms(), timers_at });
        Ok(Self { home, store, callers: args.callers, like })
    }

    /// Creates the rows of queued ads.
    pub(super) async fn fill(&self, numbers: Range<u64>) -> anyhow::Result<()> {
        self.all(FILLERS, FILL_STEP, numbers, queued).await?;
        self.home.settle(&self.store).await
    }

    /// Writes the rows of a visit to each of these ads, each in its own batch.
    pub(super) async fn commit_all(&self, numbers: Range<u64>) -> anyhow::Result<Measure> {
        self.all(self.callers, 1, numbers, visited).await
    }

    async fn all(
        &self,
        callers: u64,
        step: u64,
        numbers: Range<u64>,
        add: fn(&mut Batch, &Like, u64),
    ) -> anyhow::Result<Measure> {
        let (start, next) = (Instant::now(), Arc::new(AtomicU64::new(numbers.start)));
        let callers = (0..callers).map(|_| {
            let (store, like, next) = (self.store.clone(), Arc::clone(&self.like), Arc::clone(&next));
            tokio::spawn(async move {
                loop {
                    let first = next.fetch_add(step, Ordering::Relaxed);
                    if first >= numbers.end {
                        return anyhow::Ok(());
                    }
                    let mut batch = Batch::new();
                    (first..numbers.end.min(first + step)).for_each(|number| add(&mut batch, &like, number));
                    anyhow::ensure!(
                        store.commit(batch).await?.is_applied(),
                        "a plain commit was in conflict"
                    );
                }
            })
        });
        for caller in futures::future::join_all(callers).await {
            caller??;
        }
        Ok(Measure::of(numbers.end - numbers.start, start.elapsed()))
    }

    pub(super) async fn end(self) -> anyhow::Result<()> {
        self.store.close().await?;
        drop(self.store);
        self.home.clear().await
    }
}

/// The rows of a queued ad.
fn queued(batch: &mut Batch, like: &Like, number: u64) {
    let keys = Keys::new(number);
    batch.put(keys.entity(), 1, Ad::new(number, BODY_BYTES).encode());
    batch.put(keys.head(), 1, like.head.clone()).put(keys.entry(), 1, like.entry.clone());
    batch.set(keys.queue(0, like.now), &b""[..]);
}

/// The checks and writes of a visit.
fn visited(batch: &mut Batch, like: &Like, number: u64) {
    let (keys, ad) = (Keys::new(number), Ad::new(number, BODY_BYTES).encode());
    batch.check(LEASES.key((keys.shard, KIND)), 1);
    batch.check(keys.entity(), 1).put(keys.entity(), 2, ad.clone());
    batch.check_absent(keys.state()).put(keys.state(), 1, state_of(number, 1));
    batch.check(keys.head(), 1).put(keys.head(), 2, like.head.clone());
    batch.check(keys.entry(), 1).put(keys.entry(), 2, like.entry.clone());
    // The entity with the other fields of its message: the author, the state, the changed fields.
    let outgoing = [&ad[..], &state_of(number, 1), Stateful::ID.as_bytes(), b"price----"].concat();
    batch.set(keys.outbox(like.now + number.cast_signed()), outgoing);
    batch.delete(keys.queue(0, like.now));
    batch.set(keys.queue(1, timer_of(number, like.timers_at).as_ms()), &b""[..]);
}
