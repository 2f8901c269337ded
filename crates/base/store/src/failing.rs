//! The failure of the last commit, until one succeeds.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::time::{Duration, Instant};

use crate::Error;

/// Clones share the state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failing(Arc<Mutex<Option<(Instant, Error)>>>);

impl Failing {
    /// Records the result of a commit. An error of one batch says nothing about others.
    pub(crate) fn note(&self, error: Option<&Error>) {
        let mut last = self.0.lock();
        match error {
            None => *last = None,
            Some(Error::CounterOverflow { .. } | Error::Closed) => {}
            Some(error) => *last = Some((Instant::now(), error.clone())),
        }
    }

    /// The failure of the last commit if it is not older than `within`.
    pub(crate) fn get(&self, within: Duration) -> Option<Error> {
        let last = self.0.lock();
        last.as_ref().filter(|(at, _)| at.elapsed() <= within).map(|(_, error)| error.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_failure_is_told_until_a_commit_succeeds_or_it_is_long_ago() {
        let (failing, minute) = (Failing::default(), Duration::from_secs(60));
        assert!(failing.get(minute).is_none());
        failing.note(Some(&Error::DiskFull { detail: "full".to_owned() }));
        failing.note(Some(&Error::CounterOverflow { key: "k".to_owned() }));
        assert!(matches!(failing.get(minute), Some(Error::DiskFull { .. })));
        failing.note(None);
        assert!(failing.get(minute).is_none());
        failing.note(Some(&Error::unavailable("gone")));
        tokio::time::advance(minute * 2).await;
        assert!(failing.get(minute).is_none());
    }
}
