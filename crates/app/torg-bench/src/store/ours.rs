//! Torg's side of the store benchmark.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use store::{Batch, Read, Schema, Store, StoreOptions, StoreUrl, Table};

use crate::data::{Bodies, Numbers, looked_at, mix, offer_id};
use crate::measure::{Measure, Worker, join};

pub(super) const SHARDS: u64 = 64;
/// Concurrent batches while the base is loaded.
const LOADERS: u64 = 64;
/// Offers in one batch while the base is loaded.
const LOAD_STEP: u64 = 8;
/// Reads of one caller before it yields to another.
const READS_IN_A_TURN: u64 = 8;
/// Readers beside the writers of the mixed load.
const MIXED_READERS: usize = 16;

static OFFERS: Table<(u32, Vec<u8>)> = Table::versioned("bench_offers", &["shard", "id"]).large();
pub(super) static OUTBOX: Table<(u32, i64, Vec<u8>)> =
    Table::plain("bench_outbox", &["shard", "number", "id"]).queue();
static QUEUE: Table<(u32, u32, i64, Vec<u8>)> =
    Table::plain("bench_queue", &["shard", "stage", "due", "id"]).queue();
static ENTRIES: Table<(u32, Vec<u8>, u32)> = Table::plain("bench_entries", &["shard", "id", "stage"]);
static PRESETS: Table<(u32, i64, i64, Vec<u8>)> =
    Table::plain("bench_presets", &["shard", "seller", "at", "id"]);
static COUNTERS: Table<(u32, u32, i64)> = Table::counters("bench_counters", &["shard", "kind", "number"]);

/// An open store with offers in it.
pub(super) struct Ours {
    pub(super) store: Store,
    shared: Arc<Shared>,
    callers: usize,
}

struct Shared {
    bodies: Bodies,
    /// The version of each offer, so that callers need no read before a write.
    versions: Vec<AtomicU32>,
    rows: AtomicU64,
    clock: AtomicU64,
    seeds: AtomicU64,
}

impl Ours {
    pub(super) async fn open(url: &StoreUrl, options: &StoreOptions, callers: usize) -> anyhow::Result<Self> {
        let tables = [OFFERS.def(), OUTBOX.def(), QUEUE.def(), ENTRIES.def(), PRESETS.def(), COUNTERS.def()];
        let store = Store::open(url, Schema::new(1, tables)?, options).await?;
        let used = !store.scan(&OFFERS.scan().limit(1)).await?.rows.is_empty();
        anyhow::ensure!(!used, "{url} already holds offers of a benchmark: give an empty database or folder");
        let shared = Shared {
            bodies: Bodies::new(),
            versions: Vec::new(),
            rows: AtomicU64::new(0),
            clock: AtomicU64::new(1),
            seeds: AtomicU64::new(1),
        };
        Ok(Self { store, shared: Arc::new(shared), callers })
    }

    /// Adds offers until there are `rows` of them.
    pub(super) async fn load_to(&mut self, rows: u64) -> anyhow::Result<Measure> {
        let from = self.shared.rows.load(Ordering::Relaxed);
        let shared = Arc::get_mut(&mut self.shared).context("nobody else works with the offers now")?;
        shared.versions.resize_with(rows as usize, || AtomicU32::new(1));
        *shared.rows.get_mut() = rows;
        let next = Arc::new(AtomicU64::new(from));
        let start = Instant::now();
        let loaders = (0..LOADERS).map(|_| {
            let (store, shared, next) = (self.store.clone(), Arc::clone(&self.shared), Arc::clone(&next));
            tokio::spawn(async move {
                loop {
                    let first = next.fetch_add(LOAD_STEP, Ordering::Relaxed);
                    if first >= rows {
                        return anyhow::Ok(());
                    }
                    let mut batch = Batch::new();
                    (first..rows.min(first + LOAD_STEP)).for_each(|n| new_offer(&mut batch, &shared, n));
                    anyhow::ensure!(store.commit(batch).await?.is_applied(), "a new offer was in conflict");
                }
            })
        });
        for loader in futures::future::join_all(loaders).await {
            loader??;
        }
        Ok(Measure::of(rows - from, start.elapsed()))
    }

    pub(super) async fn updates(&self, time: Duration) -> anyhow::Result<Measure> {
        let writers = self.spawn_writers(time);
        join(writers).await
    }

    pub(super) async fn reads(&self, time: Duration) -> anyhow::Result<Measure> {
        let readers = self.spawn_readers(self.callers, time);
        join(readers).await
    }

    /// Updates and reads at the same time.
    pub(super) async fn mixed(&self, time: Duration) -> anyhow::Result<(Measure, Measure)> {
        let (writers, readers) = (self.spawn_writers(time), self.spawn_readers(MIXED_READERS, time));
        Ok((join(writers).await?, join(readers).await?))
    }

    fn spawn_writers(&self, time: Duration) -> Vec<Worker> {
        let writers = (0..self.callers as u64).map(|caller| {
            let (store, shared, callers) =
                (self.store.clone(), Arc::clone(&self.shared), self.callers as u64);
            tokio::spawn(async move {
                let mut numbers = Numbers::new(shared.seeds.fetch_add(1, Ordering::Relaxed));
                let own = shared.rows.load(Ordering::Relaxed) / callers;
                let begin = Instant::now();
                let mut measure = Measure::default();
                while begin.elapsed() < time {
                    // Every caller has its own offers, so that the result does not measure
                    // conflicts.
                    let n = numbers.below(own) * callers + caller;
                    let start = Instant::now();
                    let version = shared.versions[n as usize].load(Ordering::Relaxed);
                    let batch = update(&shared, n, version, numbers.next());
                    anyhow::ensure!(store.commit(batch).await?.is_applied(), "an update was in conflict");
                    shared.versions[n as usize].store(version + 1, Ordering::Relaxed);
                    measure.note(start, 1);
                }
                measure.elapsed = begin.elapsed();
                Ok(measure)
            })
        });
        writers.collect()
    }

    fn spawn_readers(&self, readers: usize, time: Duration) -> Vec<Worker> {
        let readers = (0..readers).map(|_| {
            let (store, shared) = (self.store.clone(), Arc::clone(&self.shared));
            tokio::spawn(async move {
                let mut numbers = Numbers::new(shared.seeds.fetch_add(1, Ordering::Relaxed));
                let rows = shared.rows.load(Ordering::Relaxed);
                let begin = Instant::now();
                let mut measure = Measure::default();
                while begin.elapsed() < time {
                    let id = offer_id(numbers.below(rows));
                    let start = Instant::now();
                    let row = store.get_one(&OFFERS.key((shard(&id), &id[..]))).await?;
                    anyhow::ensure!(row.is_some_and(|row| looked_at(&row.value)), "an offer is missing");
                    measure.note(start, 1);
                    // A read of a cached row never yields, so the caller yields now and then.
                    if measure.count.is_multiple_of(READS_IN_A_TURN) {
                        tokio::task::yield_now().await;
                    }
                }
                measure.elapsed = begin.elapsed();
                Ok(measure)
            })
        });
        readers.collect()
    }

    /// Waits until the engine's background threads are idle.
    pub(super) async fn settle(&self) {
        let mut quiet = 0;
        while quiet < 5 {
            let busy = self
                .store
                .gauges()
                .iter()
                .any(|(name, value)| *name == "store_compactions_active" && *value > 0.0);
            quiet = if busy { 0 } else { quiet + 1 };
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    pub(super) async fn close(self) -> anyhow::Result<()> {
        Ok(self.store.close().await?)
    }
}

fn shard(id: &[u8]) -> u32 {
    u32::from(id[0]) % SHARDS as u32
}

/// The key of offer `n` at this version in its seller's list.
fn preset_key(n: u64, version: u64, id: &[u8]) -> store::Key {
    let seller = mix(n) % 1000;
    PRESETS.key(((seller % SHARDS) as u32, seller.cast_signed(), mix(n ^ (version << 40)).cast_signed(), id))
}

fn new_offer(batch: &mut Batch, shared: &Shared, n: u64) {
    let id = offer_id(n);
    let key = OFFERS.key((shard(&id), &id[..]));
    batch.put(key, 1, shared.bodies.pick(n)).set(preset_key(n, 1, &id), &b"12345678"[..]);
}

/// The update of an offer: one check, two large and four small rows, two counters.
fn update(offers: &Shared, n: u64, version: u32, seed: u64) -> Batch {
    let (id, version) = (offer_id(n), u64::from(version));
    let (shard, stage) = (shard(&id), (seed % 4) as u32);
    let now = offers.clock.fetch_add(1, Ordering::Relaxed).cast_signed();
    let (offer, body) = (OFFERS.key((shard, &id[..])), offers.bodies.pick(seed));
    let (seller, place) = (mix(n) % 1000, mix(n ^ 5) % 10_000);
    let mut batch = Batch::new();
    batch.check(offer.clone(), version).put(offer, version + 1, body.clone());
    batch.set(OUTBOX.key((shard, now, &id[..])), body);
    batch.set(QUEUE.key((shard, stage, now, &id[..])), &[2; 16][..]);
    batch.set(ENTRIES.key((shard, &id[..], stage)), now.to_be_bytes().to_vec());
    batch.delete(preset_key(n, version, &id)).set(preset_key(n, version + 1, &id), &b"12345678"[..]);
    batch.add(COUNTERS.key(((seller % SHARDS) as u32, 0, seller.cast_signed())), 1);
    batch.add(COUNTERS.key(((place % SHARDS) as u32, 1, place.cast_signed())), 1);
    batch
}
