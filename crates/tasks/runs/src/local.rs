//! Runs that this process executes.

use std::collections::BTreeMap;
use std::sync::Arc;

use clock::Time;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, watch};

use crate::id::RunId;

#[derive(Default)]
pub(crate) struct LocalRuns(Mutex<BTreeMap<RunId, LocalRun>>);

/// A run that a child or a task of this process executes.
#[derive(Clone)]
pub(crate) struct LocalRun {
    /// Closed when it is over.
    over: watch::Receiver<()>,
    wake: Arc<Notify>,
    /// The child, or this process.
    pub(crate) pid: Option<u32>,
    pub(crate) since: Time,
}

impl LocalRun {
    pub(crate) fn is_active(&self) -> bool {
        self.over.has_changed().is_ok()
    }

    pub(crate) async fn finished(mut self) {
        // Nothing is ever sent: only the end of the sender matters.
        _ = self.over.changed().await;
    }
}

impl LocalRuns {
    pub(crate) fn of(&self, run: &RunId) -> Option<LocalRun> {
        self.lock().get(run).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RunId, LocalRun>> {
        self.0.lock()
    }

    /// Registers a run until the returned sender is given to [`LocalRuns::forget`], or dropped.
    pub(crate) fn note(
        &self,
        run: &RunId,
        wake: Arc<Notify>,
        pid: Option<u32>,
        since: Time,
    ) -> watch::Sender<()> {
        let (sender, over) = watch::channel(());
        self.lock().insert(run.clone(), LocalRun { over, wake, pid, since });
        sender
    }

    /// Removes a run that is over, unless another child or task executes it by now, and notifies
    /// the waiters.
    pub(crate) fn forget(&self, run: &RunId, over: watch::Sender<()>) {
        let mut local_run = self.lock();
        if local_run.get(run).is_some_and(|local_run| local_run.over.same_channel(&over.subscribe())) {
            local_run.remove(run);
        }
        drop(local_run);
        drop(over);
    }

    /// Wakes the task that executes the run.
    pub(crate) fn wake(&self, run: &RunId) {
        if let Some(local_run) = self.lock().get(run) {
            local_run.wake.notify_one();
        }
    }
}
