//! The addresses of a remote stage: the least busy gets the next call; failing ones are taken out
//! of rotation and probed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use connectrpc::{ConnectError, ErrorCode};
use futures::future::join_all;
use http::Uri;
use tokio::time::Instant;
use wire::torg::stages::v1::DescribeResponse;

use crate::endpoint::{Client, Endpoint, EndpointStatus, PingError};
use crate::spec::StageSpec;

#[derive(Clone)]
pub(crate) struct Endpoints {
    stage: Arc<str>,
    all: Arc<[Arc<Endpoint>]>,
    /// Round robin among equally busy endpoints.
    turn: Arc<AtomicUsize>,
}

impl Endpoints {
    pub(crate) fn new(spec: &StageSpec, addresses: &[Uri]) -> Self {
        let all = addresses.iter().map(|address| Arc::new(Endpoint::new(spec, address))).collect();
        Self { stage: (&*spec.id).into(), all, turn: Arc::default() }
    }

    /// Makes a call at one of the addresses. If it cannot be reached, the next one is tried: the
    /// request has had no effect there.
    pub(crate) async fn call<T, F>(&self, call: impl Fn(Arc<Client>) -> F) -> Result<T, ConnectError>
    where
        F: Future<Output = Result<T, ConnectError>>,
    {
        self.probe();
        let mut last = no_address();
        for endpoint in self.in_order() {
            match endpoint.call(&call).await {
                Err(error) if error.code == ErrorCode::Unavailable => last = error,
                ended => return ended,
            }
        }
        Err(last)
    }

    pub(crate) async fn describe(&self) -> Result<DescribeResponse, ConnectError> {
        let mut last = no_address();
        for endpoint in self.in_order() {
            match endpoint.describe(&self.stage).await {
                Err(error) => last = error,
                described => return described,
            }
        }
        Err(last)
    }

    /// Pings all addresses at once; one answer is enough.
    pub(crate) async fn ping(&self, patience: Duration) -> Result<(), PingError> {
        let asked = self.all.iter().map(|endpoint| endpoint.ping(&self.stage, patience));
        let answers = join_all(asked).await;
        let count = answers.len();
        let silent: Vec<PingError> = answers.into_iter().filter_map(Result::err).collect();
        if silent.len() < count {
            return Ok(());
        }
        let is_unreachable = silent.iter().all(|error| error.is_unreachable);
        let is_busy = silent.iter().any(|error| error.is_busy);
        let error =
            silent.into_iter().next().map_or_else(|| "it has no address".to_owned(), |first| first.error);
        Err(PingError { error, is_unreachable, is_busy })
    }

    pub(crate) fn statuses(&self) -> Vec<EndpointStatus> {
        self.all.iter().map(|endpoint| endpoint.status()).collect()
    }

    /// The endpoints in rotation, the least busy first; all of them if none is: the watcher calls a
    /// stage that is down only now and then.
    fn in_order(&self) -> Vec<Arc<Endpoint>> {
        let mut all: Vec<Arc<Endpoint>> = self.all.to_vec();
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % all.len().max(1);
        all.rotate_left(turn);
        if all.iter().any(|endpoint| !endpoint.is_out()) {
            all.retain(|endpoint| !endpoint.is_out());
        }
        all.sort_by_key(|endpoint| endpoint.in_flight());
        all
    }

    /// Starts due probes of endpoints that are out of rotation.
    fn probe(&self) {
        let now = Instant::now();
        for endpoint in self.all.iter().filter(|endpoint| endpoint.is_to_be_probed(now)) {
            let (endpoint, stage) = (Arc::clone(endpoint), Arc::clone(&self.stage));
            // The endpoint records the outcome.
            tokio::spawn(async move { _ = endpoint.describe(&stage).await });
        }
    }
}

fn no_address() -> ConnectError {
    ConnectError::new(ErrorCode::Unavailable, "it has no address")
}
