//! How far consumers are. The offset of a group of consumers in a partition is a versioned row of the store, whichever
//! log holds the messages, so that applying messages and moving on are one commit.

use std::sync::Arc;

use store::{Batch, Key};

use crate::codec::encode_offset;

/// How far a group of consumers is in one partition, as of when it was loaded.
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
    /// The offset to read next; zero for a group that has never committed one.
    #[must_use]
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Whether the group has never committed an offset here.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.version == 0
    }

    /// Adds to the batch that the group goes on at `offset`, on condition that no other consumer has moved it since
    /// this position was loaded. Returns the position that holds once the batch is applied.
    ///
    /// A batch of a stale consumer ends in a conflict, with nothing of it applied: that makes the application of
    /// messages exactly-once. `offset` may also lie before the present one, to apply messages again.
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

/// How far a group of consumers is behind in one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lag {
    /// The partition.
    pub partition: u32,
    /// The offset that the group reads next; zero if it has never committed one.
    pub offset: i64,
    /// The end of the partition.
    pub end: i64,
    /// Messages that are there and were not consumed. Trimmed ones do not count.
    pub messages: u64,
}
