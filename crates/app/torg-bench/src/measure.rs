//! Counters and latencies of benchmark operations.

use std::time::{Duration, Instant};

/// A number of operations, their total time and the latency of each.
#[derive(Clone, Default)]
pub(super) struct Measure {
    pub(super) count: u64,
    pub(super) elapsed: Duration,
    latencies_us: Vec<u32>,
}

impl Measure {
    pub(super) fn of(count: u64, elapsed: Duration) -> Self {
        Self { count, elapsed, latencies_us: Vec::new() }
    }

    /// Records one operation (or group of operations) that began at `start`.
    pub(super) fn note(&mut self, start: Instant, count: u64) {
        self.count += count;
        self.latencies_us.push(start.elapsed().as_micros().try_into().unwrap_or(u32::MAX));
    }

    /// Adds the operations of a worker that ran at the same time.
    pub(super) fn beside(&mut self, other: Self) {
        self.count += other.count;
        self.elapsed = self.elapsed.max(other.elapsed);
        self.latencies_us.extend(other.latencies_us);
    }

    /// Adds operations that ran afterwards.
    pub(super) fn then(&mut self, other: Self) {
        self.count += other.count;
        self.elapsed += other.elapsed;
        self.latencies_us.extend(other.latencies_us);
    }

    pub(super) fn per_s(&self) -> f64 {
        if self.elapsed.is_zero() { 0.0 } else { self.count as f64 / self.elapsed.as_secs_f64() }
    }

    /// The latency below which this many thousandths of the operations stayed, in milliseconds.
    pub(super) fn quantile_ms(&self, thousandths: usize) -> f64 {
        let mut sorted = self.latencies_us.clone();
        sorted.sort_unstable();
        let at = (sorted.len() * thousandths / 1000).min(sorted.len().saturating_sub(1));
        sorted.get(at).map_or(0.0, |us| f64::from(*us) / 1000.0)
    }

    pub(super) fn p99_ms(&self) -> f64 {
        self.quantile_ms(990)
    }
}

/// Joins the measures of workers that ran at the same time.
pub(super) fn all_beside(measures: impl IntoIterator<Item = Measure>) -> Measure {
    measures.into_iter().fold(Measure::default(), |mut all, one| {
        all.beside(one);
        all
    })
}

pub(super) type Worker = tokio::task::JoinHandle<anyhow::Result<Measure>>;

/// Waits for workers that run at the same time.
pub(super) async fn join(workers: Vec<Worker>) -> anyhow::Result<Measure> {
    let mut measures = Vec::new();
    for worker in workers {
        measures.push(worker.await??);
    }
    Ok(all_beside(measures))
}

/// The ratio of two figures; zero if the reference is zero.
pub(super) fn ratio(ours: f64, reference: f64) -> f64 {
    if reference == 0.0 { 0.0 } else { ours / reference }
}

/// Rounds for the JSON line: the noise of the machine is larger than the fourth decimal.
pub(super) fn round(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}
