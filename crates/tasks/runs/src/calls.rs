//! Runs that services carry out: HTTP and gRPC.
//!
//! A call is carried out by a task of the process that started it, under the lock of the run's folder. When that process dies, whoever starts the
//! run again takes it up: what was noted says whether the service has accepted the work, and the run's id makes it safe to ask again.

mod grpc;
mod http;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clock::{Clock, Time};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::end::{End, Reason};
use crate::error::Result;
use crate::folder::{Folder, Kind, Started};
use crate::id::RunId;
use crate::limits::{
    CALL_LOOK_EVERY, CANCEL_TIMEOUT, DETAIL_BYTES_MAX, END_EVERY, END_TRIES, RETRY_PAUSE, RETRY_PAUSE_MAX,
};
use crate::log::Writer;
use crate::spec::{Spec, What};
use crate::value::Values;

/// The client for services that are trusted by the system's authorities. The error is for people.
pub(crate) fn web_client() -> Result<reqwest::Client, String> {
    http::client(None)
}

/// What carries out a call. Dropping it leaves the call where it is.
pub(crate) struct Call {
    pub(crate) run: RunId,
    pub(crate) folder: Folder,
    pub(crate) spec: Spec,
    pub(crate) clock: Clock,
    /// Where services call back; `{run}` in it is replaced.
    pub(crate) callbacks: Option<String>,
    /// The client for services that are trusted by the system's authorities.
    pub(crate) web: reqwest::Client,
    /// Somebody may have asked to kill it, or told its end.
    pub(crate) nudge: Arc<Notify>,
    notes: Mutex<Notes>,
}

/// What is told of a call while it is carried out.
struct Notes {
    log: Option<Writer>,
    /// The last error that may pass.
    trouble: String,
}

/// How far a call came.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Progress {
    /// The service has accepted the work: it must not be given to it again.
    accepted: bool,
    /// Where the service is asked, if it said so itself.
    location: Option<String>,
}

/// What came of a call.
struct Verdict {
    reason: Reason,
    detail: String,
    sets: Values,
}

impl Verdict {
    fn done(sets: Values) -> Self {
        Self { reason: Reason::Done, detail: String::new(), sets }
    }

    fn failed(detail: impl Into<String>) -> Self {
        Self { reason: Reason::Failed, detail: detail.into(), sets: Values::new() }
    }
}

/// What ends a call beside its work.
enum Stop {
    /// Its end was noted by another: a service called back.
    Told,
    /// Somebody asked to kill it.
    Killed,
}

impl Call {
    pub(crate) fn new(
        run: RunId,
        folder: Folder,
        spec: Spec,
        (clock, callbacks, web): (Clock, Option<String>, reqwest::Client),
        nudge: Arc<Notify>,
    ) -> Self {
        let log = Writer::open(folder.path(), spec.log_bytes_max);
        let log = log.inspect_err(|error| tracing::warn!(%run, %error, "the log of a run is not kept")).ok();
        let notes = Mutex::new(Notes { log, trouble: String::new() });
        Self { run, folder, spec, clock, callbacks, web, nudge, notes }
    }

    /// Notes that the call is begun, or finds that it was. Blocks.
    pub(crate) fn begin(&self) -> Result<Time> {
        if let Some(started) = self.folder.started()? {
            return Ok(started.since);
        }
        let since = self.clock.now();
        self.folder.note_started(Started { kind: Kind::Call, pid: std::process::id(), since })?;
        Ok(since)
    }

    /// Carries out the call until its end is noted.
    pub(crate) async fn carry_out(self, began: Time) -> Result<()> {
        let left = (began + self.spec.timeout).since(self.clock.now());
        let verdict = tokio::select! {
            biased;
            stop = self.stopped() => match stop {
                Stop::Told => return Ok(()),
                Stop::Killed => {
                    self.cancel("somebody killed the run").await;
                    Verdict { reason: Reason::Killed, ..Verdict::failed("") }
                }
            },
            verdict = timeout(left, self.work()) => if let Ok(verdict) = verdict {
                verdict
            } else {
                self.cancel("the run took too long").await;
                Verdict { reason: Reason::TimedOut, ..Verdict::failed(self.too_long()) }
            },
        };
        let detail = shortened(&verdict.detail, DETAIL_BYTES_MAX);
        let end = End { sets: verdict.sets, ..End::new(verdict.reason, detail, began, self.clock.now()) };
        self.log(&format!("the run has ended: {end}"));
        self.note_end(end).await
    }

    async fn work(&self) -> Verdict {
        match &self.spec.what {
            What::Http(http) => http::work(self, http).await,
            What::Grpc(grpc) => grpc::work(self, grpc).await,
            What::Command(_) => Verdict::failed("a command is not carried out by a call"),
        }
    }

    /// Tells a service that its work is not wanted any more, if there is a way to.
    async fn cancel(&self, reason: &str) {
        if let What::Grpc(grpc) = &self.spec.what
            && let Ok(Err(why)) | Err(why) = timeout(CANCEL_TIMEOUT, grpc::cancel(self, grpc, reason))
                .await
                .map_err(|_| "no answer".to_owned())
        {
            self.log(&format!("CancelRun: {why}"));
        }
    }

    async fn stopped(&self) -> Stop {
        loop {
            let nudged = self.nudge.notified();
            if self.folder.end().is_ok_and(|end| end.is_some()) {
                return Stop::Told;
            }
            if self.folder.is_kill_asked() {
                return Stop::Killed;
            }
            _ = timeout(CALL_LOOK_EVERY, nudged).await;
        }
    }

    fn too_long(&self) -> String {
        let trouble = self.notes.lock().unwrap_or_else(PoisonError::into_inner).trouble.clone();
        let late = format!("it took longer than {:?}", self.spec.timeout);
        if trouble.is_empty() { late } else { format!("{late}; the last error was: {trouble}") }
    }

    /// Writes a line into the run's log.
    fn log(&self, line: &str) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let written = notes
            .log
            .as_mut()
            .map_or(Ok(()), |log| log.write(format!("{} {line}\n", self.clock.now()).as_bytes()));
        if let Err(error) = written {
            tracing::warn!(run = %self.run, %error, "the log of a run is not complete");
            notes.log = None;
        }
    }

    /// Notes an error that may pass, and waits before the next try.
    async fn pause_after(&self, trouble: String, pause: &mut Pause, wanted: Option<Duration>) {
        self.log(&trouble);
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).trouble = trouble;
        let next = pause.next();
        sleep(wanted.unwrap_or(next)).await;
    }

    /// Notes that the errors are over.
    fn forget_trouble(&self) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).trouble.clear();
    }

    fn progress(&self) -> Result<Progress> {
        self.folder.call()
    }

    /// Notes how far the call came; tries until it can.
    async fn note(&self, progress: &Progress) {
        let mut pause = Pause::default();
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

/// Has something done that waits for the disk.
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

/// Pauses that grow.
#[derive(Default)]
struct Pause(u32);

impl Pause {
    fn next(&mut self) -> Duration {
        let pause = RETRY_PAUSE.saturating_mul(1 << self.0.min(20)).min(RETRY_PAUSE_MAX);
        self.0 += 1;
        pause
    }
}

/// The beginning of a text, on one line.
pub(crate) fn shortened(text: &str, bytes_max: usize) -> String {
    let head = text::head_bytes(text, bytes_max);
    let more = if head.len() < text.len() { " ..." } else { "" };
    text::one_line(head) + more
}
