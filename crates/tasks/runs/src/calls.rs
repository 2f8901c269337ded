//! Runs that services execute: HTTP and gRPC.
//!
//! A task of the process that started a call executes it, under the lock of the run's folder. When
//! that process dies, the next start of the run resumes the call: the notes say whether the service
//! has accepted the work, and the run's id makes it safe to ask again.

mod grpc;
mod http;

use std::sync::Arc;
use std::time::Duration;

use clock::{Clock, Time};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::end::{End, Reason};
use crate::error::Result;
use crate::folder::{Folder, Kind, Started};
use crate::id::RunId;
use crate::limits::{
    CALL_POLL_EVERY, CANCEL_TIMEOUT, DETAIL_BYTES_MAX, END_EVERY, END_TRIES, RETRY_PAUSE, RETRY_PAUSE_MAX,
};
use crate::log::Writer;
use crate::spec::{Action, Spec};
use crate::value::Values;

/// The client for services that the system's authorities certify. The error is for people.
pub(crate) fn default_client() -> Result<reqwest::Client, String> {
    http::client(None)
}

/// Executes a call. Dropping it leaves the call where it is.
pub(crate) struct Call {
    pub(crate) run: RunId,
    pub(crate) folder: Folder,
    pub(crate) spec: Spec,
    pub(crate) clock: Clock,
    /// The callback URL; `{run}` in it is replaced.
    pub(crate) callbacks: Option<String>,
    /// The client for services that the system's authorities certify.
    pub(crate) web: reqwest::Client,
    /// Notified when a kill is requested, or the end is reported.
    pub(crate) wake: Arc<Notify>,
    notes: Mutex<Notes>,
}

struct Notes {
    log: Option<Writer>,
    last_error: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Progress {
    /// The service has accepted the work: it must not be given to it again.
    accepted: bool,
    /// The polling URL, if the service named one.
    location: Option<String>,
}

struct CallOutcome {
    reason: Reason,
    detail: String,
    sets: Values,
}

impl CallOutcome {
    fn done(sets: Values) -> Self {
        Self { reason: Reason::Done, detail: String::new(), sets }
    }

    fn failed(detail: impl Into<String>) -> Self {
        Self { reason: Reason::Failed, detail: detail.into(), sets: Values::new() }
    }
}

/// What ends a call before its work.
enum Stop {
    /// Its end is noted: a service called back.
    Ended,
    Killed,
}

impl Call {
    pub(crate) fn new(
        run: RunId,
        folder: Folder,
        spec: Spec,
        (clock, callbacks, web): (Clock, Option<String>, reqwest::Client),
        wake: Arc<Notify>,
    ) -> Self {
        let log = Writer::open(folder.path(), spec.log_bytes_max);
        let log = log.inspect_err(|error| tracing::warn!(%run, %error, "the log of a run is not kept")).ok();
        let notes = Mutex::new(Notes { log, last_error: String::new() });
        Self { run, folder, spec, clock, callbacks, web, wake, notes }
    }

    /// Notes that the call has begun, or finds that it has. Blocks.
    pub(crate) fn begin(&self) -> Result<Time> {
        if let Some(started) = self.folder.started()? {
            return Ok(started.since);
        }
        let since = self.clock.now();
        self.folder.note_started(Started { kind: Kind::Call, pid: std::process::id(), since })?;
        Ok(since)
    }

    pub(crate) async fn execute(self, began: Time) -> Result<()> {
        let left = (began + self.spec.timeout).since(self.clock.now());
        let outcome = tokio::select! {
            biased;
            stop = self.stopped() => match stop {
                Stop::Ended => return Ok(()),
                Stop::Killed => {
                    self.cancel("the run was killed").await;
                    CallOutcome { reason: Reason::Killed, ..CallOutcome::failed("") }
                }
            },
            outcome = timeout(left, self.work()) => if let Ok(outcome) = outcome {
                outcome
            } else {
                self.cancel("the run took too long").await;
                CallOutcome { reason: Reason::TimedOut, ..CallOutcome::failed(self.too_long()) }
            },
        };
        let detail = truncate(&outcome.detail, DETAIL_BYTES_MAX);
        let end = End { sets: outcome.sets, ..End::new(outcome.reason, detail, began, self.clock.now()) };
        self.log(&format!("the run has ended: {end}"));
        self.note_end(end).await
    }

    async fn work(&self) -> CallOutcome {
        match &self.spec.action {
            Action::Http(http) => http::work(self, http).await,
            Action::Grpc(grpc) => grpc::work(self, grpc).await,
            Action::Command(_) => CallOutcome::failed("a command is not carried out by a call"),
        }
    }

    /// Tells a service that its work is no longer needed, if the protocol allows.
    async fn cancel(&self, reason: &str) {
        if let Action::Grpc(grpc) = &self.spec.action
            && let Ok(Err(why)) | Err(why) = timeout(CANCEL_TIMEOUT, grpc::cancel(self, grpc, reason))
                .await
                .map_err(|_| "no answer".to_owned())
        {
            self.log(&format!("CancelRun: {why}"));
        }
    }

    async fn stopped(&self) -> Stop {
        loop {
            let woken = self.wake.notified();
            if self.folder.end().is_ok_and(|end| end.is_some()) {
                return Stop::Ended;
            }
            if self.folder.is_kill_asked() {
                return Stop::Killed;
            }
            _ = timeout(CALL_POLL_EVERY, woken).await;
        }
    }

    fn too_long(&self) -> String {
        let last_error = self.notes.lock().last_error.clone();
        let late = format!("it took longer than {:?}", self.spec.timeout);
        if last_error.is_empty() { late } else { format!("{late}; the last error was: {last_error}") }
    }

    fn log(&self, line: &str) {
        let mut notes = self.notes.lock();
        let written = notes
            .log
            .as_mut()
            .map_or(Ok(()), |log| log.write(format!("{} {line}\n", self.clock.now()).as_bytes()));
        if let Err(error) = written {
            tracing::warn!(run = %self.run, %error, "the log of a run is not complete");
            notes.log = None;
        }
    }

    /// Logs a transient error, and waits before the next attempt.
    async fn pause_after(&self, last_error: String, pause: &mut Backoff, wanted: Option<Duration>) {
        self.log(&last_error);
        self.notes.lock().last_error = last_error;
        let next = pause.next();
        sleep(wanted.unwrap_or(next)).await;
    }

    fn clear_error(&self) {
        self.notes.lock().last_error.clear();
    }

    fn progress(&self) -> Result<Progress> {
        self.folder.call()
    }

    /// Notes the progress of the call; retries until it succeeds.
    async fn note(&self, progress: &Progress) {
        let mut pause = Backoff::default();
        loop {
            let (folder, noted) = (self.folder.clone(), progress.clone());
            match blocking(move || folder.note_call(&noted)).await {
                Ok(()) => return,
                Err(error) => self.pause_after(error.to_string(), &mut pause, None).await,
            }
        }
    }

    async fn note_end(&self, end: End) -> Result<()> {
        let mut tries = 1;
        loop {
            let (folder, noted) = (self.folder.clone(), end.clone());
            match blocking(move || folder.note_end(&noted)).await {
                Ok(_) => return Ok(()),
                Err(error) if tries >= END_TRIES => return Err(error),
                Err(_) => sleep(END_EVERY).await,
            }
            tries += 1;
        }
    }
}

/// Runs blocking work on the thread pool.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(crate::Error::Machine {
            doing: "a step of a run was not finished".to_owned(),
            error: std::io::Error::other(error),
        }),
    }
}

#[derive(Default)]
struct Backoff(u32);

impl Backoff {
    fn next(&mut self) -> Duration {
        let pause = RETRY_PAUSE.saturating_mul(1 << self.0.min(20)).min(RETRY_PAUSE_MAX);
        self.0 += 1;
        pause
    }
}

/// Truncates a text and puts it on one line.
pub(crate) fn truncate(text: &str, bytes_max: usize) -> String {
    let head = text::head_bytes(text, bytes_max);
    let cut = if head.len() < text.len() { " ..." } else { "" };
    text::one_line(head) + cut
}
