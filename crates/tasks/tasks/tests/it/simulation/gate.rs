//! A gate between a process and everything else. Of a process that is frozen nothing comes through
//! until it goes on, of one that was killed never again.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;

#[derive(Clone, Default)]
pub(crate) struct Gate {
    state: Arc<Mutex<State>>,
    /// It wakes those who wait in their order.
    changed: Arc<Notify>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    Open,
    Frozen,
    Dead,
}

impl Gate {
    pub(crate) fn state(&self) -> State {
        *self.state.lock().unwrap()
    }

    fn set(&self, state: State) {
        let mut now = self.state.lock().unwrap();
        if *now != State::Dead {
            *now = state;
        }
        drop(now);
        self.changed.notify_waiters();
    }

    /// Waits until nothing is frozen; `false`: the process is dead.
    pub(crate) async fn thaw(&self) -> bool {
        loop {
            let changed = self.changed.notified();
            match self.state() {
                State::Open => return true,
                State::Dead => return false,
                State::Frozen => changed.await,
            }
        }
    }

    /// Lets a living process through. A dead one waits for ever.
    pub(crate) async fn pass(&self) {
        if !self.thaw().await {
            std::future::pending::<()>().await;
        }
    }

    pub(crate) async fn freeze(&self, time: Duration) {
        self.set(State::Frozen);
        tokio::time::sleep(time).await;
        self.set(State::Open);
    }

    pub(crate) fn kill(&self) {
        self.set(State::Dead);
    }
}
