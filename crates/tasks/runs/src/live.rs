//! Runs that this process carries out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clock::Time;
use tokio::sync::{Notify, watch};

use crate::id::RunId;

/// Runs that a child or a task of this process carries out.
#[derive(Default)]
pub(crate) struct Lives(Mutex<BTreeMap<RunId, Live>>);

/// A run that a child or a task of this process carries out.
#[derive(Clone)]
pub(crate) struct Live {
    /// Closed when it is over.
    over: watch::Receiver<()>,
    nudge: Arc<Notify>,
    /// The child, or this process.
    pub(crate) pid: Option<u32>,
    pub(crate) since: Time,
}

impl Live {
    /// Whether it is carried out still.
    pub(crate) fn is_on(&self) -> bool {
        self.over.has_changed().is_ok()
    }

    /// Waits until it is over.
    pub(crate) async fn until_over(mut self) {
        // Nothing is ever sent: only the end of the sender is told.
        _ = self.over.changed().await;
    }
}

impl Lives {
    pub(crate) fn of(&self, run: &RunId) -> Option<Live> {
        self.lock().get(run).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RunId, Live>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a run that is carried out until what this returns is handed back, or dropped.
    pub(crate) fn note(
        &self,
        run: &RunId,
        nudge: Arc<Notify>,
        pid: Option<u32>,
        since: Time,
    ) -> watch::Sender<()> {
        let (sender, over) = watch::channel(());
        self.lock().insert(run.clone(), Live { over, nudge, pid, since });
        sender
    }

    /// Forgets a run that is over, unless another child or task carries it out by now; and tells those who wait.
    pub(crate) fn forget(&self, run: &RunId, over: watch::Sender<()>) {
        let mut live = self.lock();
        if live.get(run).is_some_and(|live| live.over.same_channel(&over.subscribe())) {
            live.remove(run);
        }
        drop(live);
        drop(over);
    }

    /// Wakes whoever carries it out: somebody wants it to be killed, or told its end.
    pub(crate) fn nudge(&self, run: &RunId) {
        if let Some(live) = self.lock().get(run) {
            live.nudge.notify_one();
        }
    }
}
