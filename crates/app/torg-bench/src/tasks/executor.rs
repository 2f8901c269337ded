//! An executor whose runs end as soon as they start, for measurements of decisions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use clock::Clock;
use runs::{End, LogChunk, Reason, RunId, Spec, Values};
use tasks::{ExecuteError, Executor};
use tokio::sync::mpsc;

pub(super) struct Started {
    pub(super) task: String,
    pub(super) values: Values,
}

/// Every run succeeds at once; the receiver gets each run that starts for the first time.
pub(super) struct AtOnce {
    clock: Clock,
    heard: mpsc::UnboundedSender<Started>,
    known: Mutex<BTreeMap<String, End>>,
}

impl AtOnce {
    pub(super) fn new(clock: Clock) -> (Arc<Self>, mpsc::UnboundedReceiver<Started>) {
        let (heard, listener) = mpsc::unbounded_channel();
        (Arc::new(Self { clock, heard, known: Mutex::default() }), listener)
    }
}

#[async_trait]
impl Executor for AtOnce {
    async fn start(&self, run: &RunId, spec: &Spec) -> Result<(), ExecuteError> {
        let now = self.clock.now();
        let end = End {
            reason: Reason::Done,
            code: Some(0),
            signal: None,
            detail: String::new(),
            began: now,
            ended: now,
            sets: Values::new(),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.insert(run.to_string(), end).is_none() {
            // A closed receiver is no error.
            let _ = self.heard.send(Started { task: spec.task.clone(), values: spec.values.clone() });
        }
        Ok(())
    }

    async fn wait(&self, run: &RunId) -> Result<End, ExecuteError> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(run.as_str());
        known.ok_or_else(|| ExecuteError::Transient("its end was told".to_owned()))
    }

    async fn kill(&self, _: &RunId) -> Result<bool, ExecuteError> {
        Ok(false)
    }

    async fn log(&self, _: &RunId, _: u64, _: usize) -> Result<LogChunk, ExecuteError> {
        Ok(LogChunk { left_out: 0, offset: 0, bytes: Vec::new(), total: 0 })
    }

    async fn remove(&self, _: &RunId) -> Result<(), ExecuteError> {
        Ok(())
    }
}
