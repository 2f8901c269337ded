//! Answers about loads: rows that are committed with what they tell of, and then go to their topic. At least once.

use std::sync::Arc;

use buffa::Message as _;
use store::{Batch, Outcome, Read as _};
use topics::Message;
use wire::torg::feeds::v1::__buffa::oneof::result_message::Content;
use wire::torg::feeds::v1::ResultMessage;

use super::LoadTopics;
use super::progress::FeedName;
use crate::error::{Result, damaged};
use crate::limits::ANSWER_PAGE;
use crate::offers::Offers;
use crate::tables::FEED_ANSWERS;

/// The message that an answer is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) partition: u32,
    pub(super) offset: i64,
    /// Answers to one message, in their order.
    pub(super) part: u32,
}

impl Offers {
    /// Adds an answer to the batch that does what it tells of.
    pub(super) fn answer(batch: &mut Batch, feed: &FeedName, load: u64, place: Place, content: Content) {
        let message = ResultMessage {
            seller: feed.seller.clone(),
            namespace: feed.namespace.clone(),
            load,
            content: Some(content),
            ..ResultMessage::default()
        };
        let key = FEED_ANSWERS.key((place.partition, place.offset, place.part));
        batch.set(key, message.encode_to_vec());
    }

    /// Sends answers about loads of one partition to their topic; how many.
    pub async fn send_answers(&self, topics: &LoadTopics, partition: u32) -> Result<usize> {
        let rows = self.store().scan(&FEED_ANSWERS.prefix((partition,)).limit(ANSWER_PAGE)).await?.rows;
        if rows.is_empty() {
            return Ok(0);
        }
        let now = self.now().as_ms().max(1);
        let (mut messages, mut batch) = (Vec::with_capacity(rows.len()), Batch::new());
        for row in &rows {
            let answer = ResultMessage::decode_from_slice(&row.value).map_err(|error| damaged(row, error))?;
            let feed = FeedName { seller: answer.seller, namespace: answer.namespace };
            messages.push(Message::new(feed.topic_key(), row.value.clone(), now));
            batch.delete(row.key.clone());
        }
        self.topics().append(&topics.results, messages).await.map_err(Arc::new)?;
        let _: Outcome = self.store().commit(batch).await?;
        Ok(rows.len())
    }
}
