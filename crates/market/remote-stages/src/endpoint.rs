//! One address of a plug-in, and how it fares.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use connectrpc::client::ClientConfig;
use connectrpc::{ConnectError, ErrorCode, Protocol};
use http::Uri;
use tokio::time::Instant;
use wire::torg::stages::v1::{DescribeRequest, DescribeResponse, StageServiceClient};

use crate::limits::{
    DESCRIBE_TIMEOUT, FAILURES_MAX, MESSAGE_BYTES_MAX, PROBE_PAUSE, PROBE_PAUSE_MAX, RESPONSE_BYTES_MAX,
};
use crate::outside::Outside;
use crate::secured::Trouble;

/// How an endpoint fares, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Its address.
    pub address: String,
    /// Whether it was taken out: it gets no visits until it answers a probe.
    pub out: bool,
    /// What the last failure was.
    pub last_error: String,
    /// Calls so far.
    pub calls: u64,
    /// Of them failures.
    pub failures: u64,
}

/// An address that was asked what it is and said nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silence {
    /// What is known of it.
    pub error: String,
    /// Nobody is there; otherwise it took too long.
    pub is_away: bool,
    /// Calls are under way there: it may have too much to do.
    pub is_busy: bool,
}

/// What calls a plug-in.
pub(crate) type Client = StageServiceClient;

/// One address.
pub(crate) struct Endpoint {
    address: String,
    client: Arc<Client>,
    trouble: Trouble,
    under_way: AtomicUsize,
    health: Mutex<Health>,
}

#[derive(Default)]
struct Health {
    calls: u64,
    failures: u64,
    failures_in_a_row: u32,
    /// When it may be probed, if it was taken out.
    probe_at: Option<Instant>,
    last_error: String,
}

impl Endpoint {
    pub(crate) fn new(outside: &Outside, address: &Uri) -> Self {
        let config = ClientConfig::new(address.clone())
            .with_protocol(Protocol::Grpc)
            .with_default_timeout(outside.timeout)
            .with_default_max_message_size(RESPONSE_BYTES_MAX);
        let config = match &outside.token {
            Some(token) => config.with_default_header("authorization", token.clone()),
            None => config,
        };
        let (connection, trouble) = outside.dialler.dial(address);
        let client = Arc::new(StageServiceClient::new(connection, config));
        let address = address.to_string().trim_end_matches('/').to_owned();
        Self { address, client, trouble, under_way: AtomicUsize::new(0), health: Mutex::default() }
    }

    /// Calls under way.
    pub(crate) fn under_way(&self) -> usize {
        self.under_way.load(Ordering::Relaxed)
    }

    pub(crate) fn is_out(&self) -> bool {
        self.health().probe_at.is_some()
    }

    /// Whether it was taken out and its pause is over. Says so once: whoever asks has to probe it.
    pub(crate) fn is_to_be_probed(&self, now: Instant) -> bool {
        let mut health = self.health();
        match health.probe_at {
            Some(at) if now >= at => {
                // Should the probe get lost, there is another one later.
                health.probe_at = Some(now + 2 * DESCRIBE_TIMEOUT);
                true
            }
            _ => false,
        }
    }

    /// Asks the stage what it is, only to see whether it is there: that is no call, for whoever counts them. What comes of it is noted unless calls are
    /// under way, for these say more.
    pub(crate) async fn ping(&self, stage: &str, patience: Duration) -> Result<(), Silence> {
        let request = DescribeRequest { stage: stage.to_owned(), ..DescribeRequest::default() };
        let was_busy = self.under_way() > 0;
        let client = self.client.with_timeout(patience);
        let answer = tokio::time::timeout(patience, client.describe(request)).await;
        let late = || ConnectError::new(ErrorCode::DeadlineExceeded, format!("no answer in {patience:?}"));
        let error = match answer {
            Ok(answer) => answer.err().map(|error| self.explained(error)),
            Err(_) => Some(late()),
        };
        // Whatever else it says, it says something.
        let silence = error.filter(|error| is_silence(error.code));
        let is_busy = was_busy || self.under_way() > 0;
        if !is_busy {
            self.note_ping(silence.as_ref());
        }
        let silent = |error: ConnectError| {
            let is_away = error.code == ErrorCode::Unavailable;
            Silence { error: words(&error), is_away, is_busy }
        };
        silence.map_or(Ok(()), |error| Err(silent(error)))
    }

    /// Makes a call, and notes what came of it.
    pub(crate) async fn call<T, F>(&self, call: impl FnOnce(Arc<Client>) -> F) -> Result<T, ConnectError>
    where
        F: Future<Output = Result<T, ConnectError>>,
    {
        let _under_way = UnderWay::begin(&self.under_way);
        let answer = call(Arc::clone(&self.client)).await.map_err(|error| self.explained(error));
        self.note(answer.as_ref().err());
        answer
    }

    /// The error, with what the connection knows of it.
    fn explained(&self, mut error: ConnectError) -> ConnectError {
        if error.code == ErrorCode::Unavailable
            && let Some(trouble) = self.trouble.text()
        {
            error.message = Some(trouble);
        }
        error
    }

    /// What the stage says of itself.
    pub(crate) async fn describe(&self, stage: &str) -> Result<DescribeResponse, ConnectError> {
        let request = DescribeRequest { stage: stage.to_owned(), ..DescribeRequest::default() };
        let describe =
            async move |client: Arc<Client>| client.with_timeout(DESCRIBE_TIMEOUT).describe(request).await;
        self.call(describe).await
    }

    pub(crate) fn standing(&self) -> Standing {
        let Health { calls, failures, probe_at, last_error, .. } = &*self.health();
        let (address, last_error) = (self.address.clone(), last_error.clone());
        Standing { address, out: probe_at.is_some(), last_error, calls: *calls, failures: *failures }
    }

    fn note(&self, error: Option<&ConnectError>) {
        let mut health = self.health();
        health.calls += 1;
        health.failures += u64::from(error.is_some());
        self.judge(&mut health, error);
    }

    fn note_ping(&self, silence: Option<&ConnectError>) {
        self.judge(&mut self.health(), silence);
    }

    /// Whether it gets visits from now on.
    fn judge(&self, health: &mut Health, error: Option<&ConnectError>) {
        let Some(error) = error else {
            if health.probe_at.take().is_some() {
                tracing::info!(endpoint = self.address, "a stage's endpoint answers again");
            }
            health.failures_in_a_row = 0;
            return;
        };
        health.failures_in_a_row = health.failures_in_a_row.saturating_add(1);
        health.last_error = words(error);
        if health.failures_in_a_row >= FAILURES_MAX {
            let pause = pause_after(health.failures_in_a_row - FAILURES_MAX);
            if health.probe_at.is_none() {
                tracing::warn!(
                    endpoint = self.address,
                    error = health.last_error,
                    "a stage's endpoint is taken out"
                );
            }
            health.probe_at = Some(Instant::now() + pause);
        }
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an error says that nobody answered.
fn is_silence(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::Unavailable | ErrorCode::DeadlineExceeded)
}

/// Counts a call, also one that is dropped before its end.
struct UnderWay<'a>(&'a AtomicUsize);

impl<'a> UnderWay<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn pause_after(further_failures: u32) -> Duration {
    PROBE_PAUSE.saturating_mul(1 << further_failures.min(10)).min(PROBE_PAUSE_MAX)
}

/// What an error says, for people.
pub(crate) fn words(error: &ConnectError) -> String {
    let text = error.message.as_deref().unwrap_or("no reason given");
    shortened(&format!("{}: {text}", error.code.as_str()))
}

/// As much of a text as is kept.
pub(crate) fn shortened(text: &str) -> String {
    let mut end = text.len().min(MESSAGE_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
