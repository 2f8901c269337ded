//! The addresses of a plug-in: the one that has the least to do gets the next call; those that fail are taken out and probed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use connectrpc::{ConnectError, ErrorCode};
use futures::future::join_all;
use http::Uri;
use tokio::time::Instant;
use wire::torg::stages::v1::DescribeResponse;

use crate::endpoint::{Client, Endpoint, Silence, Standing};
use crate::outside::Outside;

/// All addresses of a plug-in. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Endpoints {
    stage: Arc<str>,
    all: Arc<[Arc<Endpoint>]>,
    /// Who goes first among equals.
    turn: Arc<AtomicUsize>,
}

impl Endpoints {
    pub(crate) fn new(outside: &Outside, addresses: &[Uri]) -> Self {
        let all = addresses.iter().map(|address| Arc::new(Endpoint::new(outside, address))).collect();
        Self { stage: (&*outside.id).into(), all, turn: Arc::default() }
    }

    /// Makes a call at one of the addresses. One that cannot be reached hands it on to the next: nothing has happened there.
    pub(crate) async fn call<T, F>(&self, call: impl Fn(Arc<Client>) -> F) -> Result<T, ConnectError>
    where
        F: Future<Output = Result<T, ConnectError>>,
    {
        self.probe();
        let mut last = None;
        for endpoint in self.in_order() {
            match endpoint.call(&call).await {
                Err(error) if error.code == ErrorCode::Unavailable => last = Some(error),
                ended => return ended,
            }
        }
        Err(last.unwrap_or_else(|| ConnectError::new(ErrorCode::Unavailable, "it has no address")))
    }

    /// What the stage says of itself.
    pub(crate) async fn describe(&self) -> Result<DescribeResponse, ConnectError> {
        let mut last = None;
        for endpoint in self.in_order() {
            match endpoint.describe(&self.stage).await {
                Err(error) => last = Some(error),
                described => return described,
            }
        }
        Err(last.unwrap_or_else(|| ConnectError::new(ErrorCode::Unavailable, "it has no address")))
    }

    /// Asks all of them at the same time what the stage is; one that answers is enough.
    pub(crate) async fn ping(&self, patience: Duration) -> Result<(), Silence> {
        let asked = self.all.iter().map(|endpoint| endpoint.ping(&self.stage, patience));
        let answers = join_all(asked).await;
        let count = answers.len();
        let silent: Vec<Silence> = answers.into_iter().filter_map(Result::err).collect();
        if silent.len() < count {
            return Ok(());
        }
        let is_away = silent.iter().all(|silence| silence.is_away);
        let is_busy = silent.iter().any(|silence| silence.is_busy);
        let error =
            silent.into_iter().next().map_or_else(|| "it has no address".to_owned(), |first| first.error);
        Err(Silence { error, is_away, is_busy })
    }

    pub(crate) fn standings(&self) -> Vec<Standing> {
        self.all.iter().map(|endpoint| endpoint.standing()).collect()
    }

    /// Those that are in, the least busy first. If all are out, all of them: the watcher calls a stage that is down only now and then.
    fn in_order(&self) -> Vec<Arc<Endpoint>> {
        let mut all: Vec<Arc<Endpoint>> = self.all.to_vec();
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % all.len().max(1);
        all.rotate_left(turn);
        if all.iter().any(|endpoint| !endpoint.is_out()) {
            all.retain(|endpoint| !endpoint.is_out());
        }
        all.sort_by_key(|endpoint| endpoint.under_way());
        all
    }

    /// Asks those that were taken out whether they are well again, beside the calls.
    fn probe(&self) {
        let now = Instant::now();
        for endpoint in self.all.iter().filter(|endpoint| endpoint.is_to_be_probed(now)) {
            let (endpoint, stage) = (Arc::clone(endpoint), Arc::clone(&self.stage));
            // What comes of it is noted by the endpoint.
            tokio::spawn(async move { _ = endpoint.describe(&stage).await });
        }
    }
}
