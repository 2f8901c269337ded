//! The bare engine as a reference: fjall with rows of the same size under (partition, offset), on
//! one thread, without Torg's code.
//!
//! It guarantees less: offsets are counted in memory, nothing is checked, and rows have no
//! checksum.

use std::path::Path;
use std::time::{Duration, Instant};

use fjall::{Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, OwnedWriteBatch, PersistMode};

use super::{Load, PAGE_MESSAGES, READERS};
use crate::data::{Numbers, looked_at_all, mix, offer_id};
use crate::machine::settle;
use crate::measure::{Measure, all_beside};

/// The overhead of a Torg message beside key and payload: format, times and lengths, and two
/// checksums.
const WRAPPING: [u8; 22] = [1; 22];
/// The bytes before the payload: the wrapping and the message's key.
const HEAD_BYTES: usize = WRAPPING.len() + 16;

pub(super) struct BareFjall {
    database: Database,
    messages: Keyspace,
    /// The next offset of each partition.
    ends: Vec<u64>,
    numbers: Numbers,
}

impl BareFjall {
    pub(super) fn open(folder: &Path, cache_bytes: u64, load: &Load) -> anyhow::Result<Self> {
        let database =
            Database::builder(folder).cache_size(cache_bytes).manual_journal_persist(true).open()?;
        let apart = KvSeparationOptions::default().separation_threshold(1024);
        let options = KeyspaceCreateOptions::default().max_memtable_size(24 << 20);
        let messages = database.keyspace("messages", || options.with_kv_separation(Some(apart)))?;
        let ends = vec![0; load.partitions as usize];
        Ok(Self { database, messages, ends, numbers: Numbers::new(7) })
    }

    pub(super) fn appends(&mut self, load: &Load, time: Duration) -> anyhow::Result<Measure> {
        let begin = Instant::now();
        let mut measure = Measure::default();
        while begin.elapsed() < time {
            let start = Instant::now();
            let mut batch = OwnedWriteBatch::with_capacity(self.database.clone(), load.group() as usize)
                .durability(Some(PersistMode::SyncData));
            for _ in 0..load.group() {
                let number = self.numbers.next();
                let partition = mix(number) % u64::from(load.partitions);
                let end = &mut self.ends[partition as usize];
                let key = key(partition as u32, *end);
                *end += 1;
                let value = [&WRAPPING[..], &offer_id(number), &load.payloads.pick(number)].concat();
                batch.insert(&self.messages, key, value);
            }
            batch.commit()?;
            measure.note(start, load.group());
        }
        measure.elapsed = begin.elapsed();
        Ok(measure)
    }

    pub(super) fn reads(&self, load: &Load, time: Duration) -> anyhow::Result<Measure> {
        std::thread::scope(|scope| {
            let readers: Vec<_> = (0..READERS)
                .map(|reader| {
                    let own = (reader..load.partitions).step_by(READERS as usize).cycle();
                    scope.spawn(move || self.read(own, load, time))
                })
                .collect();
            let measures = readers
                .into_iter()
                .map(|reader| reader.join().map_err(|_| anyhow::anyhow!("a reader died"))?);
            Ok(all_beside(measures.collect::<anyhow::Result<Vec<_>>>()?))
        })
    }

    /// Scans partition after partition, one page at a time, as a reader with other work in between.
    fn read(
        &self,
        partitions: impl Iterator<Item = u32>,
        load: &Load,
        time: Duration,
    ) -> anyhow::Result<Measure> {
        let begin = Instant::now();
        let mut measure = Measure::default();
        'all: for partition in partitions {
            let mut next = 0;
            loop {
                if begin.elapsed() >= time {
                    break 'all;
                }
                let mut count = 0;
                for row in
                    self.messages.range(key(partition, next)..key(partition + 1, 0)).take(PAGE_MESSAGES)
                {
                    let value = row.value()?;
                    let payload = value.get(HEAD_BYTES..).unwrap_or_default();
                    anyhow::ensure!(
                        looked_at_all(payload, load.payload_bytes),
                        "a row is not as it was written"
                    );
                    count += 1;
                }
                measure.count += count;
                next += count;
                if count == 0 {
                    break;
                }
            }
        }
        measure.elapsed = begin.elapsed();
        Ok(measure)
    }

    pub(super) fn settle(&self) {
        settle(&self.database);
    }
}

fn key(partition: u32, offset: u64) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&partition.to_be_bytes());
    key[4..].copy_from_slice(&offset.to_be_bytes());
    key
}
