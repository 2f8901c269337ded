//! A gate between a process and its store. While it is closed every call hangs, on its way there or
//! back.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use tokio::sync::Notify;
use tokio::time::Instant;

/// An answer may have been delayed by a stall that ended this long ago: the store is slow too.
const JUST_NOW: Duration = Duration::from_secs(2);

#[derive(Clone, Default)]
pub(crate) struct Gate {
    state: Arc<Mutex<State>>,
    /// Wakes waiters in their order; a `watch` channel wakes them in any.
    opened: Arc<Notify>,
}

#[derive(Default)]
struct State {
    is_closed: bool,
    /// When it was last closed, and last opened again.
    stalled: Option<(Instant, Instant)>,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(crate) async fn pass(&self) {
        loop {
            let opened = self.opened.notified();
            if !self.state().is_closed {
                return;
            }
            opened.await;
        }
    }

    pub(crate) async fn stall(&self, time: Duration) {
        let closed = Instant::now();
        self.state().is_closed = true;
        tokio::time::sleep(time).await;
        *self.state() = State { is_closed: false, stalled: Some((closed, Instant::now())) };
        self.opened.notify_waiters();
    }

    /// How old an answer may be that has just come through.
    pub(crate) fn delay(&self) -> Duration {
        match self.state().stalled {
            Some((closed, opened)) if opened.elapsed() < JUST_NOW => closed.elapsed(),
            _ => Duration::ZERO,
        }
    }
}
