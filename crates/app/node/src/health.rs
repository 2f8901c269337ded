//! Liveness and readiness of the process. One list of readiness checks serves `/readyz` and the
//! gRPC health service.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use connectrpc::ConnectError;
use connectrpc_health::{Checker, Status, StatusStream};
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt as _};
use serde::Serialize;
use tokio::sync::watch;

/// A check that takes longer counts as failed.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);
/// How often a stream of the gRPC health service repeats the checks.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub check: String,
    pub why: String,
}

impl Problem {
    fn new(check: &str, why: impl Into<String>) -> Problem {
        Problem { check: check.to_owned(), why: why.into() }
    }
}

type Check = Arc<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Starting,
    Running,
    Draining,
}

/// The readiness of the process. It is not ready until [`Readiness::started`] is called and all
/// checks pass. Clones share one list of checks.
#[derive(Clone)]
pub struct Readiness {
    checks: Arc<Mutex<Vec<(&'static str, Check)>>>,
    phase: Arc<watch::Sender<Phase>>,
}

impl Readiness {
    pub fn new() -> Readiness {
        Readiness { checks: Arc::default(), phase: Arc::new(watch::Sender::new(Phase::Starting)) }
    }

    /// Adds a check, run at every probe. Its error is public: it must contain no secrets.
    pub fn register<F>(&self, name: &'static str, check: impl Fn() -> F + Send + Sync + 'static)
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        let check: Check = Arc::new(move || Box::pin(check()));
        self.checks.lock().unwrap_or_else(PoisonError::into_inner).push((name, check));
    }

    /// Marks the end of the start: from now on only the checks decide.
    pub fn started(&self) {
        self.phase.send_replace(Phase::Running);
    }

    /// Waits until the start is over or the process begins to drain.
    pub async fn until_started(&self) {
        // The sender belongs to `self`, so the channel is open.
        let _ = self.phase.subscribe().wait_for(|phase| *phase != Phase::Starting).await;
    }

    /// Marks the process as not ready, whatever the checks say. Returns true if it had started.
    pub fn draining(&self) -> bool {
        self.phase.send_replace(Phase::Draining) == Phase::Running
    }

    /// Runs all checks in parallel and returns the failures; empty means ready.
    pub async fn problems(&self) -> Vec<Problem> {
        match *self.phase.borrow() {
            Phase::Starting => return vec![Problem::new("start", "still starting")],
            Phase::Draining => return vec![Problem::new("stop", "stopping")],
            Phase::Running => {}
        }
        let checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let answers = checks.into_iter().map(|(name, check)| async move {
            match tokio::time::timeout(CHECK_TIMEOUT, check()).await {
                Ok(Ok(())) => None,
                Ok(Err(why)) => Some(Problem::new(name, why)),
                Err(_) => Some(Problem::new(name, format!("no answer in {} s", CHECK_TIMEOUT.as_secs()))),
            }
        });
        futures::future::join_all(answers).await.into_iter().flatten().collect()
    }

    async fn status(&self) -> Status {
        if self.problems().await.is_empty() { Status::Serving } else { Status::NotServing }
    }
}

/// The gRPC health service. Every service has the status of the process.
pub(crate) struct HealthChecker {
    readiness: Readiness,
    services: Vec<String>,
}

impl HealthChecker {
    pub(crate) fn new(readiness: Readiness, services: Vec<String>) -> HealthChecker {
        HealthChecker { readiness, services }
    }

    fn known(&self, service: &str) -> Result<(), ConnectError> {
        if service.is_empty() || self.services.iter().any(|known| known == service) {
            return Ok(());
        }
        Err(ConnectError::not_found(format!("unknown service {service}")))
    }
}

impl Checker for HealthChecker {
    async fn check(&self, service: &str) -> Result<Status, ConnectError> {
        self.known(service)?;
        Ok(self.readiness.status().await)
    }

    /// Streams the status now and after every change. Ends when the process drains, so that open
    /// streams do not delay the shutdown.
    async fn watch(&self, service: &str) -> Result<StatusStream, ConnectError> {
        self.known(service)?;
        let watcher = Watcher {
            readiness: self.readiness.clone(),
            phase: self.readiness.phase.subscribe(),
            last: None,
        };
        Ok(StatusStream::new(stream::unfold(Some(watcher), Watcher::next).boxed()))
    }
}

struct Watcher {
    readiness: Readiness,
    phase: watch::Receiver<Phase>,
    last: Option<Status>,
}

impl Watcher {
    async fn next(watcher: Option<Watcher>) -> Option<(Status, Option<Watcher>)> {
        let mut watcher = watcher?;
        loop {
            let phase = *watcher.phase.borrow_and_update();
            let status = watcher.readiness.status().await;
            if phase == Phase::Draining {
                return Some((Status::NotServing, None));
            }
            if watcher.last != Some(status) {
                watcher.last = Some(status);
                return Some((status, Some(watcher)));
            }
            // A change of phase is reported at once, a failed check at the next interval.
            let _ = tokio::time::timeout(WATCH_INTERVAL, watcher.phase.changed()).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_process_is_ready_when_it_has_started_and_every_check_passes() {
        let readiness = Readiness::new();
        let (switch, state) = watch::channel(Err("no connection".to_owned()));
        readiness.register("store", move || std::future::ready(state.borrow().clone()));
        readiness.register("hangs", || async {
            tokio::time::sleep(CHECK_TIMEOUT / 2).await;
            Ok(())
        });
        assert_eq!(readiness.problems().await, [Problem::new("start", "still starting")]);
        readiness.started();
        assert_eq!(readiness.problems().await, [Problem::new("store", "no connection")]);
        switch.send(Ok(())).unwrap();
        assert_eq!(readiness.problems().await, []);
        readiness.draining();
        assert_eq!(readiness.problems().await, [Problem::new("stop", "stopping")]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_hangs_fails_instead_of_hanging_the_probe() {
        let readiness = Readiness::new();
        readiness.register("store", std::future::pending);
        readiness.started();
        assert_eq!(readiness.problems().await, [Problem::new("store", "no answer in 2 s")]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_watcher_hears_of_every_change_and_its_stream_ends_with_the_process() {
        let readiness = Readiness::new();
        let checker = HealthChecker::new(readiness.clone(), vec!["torg.admin.v1.AdminService".to_owned()]);
        assert!(checker.watch("nobody").await.is_err());
        let mut watched = checker.watch("torg.admin.v1.AdminService").await.unwrap();
        assert_eq!(watched.next().await, Some(Status::NotServing));
        readiness.started();
        assert_eq!(watched.next().await, Some(Status::Serving));
        readiness.draining();
        assert_eq!(watched.next().await, Some(Status::NotServing));
        assert_eq!(watched.next().await, None);
    }
}
