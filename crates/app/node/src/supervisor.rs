//! Supervises the background tasks of a process. If one of them ends early, the process ends: a
//! process that answers calls while its background work has stopped looks healthy but is not.

use std::panic::AssertUnwindSafe;

use anyhow::{Context as _, anyhow};
use futures::FutureExt as _;
use futures::future::join_all;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::logging::panic_message;
use terminal::errors::advised;

const HINT: &str =
    "the process ends, so that whoever runs it starts it again; if this happens again, its log says more";

/// A set of background tasks.
pub struct Running {
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
    /// The error of the first task that ended early.
    failure: watch::Sender<Option<String>>,
}

impl Default for Running {
    fn default() -> Self {
        Self::new()
    }
}

impl Running {
    pub fn new() -> Running {
        Running { stop: watch::Sender::new(false), tasks: Vec::new(), failure: watch::Sender::new(None) }
    }

    /// Turns true when the tasks have to end.
    pub fn stopped(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// Starts a task. If it returns, fails or panics before it is stopped, it has failed. `what`
    /// describes the consequence of that.
    pub fn start(
        &mut self,
        what: &'static str,
        work: impl Future<Output = anyhow::Result<()>> + Send + 'static,
    ) {
        let (stopped, failure) = (self.stopped(), self.failure.clone());
        self.tasks.push(tokio::spawn(async move {
            let why = match AssertUnwindSafe(work).catch_unwind().await {
                Ok(Ok(())) if *stopped.borrow() => return,
                Ok(Ok(())) => "it ended by itself".to_owned(),
                Ok(Err(error)) => format!("{error:#}"),
                Err(panic) => format!("panic: {}", panic_message(&*panic)),
            };
            tracing::error!(error = why, "{what}");
            failure.send_if_modified(|first| {
                let is_first = first.is_none();
                first.get_or_insert_with(|| format!("{what}: {why}"));
                is_first
            });
        }));
    }

    /// Waits for the first failed task. The caller ends the process.
    pub fn failure(&self) -> impl Future<Output = anyhow::Error> + Send + 'static {
        let mut failure = self.failure.subscribe();
        async move {
            match failure.wait_for(Option::is_some).await.map(|why| why.clone().unwrap_or_default()) {
                Ok(why) => advised(why, HINT),
                // Closed normally: nothing can fail any more.
                Err(_) => std::future::pending().await,
            }
        }
    }

    /// Stops all tasks and waits for them. Returns an error if one had failed.
    pub async fn close(self) -> anyhow::Result<()> {
        self.stop.send_replace(true);
        for ended in join_all(self.tasks).await {
            ended.context("a task was cut off")?;
        }
        self.failure.borrow().as_ref().map_or(Ok(()), |why| Err(anyhow!(why.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terminal::errors::report;

    async fn reported(work: impl Future<Output = anyhow::Result<()>> + Send + 'static) -> String {
        let mut running = Running::new();
        running.start("nothing is sorted any more", work);
        let text = report(&running.failure().await);
        let closed = running.close().await.unwrap_err();
        let first = text.lines().next().unwrap();
        assert_eq!(format!("error: {closed}"), first);
        first.to_owned()
    }

    #[tokio::test]
    async fn work_that_ends_too_early_is_reported_however_it_ends() {
        let said = |why: &str| format!("error: nothing is sorted any more: {why}");
        let refused = async { Err(anyhow!("no name").context("cannot sort")) };
        assert_eq!(reported(refused).await, said("cannot sort: no name"));
        assert_eq!(reported(async { Ok(()) }).await, said("it ended by itself"));
        assert_eq!(reported(async { panic!("boom") }).await, said("panic: boom"));
    }

    #[tokio::test]
    async fn work_that_ends_when_it_is_told_to_is_no_failure() {
        let mut running = Running::new();
        let mut stopped = running.stopped();
        running.start("nothing is sorted any more", async move {
            let _ = stopped.wait_for(|stop| *stop).await;
            Ok(())
        });
        let failure = running.failure();
        running.close().await.unwrap();
        assert!(failure.now_or_never().is_none());
    }
}
