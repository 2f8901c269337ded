use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{COUNTS, CaseResult, ENTRIES, LISTS, OFFERS, QUEUE, all_rows};
use crate::{Batch, Key, Outcome, Read, Store, Write};

/// The contract in thirty lines: rows with versions, and counters.
#[derive(Default)]
struct Model {
    rows: BTreeMap<Key, (u64, Vec<u8>)>,
    counters: BTreeMap<Key, i64>,
}

impl Model {
    fn commit(&mut self, batch: &Batch) -> Outcome {
        let version = |key: &Key| self.rows.get(key).map_or(0, |row| row.0);
        let failed = batch.checks().iter().filter(|(key, expected)| version(key) != *expected);
        let failed: Vec<Key> = failed.map(|(key, _)| key.clone()).collect();
        if !failed.is_empty() {
            return Outcome::Conflict(failed);
        }
        for (key, write) in batch.writes() {
            match write {
                Write::Put { version, value } => {
                    _ = self.rows.insert(key.clone(), (*version, value.to_vec()));
                }
                Write::Delete => _ = self.rows.remove(key),
                Write::Add(delta) => *self.counters.entry(key.clone()).or_default() += delta,
            }
        }
        Outcome::Applied
    }
}

fn random_key(rng: &mut StdRng) -> Key {
    let (shard, n) = (rng.random_range(0..3u32), rng.random_range(0..6i64));
    match rng.random_range(0..4) {
        0 => OFFERS.key((shard, format!("offer-{n}"))),
        1 => ENTRIES.key((shard, vec![n as u8; n as usize], "stage")),
        2 => LISTS.key((shard, n - 3, "list", vec![0; n as usize])),
        _ => QUEUE.key((shard, n, &b"q"[..])),
    }
}

fn random_batch(rng: &mut StdRng, model: &Model) -> Batch {
    let mut batch = Batch::new();
    for _ in 0..rng.random_range(1..6) {
        let key = random_key(rng);
        let versioned = key.table().kind == crate::Kind::Versioned;
        let current = model.rows.get(&key).map_or(0, |row| row.0);
        let value = vec![rng.random::<u8>(); [0, 10, 3000][rng.random_range(0..3)]];
        if versioned && rng.random_bool(0.7) {
            batch.check(key.clone(), if rng.random_bool(0.9) { current } else { rng.random_range(0..5) });
        }
        match rng.random_range(0..10) {
            0..2 => _ = batch.delete(key),
            2..7 if versioned => _ = batch.put(key, current + 1, value),
            2..7 => _ = batch.set(key, value),
            7..9 => _ = batch.add(COUNTS.key((rng.random_range(0..3u32), "c")), rng.random_range(-9..10)),
            _ => {}
        }
    }
    batch
}

pub(super) async fn random_batches_agree_with_a_simple_model(store: Store) -> CaseResult {
    let mut rng = StdRng::seed_from_u64(20_261_115);
    let mut model = Model::default();
    for round in 0..400 {
        let batch = random_batch(&mut rng, &model);
        let expected = model.commit(&batch);
        let outcome = store.commit(batch.clone()).await?;
        assert_eq!(outcome, expected, "round {round}: {batch:?}");
    }
    let mut stored = BTreeMap::new();
    for table in [OFFERS.def(), ENTRIES.def(), LISTS.def(), QUEUE.def()] {
        for row in all_rows(&store, table.scan().limit(5)).await? {
            stored.insert(row.key, (row.version, row.value.to_vec()));
        }
    }
    assert!(stored == model.rows, "the rows differ from the model");
    for (key, amount) in &model.counters {
        assert_eq!(store.amount(key).await?, *amount, "{key}");
    }
    Ok(())
}
