//! Groups: batches that share one durable write, and the rule that decides them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::batch::{Batch, BatchId, Write};
use crate::key::Key;
use crate::{Error, Result};

/// Batches that are applied together in this order: each sees the writes of those before it.
#[derive(Clone, Debug)]
pub struct Group {
    /// Each has an id. Shared, so that a group is cheap to send to another thread.
    pub batches: Arc<[Batch]>,
    /// From zero; an attempt that was not applied is followed by the next one.
    pub attempt: u32,
}

impl Group {
    pub(crate) fn new(batches: Vec<Batch>) -> Self {
        Self { batches: batches.into(), attempt: 0 }
    }

    /// The id of the first batch. Together with the attempt it identifies one try to commit.
    #[must_use]
    pub fn id(&self) -> BatchId {
        self.ids().next().unwrap_or(BatchId(0))
    }

    pub fn ids(&self) -> impl Iterator<Item = BatchId> {
        self.batches.iter().filter_map(Batch::id)
    }
}

/// The decision about one batch of an applied group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All checks held.
    Applied,
    /// These checks failed; nothing of the batch was written.
    Conflict(Vec<Key>),
}

/// A decided group: a verdict for each batch, and one write for each key that a winner wrote.
#[derive(Debug, Default)]
pub struct Decision {
    /// In the order of the batches.
    pub verdicts: Vec<Verdict>,
    /// The last put or delete of a row, the sum of the adds to a counter.
    pub writes: BTreeMap<Key, Write>,
}

/// `stored_version` returns the version of a row before the group; zero if it is absent.
pub fn decide(group: &Group, mut stored_version: impl FnMut(&Key) -> Result<u64>) -> Result<Decision> {
    let mut decision = Decision::default();
    for batch in &*group.batches {
        let mut failed = Vec::new();
        for (key, expected) in batch.checks() {
            let current = match decision.writes.get(key) {
                Some(Write::Put { version, .. }) => *version,
                Some(Write::Delete | Write::Add(_)) => 0,
                None => stored_version(key)?,
            };
            if current != *expected {
                failed.push(key.clone());
            }
        }
        if failed.is_empty() {
            for (key, write) in batch.writes() {
                merge(&mut decision.writes, key, write)?;
            }
            decision.verdicts.push(Verdict::Applied);
        } else {
            decision.verdicts.push(Verdict::Conflict(failed));
        }
    }
    Ok(decision)
}

fn merge(writes: &mut BTreeMap<Key, Write>, key: &Key, write: &Write) -> Result<()> {
    match writes.entry(key.clone()) {
        Entry::Vacant(vacant) => _ = vacant.insert(write.clone()),
        Entry::Occupied(mut before) => match (before.get_mut(), write) {
            (Write::Add(sum), Write::Add(delta)) => *sum = add(key, *sum, *delta)?,
            (before, _) => *before = write.clone(),
        },
    }
    Ok(())
}

pub(crate) fn add(key: &Key, amount: i64, delta: i64) -> Result<i64> {
    amount.checked_add(delta).ok_or_else(|| Error::CounterOverflow { key: key.to_string() })
}
