//! Tracks the runs of this process, whichever process decides on them: starts them, waits for their
//! ends, and keeps an end until it is committed.

use std::collections::BTreeMap;
use std::sync::Arc;

use clock::Clock;
use jiff::{SignedDuration, Timestamp};
use parking_lot::{Mutex, MutexGuard};
use planner::{Outcome, Seen, TaskName};
use runs::{End, Reason, RunId, Spec};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::executor::{ExecuteError, Executor};
use crate::limits::{SHORTEST, START_ATTEMPTS_MAX, START_PAUSE, START_SLACK};
use crate::time::timestamp;

/// A run: its task and its number.
pub(crate) type RunKey = (TaskName, u64);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    pub(crate) at: Timestamp,
}

/// Cheap to clone; all clones share their state.
#[derive(Clone)]
pub(crate) struct RunTracker {
    executor: Arc<dyn Executor>,
    clock: Clock,
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Every tracked run; with its end, once it has ended.
    runs: Mutex<BTreeMap<RunKey, Option<Ended>>>,
    ended: Notify,
}

impl RunTracker {
    pub(crate) fn new(executor: Arc<dyn Executor>, clock: Clock) -> Self {
        Self { executor, clock, inner: Arc::default() }
    }

    fn runs(&self) -> MutexGuard<'_, BTreeMap<RunKey, Option<Ended>>> {
        self.inner.runs.lock()
    }

    /// Starts a run, or finds it, and waits for its end. A tracked run is left alone. Without a
    /// spec a run is only found: if it was not started, it has failed with the error.
    ///
    /// Its timeout counts from the moment at which it was decided: other processes rely on that.
    pub(crate) fn track<S>(&self, key: RunKey, id: RunId, since: Timestamp, spec: S)
    where
        S: Future<Output = Result<Spec, String>> + Send + 'static,
    {
        let mut runs = self.runs();
        if runs.contains_key(&key) {
            return;
        }
        runs.insert(key.clone(), None);
        drop(runs);
        let tracker = self.clone();
        tokio::spawn(async move {
            let ended = tracker.execute(&id, since, spec.await).await;
            tracker.note(&key, ended);
        });
    }

    fn note(&self, key: &RunKey, ended: Ended) {
        self.runs().insert(key.clone(), Some(ended));
        self.inner.ended.notify_one();
    }

    /// Waits until there may be another end.
    pub(crate) async fn next_end(&self) {
        self.inner.ended.notified().await;
    }

    pub(crate) fn ended(&self) -> Vec<(RunKey, Ended)> {
        let ended = |(key, ended): (&RunKey, &Option<Ended>)| Some((key.clone(), ended.clone()?));
        self.runs().iter().filter_map(ended).collect()
    }

    /// The end of a run is committed, or no longer matters.
    pub(crate) fn forget(&self, key: &RunKey) {
        self.runs().remove(key);
    }

    /// A run has failed only if it is known that nothing was started; otherwise it is asked again.
    async fn execute(&self, id: &RunId, since: Timestamp, spec: Result<Spec, String>) -> Ended {
        let mut tries = 0;
        loop {
            let spec = spec.clone().and_then(|spec| self.in_time(since, spec));
            let started = match &spec {
                Ok(spec) => self.executor.start(id, spec).await,
                Err(_) => Ok(()),
            };
            if let Err(ExecuteError::Permanent(why)) = started {
                return self.failed(why);
            }
            let unknown = match self.executor.wait(id).await {
                Ok(end) => return Self::end_of(&end),
                Err(ExecuteError::Permanent(why)) => return self.failed(why),
                Err(ExecuteError::NotStarted(why)) => {
                    tries += 1;
                    if let Err(why) = &spec {
                        return self.failed(why.clone());
                    }
                    let why = started.err().map_or(why, |error| error.to_string());
                    if tries >= START_ATTEMPTS_MAX {
                        return self.failed(why);
                    }
                    why
                }
                Err(ExecuteError::Transient(why)) => why,
            };
            tracing::warn!(run = %id, error = unknown, "cannot track a run, will try again");
            sleep(START_PAUSE).await;
        }
    }

    fn in_time(&self, since: Timestamp, spec: Spec) -> Result<Spec, String> {
        let late = timestamp(self.clock.now()).duration_since(since).max(SignedDuration::ZERO);
        let late = late.unsigned_abs().saturating_sub(START_SLACK);
        let left = spec.timeout.saturating_sub(late);
        if left < SHORTEST {
            return Err("its time was over before it was started".to_owned());
        }
        Ok(Spec { timeout: left, ..spec })
    }

    fn failed(&self, error: String) -> Ended {
        Ended { outcome: Outcome::Failed { error }, at: timestamp(self.clock.now()) }
    }

    fn end_of(end: &End) -> Ended {
        let at = timestamp(end.ended);
        let outcome = match end.reason {
            Reason::Done => match written(end) {
                Ok(wrote) => Outcome::Succeeded { wrote },
                Err(error) => Outcome::Failed { error },
            },
            Reason::Died => Outcome::Lost,
            _ => Outcome::Failed { error: end.to_string() },
        };
        Ended { outcome, at }
    }
}

fn written(end: &End) -> Result<Seen, String> {
    let mut wrote = Seen::new();
    for (name, value) in &end.sets {
        let named: triggers::Parameter =
            name.parse().map_err(|error| format!("the run sets {name:?}, and {error}"))?;
        let named = ctl::canonical(&named).map_err(|error| error.to_string())?;
        wrote.insert(named, *value);
    }
    Ok(wrote)
}
