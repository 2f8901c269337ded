//! Hints: wake-ups for readers of queues. Hints are not guaranteed: they may be repeated, late,
//! spurious or missing, so a reader also polls at long intervals.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::broadcast;

use crate::batch::{Batch, Write};
use crate::group::{Group, Verdict};
use crate::key::Key;
use crate::table::Placement;

/// Groups of hints that a slow reader may lag behind before it gets [`Hint::Anything`].
const HINTS_KEPT: usize = 256;

/// What was written. Deletes give no hints.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hint {
    /// This process put this row into a table with the placement `Queue`.
    Put(Key),
    /// Rows of this table and shard were written, by this process or another.
    Changed {
        table: &'static str,
        /// The first key column.
        shard: u32,
    },
    /// Hints were lost: anything may have changed.
    Anything,
}

/// `None` ends the stream.
type Heard = Option<Arc<[Hint]>>;

/// The sender, held by the committer.
#[derive(Clone, Debug)]
pub struct HintSender(broadcast::Sender<Heard>);

impl HintSender {
    pub(crate) fn new() -> Self {
        Self(broadcast::channel(HINTS_KEPT).0)
    }

    pub(crate) fn subscribe(&self) -> Hints {
        Hints { receiver: self.0.subscribe(), waiting: Vec::new() }
    }

    /// Sends hints about the applied batches of a group. Free while there is no receiver.
    pub(crate) fn group_applied(&self, group: &Group, verdicts: &[Verdict]) {
        if self.0.receiver_count() == 0 {
            return;
        }
        let applied =
            group.batches.iter().zip(verdicts).filter(|(_, verdict)| matches!(verdict, Verdict::Applied));
        let writes = applied.flat_map(|(batch, _)| Batch::writes(batch));
        let hint = |(key, write): &(Key, Write)| match (write, key.table().placement) {
            (Write::Delete, _) => None,
            (_, Placement::Queue) => Some(Hint::Put(key.clone())),
            _ => Some(Hint::Changed { table: key.table().name, shard: key.shard() }),
        };
        let hints: BTreeSet<Hint> = writes.filter_map(hint).collect();
        if !hints.is_empty() {
            self.send(hints.into_iter().collect());
        }
    }

    /// Sends hints about writes of another process.
    pub fn send(&self, hints: Vec<Hint>) {
        // An error means that there is no receiver.
        let _ = self.0.send(Some(hints.into()));
    }

    pub(crate) fn close(&self) {
        let _ = self.0.send(None);
    }
}

#[derive(Debug)]
pub struct Hints {
    receiver: broadcast::Receiver<Heard>,
    waiting: Vec<Hint>,
}

impl Hints {
    /// The next hint; `None` when the store is closed. Cancellation safe.
    pub async fn next(&mut self) -> Option<Hint> {
        loop {
            if let Some(hint) = self.waiting.pop() {
                return Some(hint);
            }
            match self.receiver.recv().await {
                Ok(Some(hints)) => self.waiting.extend(hints.iter().rev().cloned()),
                Err(broadcast::error::RecvError::Lagged(_)) => return Some(Hint::Anything),
                Ok(None) | Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}
