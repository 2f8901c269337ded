//! Simulated time that goes on while a thread reads a file.
//!
//! tokio's paused clock moves on by itself when nothing else can happen, but not while a blocking
//! thread is at work; and one that waits for room in a channel waits for work that waits for time.
//! So time is moved a little every now and then as well.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::Notify;

/// So often,
const EVERY: Duration = Duration::from_millis(1);
/// so much time passes.
const STEP: Duration = Duration::from_millis(20);

/// Moves time on until it is dropped.
pub(crate) struct Moving {
    stop: Arc<AtomicBool>,
    ticking: Option<JoinHandle<()>>,
}

impl Moving {
    pub(crate) fn start() -> Self {
        let (stop, tick) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
        let (stopped, ticks) = (Arc::clone(&stop), Arc::clone(&tick));
        let ticking = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                std::thread::sleep(EVERY);
                ticks.notify_one();
            }
        });
        tokio::spawn(async move {
            loop {
                tick.notified().await;
                tokio::time::advance(STEP).await;
            }
        });
        Self { stop, ticking: Some(ticking) }
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.ticking.take().map(JoinHandle::join);
    }
}
