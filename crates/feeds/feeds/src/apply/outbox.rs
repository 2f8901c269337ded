//! Results of loads on their way to the topic: rows that are committed with the changes that they
//! describe, sent at least once.

use std::sync::Arc;

use buffa::Message as _;
use store::{Batch, Outcome, Read as _};
use topics::Message;
use wire::torg::feeds::v1::__buffa::oneof::result_message::Content;
use wire::torg::feeds::v1::ResultMessage;

use crate::error::{Result, damaged};
use crate::feeds::Feeds;
use crate::limits::RESULT_PAGE;
use crate::name::FeedName;
use crate::tables::FEED_ANSWERS;

/// Where a result comes from: the partition and offset of the message that it answers, and its
/// number among the results of that message.
pub(super) type ResultKey = (u32, i64, u32);

impl Feeds {
    /// Adds a result to the batch of the changes that it describes.
    pub(super) fn put_result(
        batch: &mut Batch,
        feed: &FeedName,
        load: u64,
        key: ResultKey,
        content: Content,
    ) {
        let FeedName { seller, namespace } = feed.clone();
        let content = Some(content);
        let message = ResultMessage { seller, namespace, load, content, ..ResultMessage::default() };
        batch.set(FEED_ANSWERS.key(key), message.encode_to_vec());
    }

    /// Sends results about loads of one partition to their topic, a page at a time; how many.
    pub(super) async fn send_results(&self, partition: u32) -> Result<usize> {
        let rows = self.store().scan(&FEED_ANSWERS.prefix((partition,)).limit(RESULT_PAGE)).await?.rows;
        if rows.is_empty() {
            return Ok(0);
        }
        let now = self.now().as_ms().max(1);
        let mut messages = Vec::with_capacity(rows.len());
        let mut batch = Batch::new();
        for row in &rows {
            let ResultMessage { seller, namespace, .. } =
                ResultMessage::decode_from_slice(&row.value).map_err(|error| damaged(row, error))?;
            let feed = FeedName { seller, namespace };
            messages.push(Message::new(feed.topic_key(), row.value.clone(), now));
            batch.delete(row.key.clone());
        }
        let topic = &self.deps.config.results_topic;
        self.deps.topics.append(topic, messages).await.map_err(Arc::new)?;
        let _: Outcome = self.store().commit(batch).await?;
        Ok(rows.len())
    }
}
