//! Offsets of consumers. The offset of a consumer group in a partition is a versioned row of the
//! store, for both logs, so that applying messages and advancing the offset are one commit.

use std::sync::Arc;

use store::{Batch, Key};

use crate::codec::encode_offset;

/// The offset of a consumer group in one partition, as of when it was loaded.
///
/// ```
/// # async fn f(topics: &topics::Topics, store: &store::Store) -> Result<(), Box<dyn std::error::Error>> {
/// let mut position = topics.position("moderation", "opinions", 0).await?;
/// loop {
///     let page = topics.read("opinions", 0, position.offset(), topics::ReadLimit::default()).await?;
///     let mut batch = store::Batch::new();
///     // ... the writes that apply the page's messages ...
///     let moved = position.commit_into(&mut batch, page.next);
///     match store.commit(batch).await? {
///         store::Outcome::Applied => position = moved,
///         // Another consumer of the group was here, or the rows changed: nothing of the page was applied.
///         store::Outcome::Conflict(_) => position = topics.position("moderation", "opinions", 0).await?,
///     }
/// #   break;
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Position {
    pub(crate) key: Arc<Key>,
    pub(crate) offset: i64,
    pub(crate) version: u64,
}

impl Position {
    /// The next offset to read; zero if the group never committed one.
    #[must_use]
    pub fn offset(&self) -> i64 {
        self.offset
    }

    #[must_use]
    pub fn is_new(&self) -> bool {
        self.version == 0
    }

    /// Sets the offset of the group in the batch, on condition that no other consumer changed it
    /// since this position was loaded. Returns the position that is valid once the batch is
    /// applied.
    ///
    /// The batch of a stale consumer ends in a conflict and nothing of it is applied: this makes
    /// the application of messages exactly-once. `offset` may also be smaller than the present one,
    /// to apply messages again.
    pub fn commit_into(&self, batch: &mut Batch, offset: i64) -> Self {
        let version = self.version + 1;
        batch.check((*self.key).clone(), self.version).put(
            (*self.key).clone(),
            version,
            encode_offset(offset),
        );
        Self { key: Arc::clone(&self.key), offset, version }
    }
}

/// The lag of a consumer group in one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lag {
    pub partition: u32,
    /// The next offset to read; zero if the group never committed one.
    pub offset: i64,
    pub end: i64,
    /// Stored messages that were not consumed.
    pub messages: u64,
}
