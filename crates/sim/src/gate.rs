//! A gate between a process and its store. While it is closed every call hangs, on its way there or on its way back.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

#[derive(Clone)]
pub(crate) struct Gate {
    open: Arc<watch::Sender<bool>>,
    /// When it was last closed, and last opened again.
    stalled: Arc<Mutex<Option<(Instant, Instant)>>>,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self { open: Arc::new(watch::Sender::new(true)), stalled: Arc::default() }
    }

    /// Waits until it is open.
    pub(crate) async fn pass(&self) {
        // It cannot fail: the sender is part of the gate.
        let _ = self.open.subscribe().wait_for(|open| *open).await;
    }

    /// Closes it for a while.
    pub(crate) async fn stall(&self, time: Duration) {
        let closed = Instant::now();
        self.open.send_replace(false);
        tokio::time::sleep(time).await;
        *self.stalled.lock().unwrap_or_else(PoisonError::into_inner) = Some((closed, Instant::now()));
        self.open.send_replace(true);
    }

    /// How old an answer may be that has just come through.
    pub(crate) fn delay(&self) -> Duration {
        let stalled = *self.stalled.lock().unwrap_or_else(PoisonError::into_inner);
        match stalled {
            Some((closed, opened)) if opened.elapsed() < Duration::from_millis(20) => closed.elapsed(),
            _ => Duration::ZERO,
        }
    }
}
