//! The committer: groups the batches of all callers, has the engine apply the groups, and answers
//! each caller. It resolves an unknown outcome before it answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::task::JoinSet;

use crate::batch::Batch;
use crate::engine::{ApplyError, Engine};
use crate::failing::Failing;
use crate::group::{Group, Verdict};
use crate::hints::HintSender;
use crate::key::Key;
use crate::limits::{GROUP_BYTES_MAX, QUEUE_BATCHES_MAX};
use crate::options::StoreOptions;
use crate::{Error, Result};

/// Bounds of the pause between two attempts to resolve an unknown outcome.
const RESOLVE_PAUSE_MIN: Duration = Duration::from_millis(20);
const RESOLVE_PAUSE_MAX: Duration = Duration::from_secs(2);

/// The outcome of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a batch may be refused because of a conflict"]
pub enum Outcome {
    /// The batch is durable.
    Applied,
    /// Nothing is written: the rows of these keys did not have the expected versions.
    Conflict(Vec<Key>),
}

impl Outcome {
    #[must_use]
    pub fn is_applied(&self) -> bool {
        matches!(self, Self::Applied)
    }
}

/// A queued batch.
pub(crate) struct Request {
    pub(crate) batch: Batch,
    pub(crate) reply: Reply,
    pub(crate) turn: Turn,
}

pub(crate) type Reply = oneshot::Sender<Result<Outcome>>;

/// The claim on a queued batch, shared by its caller and the committer: either the committer takes
/// it or the caller withdraws it, never both.
#[derive(Clone, Default)]
pub(crate) struct Turn(Arc<AtomicBool>);

impl Turn {
    /// Takes or withdraws the batch; `false` if the other side was first.
    pub(crate) fn claim(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }
}

/// A group that was not applied, or whose outcome stays unknown.
struct Failure {
    error: Error,
    /// Decided before the failure.
    verdicts: Vec<Verdict>,
}

pub(crate) struct Committer {
    requests: Mutex<mpsc::Receiver<Request>>,
    engine: Arc<dyn Engine>,
    hints: HintSender,
    group_max: usize,
    group_wait: Duration,
    /// Becomes true when the store is closed: unknown outcomes are not resolved any longer.
    closing: watch::Receiver<bool>,
    failing: Failing,
}

impl Committer {
    /// Starts one task for each lane of the engine. The tasks end when the sender is dropped and
    /// the queue is empty.
    pub(crate) fn start(
        engine: Arc<dyn Engine>,
        hints: HintSender,
        options: &StoreOptions,
        closing: watch::Receiver<bool>,
        failing: Failing,
    ) -> (mpsc::Sender<Request>, JoinSet<()>) {
        let (sender, receiver) = mpsc::channel(QUEUE_BATCHES_MAX);
        let lanes = engine.lanes().max(1);
        let (group_max, group_wait) = (options.group_max.max(1), options.group_wait);
        let requests = Mutex::new(receiver);
        let committer = Arc::new(Self { requests, engine, hints, group_max, group_wait, closing, failing });
        let mut tasks = JoinSet::new();
        for _ in 0..lanes {
            tasks.spawn(Arc::clone(&committer).run());
        }
        (sender, tasks)
    }

    async fn run(self: Arc<Self>) {
        while let Some(requests) = self.gather().await {
            let (batches, replies) = requests.into_iter().map(|r| (r.batch, r.reply)).unzip();
            self.commit(Group::new(batches), replies).await;
        }
    }

    /// The next group, up to the limits. `None` when the store is closed and the queue is empty.
    async fn gather(&self) -> Option<Vec<Request>> {
        let mut waiting = self.requests.lock().await;
        let first = loop {
            let request = waiting.recv().await?;
            if request.turn.claim() {
                break request;
            }
        };
        let mut bytes = first.batch.bytes();
        let mut group = vec![first];
        while group.len() < self.group_max && bytes < GROUP_BYTES_MAX {
            let Some(next) = self.next(&mut waiting).await else { break };
            if next.turn.claim() {
                bytes += next.batch.bytes();
                group.push(next);
            }
        }
        Some(group)
    }

    /// Another request for a group that is not full; `None` if the group should not wait.
    async fn next(&self, waiting: &mut mpsc::Receiver<Request>) -> Option<Request> {
        if let Ok(request) = waiting.try_recv() {
            return Some(request);
        }
        // Callers that were answered together return one by one: runnable ones get their turn
        // first.
        tokio::task::yield_now().await;
        if let Ok(request) = waiting.try_recv() {
            return Some(request);
        }
        if self.group_wait.is_zero() {
            return None;
        }
        tokio::time::timeout(self.group_wait, waiting.recv()).await.ok().flatten()
    }

    async fn commit(&self, mut group: Group, replies: Vec<Reply>) {
        let answer = self.apply(&mut group).await;
        self.failing.note(answer.as_ref().err().map(|failure| &failure.error));
        if let Err(Failure { error: Error::CounterOverflow { .. }, .. }) = &answer
            && group.batches.len() > 1
        {
            // One batch would overflow a counter: commit each batch alone, so that the others
            // succeed.
            for (batch, reply) in group.batches.iter().cloned().zip(replies) {
                Box::pin(self.commit(Group::new(vec![batch]), vec![reply])).await;
            }
            return;
        }
        if let Ok(verdicts) = &answer {
            self.hints.group_applied(&group, verdicts);
        }
        reply_to_all(&group, replies, answer);
    }

    /// Applies a group. Returns only when the outcome is known or cannot be learnt.
    async fn apply(&self, group: &mut Group) -> Result<Vec<Verdict>, Failure> {
        loop {
            let (verdicts, error) = match self.engine.apply(group).await {
                Ok(verdicts) => return Ok(verdicts),
                Err(ApplyError::NotApplied(error)) => return Err(Failure { error, verdicts: Vec::new() }),
                Err(ApplyError::Unknown { verdicts, error }) => (verdicts, error),
            };
            tracing::warn!(group = %group.id(), %error, "outcome of a commit is unknown, resolving it");
            match self.resolve(group).await {
                Ok(true) => return Ok(verdicts),
                Ok(false) => group.attempt += 1,
                Err(error) => return Err(Failure { error, verdicts }),
            }
        }
    }

    async fn resolve(&self, group: &Group) -> Result<bool> {
        let open = |detail: String| Error::Unresolved { batch: group.id(), detail };
        let mut closing = self.closing.clone();
        let mut pause = RESOLVE_PAUSE_MIN;
        loop {
            let answer = tokio::select! {
                biased;
                answer = self.engine.resolve(group) => answer,
                _ = closing.wait_for(|closing| *closing) => {
                    return Err(open("the store was closed before the outcome was resolved".to_owned()));
                }
            };
            match answer {
                Ok(applied) => return Ok(applied),
                Err(error) if error.is_passing() => {
                    tracing::warn!(%error, "outcome of a commit is still unknown, retrying");
                }
                Err(error) => return Err(open(error.to_string())),
            }
            tokio::select! {
                biased;
                () = tokio::time::sleep(pause) => {}
                _ = closing.wait_for(|closing| *closing) => {}
            }
            pause = (pause * 2).min(RESOLVE_PAUSE_MAX);
        }
    }
}

/// A caller that dropped its future does not get the answer.
fn reply_to_all(group: &Group, replies: Vec<Reply>, answer: Result<Vec<Verdict>, Failure>) {
    let (verdicts, error) = match answer {
        Ok(verdicts) => (verdicts, None),
        Err(Failure { error, verdicts }) => (verdicts, Some(error)),
    };
    let mut verdicts = verdicts.into_iter();
    for (reply, batch) in replies.into_iter().zip(&*group.batches) {
        let outcome = match (verdicts.next(), &error) {
            // A refused batch stays refused, even if the group failed.
            (Some(Verdict::Conflict(keys)), _) => Ok(Outcome::Conflict(keys)),
            (Some(Verdict::Applied), None) => Ok(Outcome::Applied),
            (_, Some(error)) => Err(error_of(error, batch)),
            (None, None) => Err(error_of(&Error::Closed, batch)),
        };
        let _ = reply.send(outcome);
    }
}

fn error_of(error: &Error, batch: &Batch) -> Error {
    match (error, batch.id()) {
        (Error::Unresolved { detail, .. }, Some(batch)) => {
            Error::Unresolved { batch, detail: detail.clone() }
        }
        _ => error.clone(),
    }
}
