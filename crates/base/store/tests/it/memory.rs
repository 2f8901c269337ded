//! The memory engine passes the suite; with faults it still keeps every promise.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use store::conformance::{self, COUNTS, ENTRIES, OFFERS, QUEUE};
use store::engine::{ApplyError, Engine, Group, Verdict};
use store::{
    Batch, BatchId, Error, FaultCounts, Faults, Faulty, Key, Memory, Page, Read, Row, Scan, Schema, Store,
    StoreOptions,
};

fn memory() -> Memory {
    Memory::new(conformance::schema().expect("the suite's schema is valid"))
}

#[tokio::test]
async fn the_memory_engine_passes_the_suite() {
    conformance::run(async |_| Store::over(Arc::new(memory()), &StoreOptions::default())).await;
}

const STORM: Faults = Faults {
    spurious_conflict: 50,
    error_not_applied: 50,
    error_but_applied: 50,
    unknown_not_applied: 50,
    read_error: 0,
    delay: 50,
    delay_max: Duration::from_secs(4),
};

#[derive(Debug, PartialEq)]
struct Storm {
    lines: Vec<String>,
    count: i64,
    acknowledged: i64,
    faults: FaultCounts,
}

/// Callers that move numbers about under faults; returns a line for each answer they got.
async fn storm(seed: u64) -> Storm {
    let engine = Faulty::new(memory(), seed, STORM);
    let options = StoreOptions { id_seed: Some(seed), ..StoreOptions::default() };
    let store = Store::over(Arc::new(engine.clone()), &options);
    let callers = (0..8u32).map(|caller| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut lines = Vec::new();
            for n in 0..30 {
                let mut batch = Batch::new();
                batch.check_absent(OFFERS.key((caller, n.to_string()))).put(
                    OFFERS.key((caller, n.to_string())),
                    1,
                    "",
                );
                batch.set(QUEUE.key((caller, n, &b""[..])), "").add(COUNTS.key((0, "n")), 1);
                lines.push((caller, n, store.commit(batch).await));
            }
            lines
        })
    });
    let answers: Vec<_> =
        futures::future::join_all(callers).await.into_iter().flat_map(|c| c.expect("no panic")).collect();
    engine.set_faults(Faults::default());
    let mut acknowledged = 0;
    for (caller, n, answer) in &answers {
        let rows =
            store.get(&[OFFERS.key((*caller, n.to_string())), QUEUE.key((*caller, *n, &b""[..]))]).await;
        let present: Vec<bool> = rows.expect("fair weather").iter().map(Option::is_some).collect();
        let applied = answer.as_ref().is_ok_and(store::Outcome::is_applied);
        assert_eq!(
            present,
            [applied, applied],
            "answer {answer:?} of caller {caller}, batch {n} is not true"
        );
        acknowledged += i64::from(applied);
    }
    let count = store.amount(&COUNTS.key((0, "n"))).await.expect("fair weather");
    let lines = answers.iter().map(|(caller, n, answer)| format!("{caller} {n} {answer:?}")).collect();
    Storm { lines, count, acknowledged, faults: engine.counts() }
}

#[tokio::test(start_paused = true)]
async fn under_faults_every_answer_is_true_and_nothing_is_applied_twice() {
    let mut faults = FaultCounts::new();
    for seed in 0..20 {
        let storm = storm(seed).await;
        assert_eq!(storm.count, storm.acknowledged, "seed {seed}");
        storm.faults.into_iter().for_each(|(kind, times)| *faults.entry(kind).or_default() += times);
    }
    for kind in
        ["spurious conflict", "error, not applied", "error, but applied", "unknown, not applied", "delay"]
    {
        assert!(
            faults.get(kind).is_some_and(|times| *times > 10),
            "the fault {kind:?} was hardly tried: {faults:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_answers() {
    assert_eq!(storm(7).await, storm(7).await);
    assert_ne!(storm(7).await.lines, storm(8).await.lines);
}

#[tokio::test(start_paused = true)]
async fn after_a_crash_a_reopened_store_has_every_acknowledged_batch_and_no_half_ones() {
    let memory = memory();
    let mut acknowledged = Vec::new();
    for life in 0..10u32 {
        let slow = Faults { delay: 1000, delay_max: Duration::from_secs(1), ..Faults::default() };
        let store = Store::over(
            Arc::new(Faulty::new(memory.clone(), u64::from(life), slow)),
            &StoreOptions::default(),
        );
        let commits: Vec<_> = (0..20i64)
            .map(|n| {
                let mut batch = Batch::new();
                batch.put(OFFERS.key((life, n.to_string())), 1, "").set(QUEUE.key((life, n, &b""[..])), "");
                let store = store.clone();
                tokio::spawn(
                    async move { store.commit(batch).await.map(|outcome| (n, outcome.is_applied())) },
                )
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(700)).await;
        for commit in commits {
            if commit.is_finished() {
                let (n, applied) = commit.await.expect("no panic").expect("no error fault is on");
                assert!(applied);
                acknowledged.push((life, n));
            } else {
                commit.abort();
            }
        }
        drop(store);
    }
    let store = Store::over(Arc::new(memory), &StoreOptions::default());
    tokio::time::sleep(Duration::from_secs(5)).await;
    for life in 0..10u32 {
        for n in 0..20i64 {
            let rows = store.get(&[OFFERS.key((life, n.to_string())), QUEUE.key((life, n, &b""[..]))]).await;
            let present: Vec<bool> = rows.expect("reads work").iter().map(Option::is_some).collect();
            assert_eq!(present[0], present[1], "life {life} batch {n} is half there");
            assert!(present[0] || !acknowledged.contains(&(life, n)), "life {life} batch {n} is lost");
        }
    }
    assert!(!acknowledged.is_empty());
}

/// An engine on a disk that has lost the rows of one table, and does not answer for another.
struct Damaged(Memory);

#[async_trait]
impl Read for Damaged {
    async fn get(&self, keys: &[Key]) -> store::Result<Vec<Option<Row>>> {
        self.0.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> store::Result<Page> {
        if scan.table().name == OFFERS.def().name {
            return Err(Error::Corrupt { place: "offers".to_owned(), detail: "a test".to_owned() });
        }
        if scan.table().name == ENTRIES.def().name {
            return Err(Error::Unavailable { detail: "a test".to_owned() });
        }
        self.0.scan(scan).await
    }
}

#[async_trait]
impl Engine for Damaged {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn schema(&self) -> &Schema {
        self.0.schema()
    }

    async fn snapshot(&self) -> store::Result<Box<dyn Read>> {
        self.0.snapshot().await
    }

    async fn apply(&self, group: &Group) -> Result<Vec<Verdict>, ApplyError> {
        self.0.apply(group).await
    }

    async fn resolve(&self, group: &Group) -> store::Result<bool> {
        self.0.resolve(group).await
    }

    async fn applied(&self, batch: BatchId) -> store::Result<bool> {
        self.0.applied(batch).await
    }

    async fn verify(
        &self,
        found: &mut (dyn FnMut(Error) + Send),
    ) -> store::Result<BTreeMap<&'static str, u64>> {
        self.0.verify(found).await
    }

    async fn close(&self) -> store::Result<()> {
        self.0.close().await
    }
}

#[tokio::test]
async fn a_damage_that_a_read_met_is_remembered_and_no_other_error_is() {
    let store = Store::over(Arc::new(Damaged(memory())), &StoreOptions::default());
    store.scan(&QUEUE.scan().limit(1)).await.expect("that table is sound");
    store.scan(&ENTRIES.scan().limit(1)).await.expect_err("that table does not answer");
    assert!(store.damage().is_none());
    store.scan(&OFFERS.scan().limit(1)).await.expect_err("that table is damaged");
    store.scan(&QUEUE.scan().limit(1)).await.expect("that table is still sound");
    assert!(matches!(store.clone().damage(), Some(Error::Corrupt { place, .. }) if place == "offers"));
}
