//! Starts a watcher in the background and stops it in order.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;
use tokio::task::JoinHandle;
use watcher::{Entity, Watcher};

pub(super) struct AtWork {
    stop: watch::Sender<bool>,
    running: JoinHandle<watcher::Result<()>>,
}

impl AtWork {
    pub(super) fn start<E: Entity>(watcher: &Watcher<E>) -> Self {
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let instance = format!("bench-{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let stop = watch::Sender::new(false);
        let (watcher, stopped) = (watcher.clone(), stop.subscribe());
        Self { stop, running: tokio::spawn(async move { watcher.run(instance, stopped).await }) }
    }

    /// Waits until the visits that the watcher has begun are finished.
    pub(super) async fn stop(self) -> anyhow::Result<()> {
        self.stop.send_replace(true);
        Ok(self.running.await??)
    }
}
