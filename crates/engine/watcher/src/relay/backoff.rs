//! Backoff after failures.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::{ERROR_PAUSE, ERROR_PAUSE_MAX};

/// Targets that failed: how often in a row, and until when they are left alone.
#[derive(Debug)]
pub(super) struct Backoff<P>(BTreeMap<P, (u32, Instant)>);

impl<P: Ord> Backoff<P> {
    pub(super) fn new() -> Self {
        Self(BTreeMap::new())
    }

    pub(super) fn is_backing_off(&self, target: &P, now: Instant) -> bool {
        self.0.get(target).is_some_and(|(_, until)| now < *until)
    }

    /// Failures in a row.
    pub(super) fn failures(&self, target: &P) -> u32 {
        self.0.get(target).map_or(0, |(failures, _)| *failures)
    }

    /// Counts a failure and returns the failures in a row, which the pause may depend on.
    pub(super) fn failed(&mut self, target: P, pause: impl FnOnce(u32) -> Duration) -> u32 {
        let failures = self.failures(&target).saturating_add(1);
        self.0.insert(target, (failures, Instant::now() + pause(failures)));
        failures
    }

    pub(super) fn clear(&mut self, target: &P) {
        self.0.remove(target);
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&P) -> bool) {
        self.0.retain(|target, _| keep(target));
    }

    /// The first end of a pause that is not over.
    pub(super) fn next_end(&self, now: Instant) -> Option<Instant> {
        self.0.values().map(|(_, until)| *until).filter(|until| now < *until).min()
    }
}

/// The pause after this many errors of the store or the topic in a row.
pub(super) fn error_backoff(failures: u32) -> Duration {
    ERROR_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(20)).min(ERROR_PAUSE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_with_every_failure_to_a_limit_until_all_is_well() {
        let mut backoff = Backoff::new();
        let mut lengths = Vec::new();
        for _ in 0..9 {
            backoff.failed(7, error_backoff);
            lengths.push((backoff.next_end(Instant::now()).unwrap() - Instant::now()).as_millis());
        }
        assert_eq!(lengths, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
        assert!(backoff.is_backing_off(&7, Instant::now()));
        assert!(!backoff.is_backing_off(&8, Instant::now()), "another target is not meant");
        backoff.clear(&7);
        assert!(!backoff.is_backing_off(&7, Instant::now()));
        assert_eq!(backoff.failed(7, error_backoff), 1);
        assert_eq!(error_backoff(u32::MAX), ERROR_PAUSE_MAX);
    }
}
