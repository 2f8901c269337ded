//! What waits for each stage, as it was counted last: counting takes long where much waits, and many look at once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use watcher::QueueCounts;

/// The last counts, by stage.
#[derive(Debug, Default)]
pub(crate) struct Counts(Mutex<BTreeMap<String, (Instant, QueueCounts)>>);

impl Counts {
    pub(crate) fn note(&self, stage: &str, counted: QueueCounts) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(stage.to_owned(), (Instant::now(), counted));
    }

    /// What was counted less than that ago.
    pub(crate) fn within(&self, stage: &str, age_max: Duration) -> Option<QueueCounts> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (counted_at, counted) = known.get(stage)?;
        (counted_at.elapsed() < age_max).then(|| counted.clone())
    }

    /// Forgets stages that are not there any more.
    pub(crate) fn keep(&self, is_there: impl Fn(&str) -> bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|stage, _| is_there(stage));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_count_is_good_for_a_while_and_goes_with_its_stage() {
        let (counts, second) = (Counts::default(), Duration::from_secs(1));
        counts.note("a", QueueCounts::default());
        tokio::time::advance(second).await;
        assert!(counts.within("a", second * 2).is_some());
        assert!(counts.within("a", second).is_none());
        assert!(counts.within("a", Duration::ZERO).is_none());
        assert!(counts.within("b", second * 2).is_none());
        counts.keep(|stage| stage != "a");
        assert!(counts.within("a", second * 2).is_none());
    }
}
