//! Reads loads from their topic, one partition at a time, and applies them in order.

use std::sync::Arc;
use std::time::Duration;

use buffa::Message as _;
use store::{Batch, Outcome};
use tokio::sync::watch;
use topics::{Delivered, Message, Position, ReadLimit};
use wire::torg::feeds::v1::__buffa::oneof::load_message::Content;
use wire::torg::feeds::v1::__buffa::oneof::result_message::Content as Answer;
use wire::torg::feeds::v1::LoadMessage;

use super::LoadTopics;
use super::answers::Place;
use super::progress::FeedName;
use crate::error::{Error, Result};
use crate::limits::{LOAD_ATTEMPTS_MAX, LOAD_PAGE};
use crate::offers::Offers;

/// The group under which the consumer's places are kept.
pub const GROUP: &str = "offers.autoload";
/// How long a read of the topic waits for the next message.
const WAIT: Duration = Duration::from_secs(1);
/// How long a consumer rests whose place another one moved, or that failed.
const REST: Duration = Duration::from_secs(2);

impl Offers {
    /// Applies the loads of one partition, and sends answers, until `stop` says so.
    pub async fn follow_loads(&self, topics: &LoadTopics, partition: u32, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            let turn = async {
                while self.send_answers(topics, partition).await? > 0 {}
                let position =
                    self.topics().position(GROUP, &topics.offers, partition).await.map_err(Arc::new)?;
                self.apply_loads(topics, partition, position).await
            };
            let applied = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => return,
                applied = turn => applied,
            };
            if let Err(error) = applied {
                tracing::warn!(partition, %error, "loads of feeds wait");
                tokio::select! {
                    biased;
                    _ = stop.wait_for(|stop| *stop) => return,
                    () = tokio::time::sleep(REST) => {}
                }
            }
        }
    }

    /// Applies the messages that stand behind this position, each in a commit of its own; waits a little if there are none. Says how many.
    pub async fn apply_loads(
        &self,
        topics: &LoadTopics,
        partition: u32,
        mut position: Position,
    ) -> Result<usize> {
        let read = ReadLimit::messages(LOAD_PAGE).waiting(WAIT);
        let page = match self.topics().read(&topics.offers, partition, position.offset(), read).await {
            Err(topics::Error::OffsetOutOfRange { first, offset, .. }) if offset < first => {
                tracing::error!(
                    partition,
                    from = offset,
                    to = first,
                    "loads were trimmed before they were applied"
                );
                let mut batch = Batch::new();
                let _ = position.commit_into(&mut batch, first);
                let _: Outcome = self.store().commit(batch).await?;
                return Ok(0);
            }
            page => page.map_err(Arc::new)?,
        };
        let mut applied = 0;
        for Delivered { offset, message } in &page.messages {
            let Some(next) = self.apply_one(topics, partition, &position, *offset, message).await? else {
                // Another consumer is at work here.
                break;
            };
            (position, applied) = (next, applied + 1);
        }
        Ok(applied)
    }

    /// Applies one message; the position behind it, or `None` if another consumer has moved it.
    async fn apply_one(
        &self,
        topics: &LoadTopics,
        partition: u32,
        position: &Position,
        offset: i64,
        message: &Message,
    ) -> Result<Option<Position>> {
        let load = match LoadMessage::decode_from_slice(&message.payload) {
            Ok(load) => load,
            Err(error) => {
                tracing::error!(partition, offset, %error, "a message of a load cannot be read");
                let dead = Message::new(message.key.clone(), message.payload.clone(), message.time)
                    .header("error", error.to_string());
                self.topics().append(&topics.dead_letters, vec![dead]).await.map_err(Arc::new)?;
                LoadMessage::default()
            }
        };
        let feed = FeedName { seller: load.seller, namespace: load.namespace };
        let place = Place { partition, offset, part: 0 };
        for _ in 0..LOAD_ATTEMPTS_MAX {
            let mut batch = Batch::new();
            match self.fill(&mut batch, &feed, load.load, load.content.as_ref(), place).await {
                // Others change the same offers: what they made of them is looked at again.
                Err(Error::Contended(_)) => continue,
                filled => filled?,
            }
            let next = position.commit_into(&mut batch, offset + 1);
            if self.store().commit(batch).await?.is_applied() {
                return Ok(Some(next));
            }
            let now = self.topics().position(GROUP, &topics.offers, partition).await.map_err(Arc::new)?;
            if now.offset() != position.offset() {
                return Ok(None);
            }
        }
        Err(Error::LoadContended { seller: feed.seller, namespace: feed.namespace })
    }

    async fn fill(
        &self,
        batch: &mut Batch,
        feed: &FeedName,
        load: u64,
        content: Option<&Content>,
        place: Place,
    ) -> Result<()> {
        match content {
            Some(Content::Batch(loaded)) => {
                for result in self.apply_batch(batch, feed, load, loaded).await? {
                    let place = Place { part: result.part, ..place };
                    Self::answer(batch, feed, load, place, Answer::Batch(Box::new(result)));
                }
            }
            Some(Content::End(end)) => {
                if let Some(result) = self.apply_end(batch, feed, load, end, place).await? {
                    Self::answer(batch, feed, load, place, Answer::End(Box::new(result)));
                }
            }
            None => {}
        }
        Ok(())
    }
}
