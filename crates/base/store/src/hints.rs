//! Hints: wake-ups for readers of queues. A hint says "look here"; it is never a promise: hints may come twice, late,
//! for nothing, or not at all, so a reader also looks by itself now and then.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::broadcast;

use crate::batch::{Batch, Write};
use crate::group::{Group, Verdict};
use crate::key::Key;
use crate::table::Placement;

/// How many groups of hints a slow reader may fall behind before it is told to look everywhere.
const HINTS_KEPT: usize = 256;

/// What was written. Deleted rows are nobody's business.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hint {
    /// This process has put this row into a table that is a queue.
    Put(Key),
    /// Rows of this table and shard were written, by this process or another.
    Changed {
        /// The table's name.
        table: &'static str,
        /// The first key column.
        shard: u32,
    },
    /// Hints were missed: anything may have changed.
    Anything,
}

/// What the readers hear; `None` is the last thing.
type Heard = Option<Arc<[Hint]>>;

/// The sending half, held by the committer.
#[derive(Clone, Debug)]
pub struct HintSender(broadcast::Sender<Heard>);

impl HintSender {
    pub(crate) fn new() -> Self {
        Self(broadcast::channel(HINTS_KEPT).0)
    }

    pub(crate) fn subscribe(&self) -> Hints {
        Hints { receiver: self.0.subscribe(), waiting: Vec::new() }
    }

    /// Tells the readers what the batches of a group wrote that were applied. Costs nothing while nobody listens.
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

    /// Tells the readers what another process wrote.
    pub fn send(&self, hints: Vec<Hint>) {
        // An error only means that nobody listens.
        let _ = self.0.send(Some(hints.into()));
    }

    /// Tells the readers that the store is closed.
    pub(crate) fn close(&self) {
        let _ = self.0.send(None);
    }
}

/// A stream of hints.
#[derive(Debug)]
pub struct Hints {
    receiver: broadcast::Receiver<Heard>,
    waiting: Vec<Hint>,
}

impl Hints {
    /// The next hint; `None` when the store is closed. Dropping the future loses nothing.
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
