//! Measures polls of a queue: one that a hundred thousand rows have passed must be as fast as a new
//! one.

use std::time::Instant;

use store::{Batch, Key, Read, Scan};

use super::Report;
use super::ours::{OUTBOX, Ours};
use crate::measure::{Measure, ratio, round};

/// Shards that no other part of the benchmark uses; the second has never had a row.
const SHARD: u32 = 1_000_000;
const FRESH_SHARD: u32 = 1_000_001;
const ROWS: i64 = 100_000;
const STEP: i64 = 1000;
const POLLS: usize = 5000;

pub(super) async fn measure(ours: &Ours, report: &mut Report, say: &impl Fn(String)) -> anyhow::Result<()> {
    for first in (0..ROWS).step_by(STEP as usize) {
        let mut batch = Batch::new();
        (first..first + STEP).for_each(|n| _ = batch.set(OUTBOX.key((SHARD, n, &b"x"[..])), vec![1; 200]));
        anyhow::ensure!(ours.store.commit(batch).await?.is_applied(), "a plain row was in conflict");
    }
    let mut cursor = None;
    loop {
        let page = ours.store.scan(&queue(SHARD, cursor.as_ref()).limit(STEP as usize)).await?;
        let Some(last) = page.rows.last() else { break };
        cursor = Some(last.key.clone());
        let mut batch = Batch::new();
        page.rows.iter().for_each(|row| _ = batch.delete(row.key.clone()));
        anyhow::ensure!(ours.store.commit(batch).await?.is_applied(), "a plain row was in conflict");
    }
    let (fresh, drained) = polls(ours, &queue(FRESH_SHARD, None), &queue(SHARD, cursor.as_ref())).await?;
    report.poll_fresh_p99_ms = round(fresh.p99_ms());
    report.poll_drained_p99_ms = round(drained.p99_ms());
    report.poll_ratio = round(ratio(drained.p99_ms(), fresh.p99_ms()));
    say(format!(
        "  polling a queue  {:>9.3} ms p99 when new, {:.3} ms after {ROWS} rows went through it",
        fresh.p99_ms(),
        drained.p99_ms()
    ));
    Ok(())
}

/// A scan of a queue from the cursor of its reader.
fn queue(shard: u32, cursor: Option<&Key>) -> Scan {
    let scan = OUTBOX.prefix((shard,)).limit(100);
    match cursor {
        Some(key) => scan.after(key.clone()),
        None => scan,
    }
}

/// Polls two empty queues in turns, so that other load on the machine affects both.
async fn polls(ours: &Ours, fresh: &Scan, drained: &Scan) -> anyhow::Result<(Measure, Measure)> {
    let mut measures = (Measure::default(), Measure::default());
    for _ in 0..POLLS {
        for (scan, measure) in [(fresh, &mut measures.0), (drained, &mut measures.1)] {
            let start = Instant::now();
            anyhow::ensure!(ours.store.scan(scan).await?.rows.is_empty(), "the queue is not empty");
            measure.note(start, 1);
        }
    }
    Ok(measures)
}
