//! A cache of queue lengths by stage: counting long queues is slow, and many callers ask at once.

use std::collections::BTreeMap;

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use watcher::QueueCounts;

#[derive(Debug, Default)]
pub(crate) struct Counts(Mutex<BTreeMap<String, (Instant, QueueCounts)>>);

impl Counts {
    pub(crate) fn note(&self, stage: &str, counted: QueueCounts) {
        self.0.lock().insert(stage.to_owned(), (Instant::now(), counted));
    }

    /// The cached count if it is younger than `age_max`.
    pub(crate) fn within(&self, stage: &str, age_max: Duration) -> Option<QueueCounts> {
        let known = self.0.lock();
        let (counted_at, counted) = known.get(stage)?;
        (counted_at.elapsed() < age_max).then(|| counted.clone())
    }

    /// Drops the counts of all other stages.
    pub(crate) fn retain(&self, keep: impl Fn(&str) -> bool) {
        self.0.lock().retain(|stage, _| keep(stage));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_count_expires_and_is_dropped_with_its_stage() {
        let counts = Counts::default();
        let second = Duration::from_secs(1);
        counts.note("a", QueueCounts::default());
        tokio::time::advance(second).await;
        assert!(counts.within("a", second * 2).is_some());
        assert!(counts.within("a", second).is_none());
        assert!(counts.within("a", Duration::ZERO).is_none());
        assert!(counts.within("b", second * 2).is_none());
        counts.retain(|stage| stage != "a");
        assert!(counts.within("a", second * 2).is_none());
    }
}
