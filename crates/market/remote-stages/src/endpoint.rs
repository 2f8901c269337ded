//! One address of a remote stage: calls, health and circuit breaking.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use connectrpc::client::ClientConfig;
use connectrpc::{ConnectError, ErrorCode, Protocol};
use http::Uri;
use parking_lot::Mutex;
use tokio::time::Instant;
use wire::torg::stages::v1::{DescribeRequest, DescribeResponse, StageServiceClient};

use crate::limits::{
    DESCRIBE_TIMEOUT, FAILURES_MAX, MESSAGE_BYTES_MAX, PROBE_PAUSE, PROBE_PAUSE_MAX, RESPONSE_BYTES_MAX,
};
use crate::spec::StageSpec;
use crate::tls::LastError;

/// The health of an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointStatus {
    pub address: String,
    /// Whether it is out of rotation: it gets no calls until it answers a probe.
    pub out: bool,
    pub last_error: String,
    pub calls: u64,
    pub failures: u64,
}

/// A ping that no endpoint answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PingError {
    pub error: String,
    /// The connection failed; otherwise the answer took too long.
    pub is_unreachable: bool,
    /// Calls are in flight: the endpoint may be overloaded.
    pub is_busy: bool,
}

pub(crate) type Client = StageServiceClient;

pub(crate) struct Endpoint {
    address: String,
    client: Arc<Client>,
    last_error: LastError,
    in_flight: AtomicUsize,
    health: Mutex<Health>,
}

#[derive(Default)]
struct Health {
    calls: u64,
    failures: u64,
    failures_in_a_row: u32,
    /// When the endpoint may be probed; `None` while it is in rotation.
    probe_at: Option<Instant>,
    last_error: String,
}

impl Endpoint {
    pub(crate) fn new(spec: &StageSpec, address: &Uri) -> Self {
        let config = ClientConfig::new(address.clone())
            .with_protocol(Protocol::Grpc)
            .with_default_timeout(spec.timeout)
            .with_default_max_message_size(RESPONSE_BYTES_MAX);
        let config = match &spec.token {
            Some(token) => config.with_default_header("authorization", token.clone()),
            None => config,
        };
        let (connection, last_error) = spec.dialer.dial(address);
        let client = Arc::new(StageServiceClient::new(connection, config));
        let address = address.to_string().trim_end_matches('/').to_owned();
        Self { address, client, last_error, in_flight: AtomicUsize::new(0), health: Mutex::default() }
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub(crate) fn is_out(&self) -> bool {
        self.health.lock().probe_at.is_some()
    }

    /// Whether the endpoint is out of rotation and its pause has passed. Returns true once a pause:
    /// the caller must probe.
    pub(crate) fn is_to_be_probed(&self, now: Instant) -> bool {
        let mut health = self.health.lock();
        match health.probe_at {
            Some(at) if now >= at => {
                // If the probe is lost, a later one follows.
                health.probe_at = Some(now + 2 * DESCRIBE_TIMEOUT);
                true
            }
            _ => false,
        }
    }

    /// Calls `Describe` to see whether the endpoint answers; not counted as a call. The outcome
    /// changes its health unless calls are in flight, which tell more.
    pub(crate) async fn ping(&self, stage: &str, patience: Duration) -> Result<(), PingError> {
        let was_busy = self.in_flight() > 0;
        let described = tokio::time::timeout(patience, describe(&self.client, stage, patience)).await;
        let late = |_| ConnectError::new(ErrorCode::DeadlineExceeded, format!("no answer in {patience:?}"));
        let error = described.map_err(late).flatten().err().map(|error| self.explained(error));
        // Any other error is an answer too.
        let is_silence = |code| matches!(code, ErrorCode::Unavailable | ErrorCode::DeadlineExceeded);
        let silence = error.filter(|error| is_silence(error.code));
        let is_busy = was_busy || self.in_flight() > 0;
        if !is_busy {
            self.record(&mut self.health.lock(), silence.as_ref());
        }
        silence.map_or(Ok(()), |error| {
            let is_unreachable = error.code == ErrorCode::Unavailable;
            Err(PingError { error: message(&error), is_unreachable, is_busy })
        })
    }

    /// Makes a call and records its outcome.
    pub(crate) async fn call<T, F>(&self, call: impl FnOnce(Arc<Client>) -> F) -> Result<T, ConnectError>
    where
        F: Future<Output = Result<T, ConnectError>>,
    {
        let _under_way = InFlight::begin(&self.in_flight);
        let answer = call(Arc::clone(&self.client)).await.map_err(|error| self.explained(error));
        let mut health = self.health.lock();
        health.calls += 1;
        health.failures += u64::from(answer.is_err());
        self.record(&mut health, answer.as_ref().err());
        drop(health);
        answer
    }

    /// Replaces the message of a connection failure by the cause that the connection recorded.
    fn explained(&self, mut error: ConnectError) -> ConnectError {
        if error.code == ErrorCode::Unavailable
            && let Some(last_error) = self.last_error.text()
        {
            error.message = Some(last_error);
        }
        error
    }

    pub(crate) async fn describe(&self, stage: &str) -> Result<DescribeResponse, ConnectError> {
        self.call(async |client| describe(&client, stage, DESCRIBE_TIMEOUT).await).await
    }

    pub(crate) fn status(&self) -> EndpointStatus {
        let Health { calls, failures, probe_at, last_error, .. } = &*self.health.lock();
        let (address, last_error) = (self.address.clone(), last_error.clone());
        EndpointStatus { address, out: probe_at.is_some(), last_error, calls: *calls, failures: *failures }
    }

    /// Puts the endpoint in or out of rotation.
    fn record(&self, health: &mut Health, error: Option<&ConnectError>) {
        let Some(error) = error else {
            if health.probe_at.take().is_some() {
                tracing::info!(endpoint = self.address, "an endpoint of a stage is back in rotation");
            }
            health.failures_in_a_row = 0;
            return;
        };
        health.failures_in_a_row = health.failures_in_a_row.saturating_add(1);
        health.last_error = message(error);
        if health.failures_in_a_row >= FAILURES_MAX {
            let pause = pause_after(health.failures_in_a_row - FAILURES_MAX);
            if health.probe_at.is_none() {
                tracing::warn!(
                    endpoint = self.address,
                    error = health.last_error,
                    "an endpoint of a stage is out of rotation"
                );
            }
            health.probe_at = Some(Instant::now() + pause);
        }
    }
}

async fn describe(client: &Client, stage: &str, timeout: Duration) -> Result<DescribeResponse, ConnectError> {
    let request = DescribeRequest { stage: stage.to_owned(), ..DescribeRequest::default() };
    client.with_timeout(timeout).describe(request).await
}

/// Counts a call in flight until it is dropped.
struct InFlight<'a>(&'a AtomicUsize);

impl<'a> InFlight<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn pause_after(further_failures: u32) -> Duration {
    PROBE_PAUSE.saturating_mul(1 << further_failures.min(10)).min(PROBE_PAUSE_MAX)
}

pub(crate) fn message(error: &ConnectError) -> String {
    let text = error.message.as_deref().unwrap_or("no reason given");
    shortened(&format!("{}: {text}", error.code.as_str()))
}

/// Truncates a text to `MESSAGE_BYTES_MAX`.
pub(crate) fn shortened(text: &str) -> String {
    text::head_bytes(text, MESSAGE_BYTES_MAX).to_owned()
}
