//! What the background tasks of feeds share: repetition until a stop, consumption of topics,
//! waiting for writes.

use std::sync::Arc;
use std::time::Duration;

use store::{Batch, Hint, Hints, Outcome};
use tokio::sync::watch;
use tokio::time::timeout;
use topics::{Delivered, Position, ReadLimit};

use crate::error::Result;
use crate::feeds::Feeds;

/// The pause after an error.
const REST: Duration = Duration::from_secs(2);
/// How long a read of a topic waits for the next message.
const WAIT: Duration = Duration::from_secs(1);

/// Repeats a step until `stop` says so, with a pause after an error.
pub(crate) async fn repeat<F: Future<Output = Result<()>>>(
    task: &'static str,
    partition: Option<u32>,
    mut stop: watch::Receiver<bool>,
    mut step: impl FnMut() -> F,
) {
    while !*stop.borrow() {
        let step = async {
            if let Err(error) = step().await {
                tracing::warn!(task, partition, %error, "background task failed, will retry");
                tokio::time::sleep(REST).await;
            }
        };
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => return,
            () = step => {}
        }
    }
}

impl Feeds {
    /// The next messages of a consumer and its position before them. Waits a little if there are
    /// none.
    pub(crate) async fn next_messages(
        &self,
        group: &str,
        topic: &str,
        partition: u32,
        limit: usize,
    ) -> Result<(Position, Vec<Delivered>)> {
        let topics = &self.deps.topics;
        let position = topics.position(group, topic, partition).await.map_err(Arc::new)?;
        let read = ReadLimit::messages(limit).waiting(WAIT);
        match topics.read(topic, partition, position.offset(), read).await {
            Err(topics::Error::OffsetOutOfRange { first, offset, .. }) if offset < first => {
                tracing::error!(
                    topic,
                    partition,
                    from = offset,
                    to = first,
                    "messages were trimmed before they were read"
                );
                let mut batch = Batch::new();
                let next = position.commit_into(&mut batch, first);
                let _: Outcome = self.store().commit(batch).await?;
                Ok((next, Vec::new()))
            }
            page => Ok((position, page.map_err(Arc::new)?.messages)),
        }
    }

    /// Whether another consumer has moved the position of this one.
    pub(crate) async fn is_overtaken(
        &self,
        group: &str,
        topic: &str,
        partition: u32,
        position: &Position,
    ) -> Result<bool> {
        let now = self.deps.topics.position(group, topic, partition).await.map_err(Arc::new)?;
        Ok(now.offset() != position.offset())
    }
}

/// Waits for a write to a table, in one shard or in any. Hints of other processes may be missing,
/// so it also returns after `at_most`.
pub(crate) async fn until_written(
    hints: &mut Hints,
    table: &'static str,
    shard: Option<u32>,
    at_most: Duration,
) {
    let written = async {
        loop {
            match hints.next().await {
                Some(Hint::Changed { table: changed, shard: of }) => {
                    if changed == table && shard.is_none_or(|shard| shard == of) {
                        return;
                    }
                }
                Some(Hint::Put(_)) => {}
                Some(Hint::Anything) => return,
                // The store is closed: the next read returns its error.
                None => std::future::pending().await,
            }
        }
    };
    let _ = timeout(at_most, written).await;
}
