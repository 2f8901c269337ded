//! The bare engine as a reference: fjall with the same rows, in groups of 128, on one thread,
//! without Torg's code.
//!
//! It keeps versions in small rows beside the large values and sums counters itself, as a good
//! program on fjall does.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use fjall::{Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, OwnedWriteBatch, PersistMode};

use crate::data::{Bodies, Numbers, looked_at, mix, offer_id};
use crate::machine::settle;
use crate::measure::{Measure, all_beside};

const GROUP: u64 = 128;
const READ_THREADS: u64 = 2;

pub(super) struct BareFjall {
    database: Database,
    large: Keyspace,
    small: Keyspace,
    queue: Keyspace,
    bodies: Bodies,
    versions: Vec<u32>,
    numbers: Numbers,
    clock: u64,
}

impl BareFjall {
    pub(super) fn load(folder: &Path, cache_bytes: u64, rows: u64) -> anyhow::Result<Self> {
        let database =
            Database::builder(folder).cache_size(cache_bytes).manual_journal_persist(true).open()?;
        let options = KeyspaceCreateOptions::default;
        let apart = || Some(KvSeparationOptions::default().separation_threshold(1024));
        let keyspace = |name: &str, memtable_mb: u64, apart: Option<KvSeparationOptions>| {
            database
                .keyspace(name, || options().max_memtable_size(memtable_mb << 20).with_kv_separation(apart))
        };
        let (large, queue) = (keyspace("large", 24, apart())?, keyspace("queue", 24, apart())?);
        let small = keyspace("small", 8, None)?;
        let versions = vec![1; rows as usize];
        let (bodies, numbers) = (Bodies::new(), Numbers::new(7));
        let bare = Self { database, large, small, queue, bodies, versions, numbers, clock: 1 };
        for first in (0..rows).step_by(GROUP as usize) {
            let mut batch = bare.batch();
            for n in first..rows.min(first + GROUP) {
                batch.insert(&bare.large, offer_key(n), &*bare.bodies.pick(n));
                batch.insert(&bare.small, version_key(n), 1u64.to_be_bytes().to_vec());
                batch.insert(&bare.small, preset_key(n, 1), &b"12345678"[..]);
            }
            batch.commit()?;
        }
        Ok(bare)
    }

    fn batch(&self) -> OwnedWriteBatch {
        OwnedWriteBatch::with_capacity(self.database.clone(), 10 * GROUP as usize)
            .durability(Some(PersistMode::SyncData))
    }

    pub(super) fn updates(&mut self, time: Duration) -> anyhow::Result<Measure> {
        let begin = Instant::now();
        let mut measure = Measure::default();
        while begin.elapsed() < time {
            let start = Instant::now();
            let mut batch = self.batch();
            let mut counters = BTreeMap::new();
            let mut chosen = BTreeMap::new();
            while chosen.len() < GROUP as usize {
                chosen.insert(self.numbers.below(self.versions.len() as u64), self.numbers.next());
            }
            for (n, seed) in chosen {
                self.update(&mut batch, &mut counters, n, seed)?;
            }
            for (key, delta) in counters {
                let sum = self.small.get(&key)?.and_then(|v| v.first_chunk().map(|b| i64::from_be_bytes(*b)));
                batch.insert(&self.small, key, (sum.unwrap_or(0) + delta).to_be_bytes().to_vec());
            }
            batch.commit()?;
            measure.note(start, GROUP);
        }
        measure.elapsed = begin.elapsed();
        Ok(measure)
    }

    fn update(
        &mut self,
        batch: &mut OwnedWriteBatch,
        counters: &mut BTreeMap<Vec<u8>, i64>,
        n: u64,
        seed: u64,
    ) -> anyhow::Result<()> {
        let stored = self.small.get(version_key(n))?;
        let version = u64::from(self.versions[n as usize]);
        anyhow::ensure!(
            stored.is_some_and(|v| *v == version.to_be_bytes()),
            "the version is not as expected"
        );
        self.versions[n as usize] += 1;
        self.clock += 1;
        let (id, body, stage) = (offer_id(n), self.bodies.pick(seed), (seed % 4) as u8);
        let shard = [id[0] % 64];
        let now = self.clock.to_be_bytes();
        batch.insert(&self.large, offer_key(n), &*body);
        batch.insert(&self.small, version_key(n), (version + 1).to_be_bytes().to_vec());
        batch.insert(&self.queue, [&b"o"[..], &shard, &now, &id].concat(), &*body);
        batch.insert(&self.queue, [&b"q"[..], &shard, &[stage], &now, &id].concat(), &[2; 16][..]);
        batch.insert(&self.small, [&b"e"[..], &shard, &id, &[stage]].concat(), now.to_vec());
        batch.remove(&self.small, preset_key(n, version));
        batch.insert(&self.small, preset_key(n, version + 1), &b"12345678"[..]);
        let (seller, place) = (mix(n) % 1000, mix(n ^ 5) % 10_000);
        *counters.entry([&b"c0"[..], &seller.to_be_bytes()].concat()).or_default() += 1;
        *counters.entry([&b"c1"[..], &place.to_be_bytes()].concat()).or_default() += 1;
        Ok(())
    }

    pub(super) fn reads(&self, time: Duration) -> anyhow::Result<Measure> {
        std::thread::scope(|scope| {
            let readers: Vec<_> =
                (0..READ_THREADS).map(|seed| scope.spawn(move || self.read(seed, time))).collect();
            let measures = readers
                .into_iter()
                .map(|reader| reader.join().map_err(|_| anyhow::anyhow!("a reader died"))?);
            Ok(all_beside(measures.collect::<anyhow::Result<Vec<_>>>()?))
        })
    }

    fn read(&self, seed: u64, time: Duration) -> anyhow::Result<Measure> {
        let mut numbers = Numbers::new(100 + seed);
        let begin = Instant::now();
        let mut measure = Measure::default();
        while begin.elapsed() < time {
            let key = offer_key(numbers.below(self.versions.len() as u64));
            let start = Instant::now();
            anyhow::ensure!(
                self.large.get(key)?.is_some_and(|value| looked_at(&value)),
                "an offer is missing"
            );
            measure.note(start, 1);
        }
        measure.elapsed = begin.elapsed();
        Ok(measure)
    }

    pub(super) fn settle(&self) {
        settle(&self.database);
    }
}

fn offer_key(n: u64) -> Vec<u8> {
    let id = offer_id(n);
    [&b"a"[..], &[id[0] % 64], &id].concat()
}

fn version_key(n: u64) -> Vec<u8> {
    let id = offer_id(n);
    [&b"v"[..], &[id[0] % 64], &id].concat()
}

fn preset_key(n: u64, version: u64) -> Vec<u8> {
    let seller = mix(n) % 1000;
    [&b"p"[..], &seller.to_be_bytes(), &mix(n ^ (version << 40)).to_be_bytes(), &offer_id(n)].concat()
}
