//! The consumer of loads: reads one partition of their topic and applies the messages in order.

use std::sync::Arc;

use buffa::Message as _;
use store::Batch;
use tokio::sync::watch;
use topics::{Delivered, Message, Position};
use wire::torg::feeds::v1::__buffa::oneof::load_message::Content;
use wire::torg::feeds::v1::LoadMessage;

use crate::background::repeat;
use crate::error::{Error, Result};
use crate::feeds::Feeds;
use crate::limits::{ATTEMPTS_MAX, LOAD_PAGE};
use crate::name::FeedName;

pub const GROUP: &str = "offers.autoload";

impl Feeds {
    /// Applies the loads of one partition and sends their results, until `stop` says so.
    pub async fn follow_loads(&self, partition: u32, stop: watch::Receiver<bool>) {
        repeat("apply loads", Some(partition), stop, || self.apply_messages(partition)).await;
    }

    /// Sends results that are left, then applies the next messages, each in a commit of its own.
    async fn apply_messages(&self, partition: u32) -> Result<()> {
        while self.send_results(partition).await? > 0 {}
        let topic = &self.deps.config.offers_topic;
        let (mut position, messages) = self.next_messages(GROUP, topic, partition, LOAD_PAGE).await?;
        for Delivered { offset, message } in &messages {
            // None: another consumer reads this partition.
            let Some(next) = self.apply_message(partition, &position, *offset, message).await? else { break };
            position = next;
        }
        Ok(())
    }

    /// Applies one message. The position after it, or `None` if another consumer has moved it.
    async fn apply_message(
        &self,
        partition: u32,
        position: &Position,
        offset: i64,
        message: &Message,
    ) -> Result<Option<Position>> {
        let load = match LoadMessage::decode_from_slice(&message.payload) {
            Ok(load) => load,
            Err(error) => {
                tracing::error!(partition, offset, %error, "cannot read the message of a load");
                let dead = Message::new(message.key.clone(), message.payload.clone(), message.time)
                    .header("error", error.to_string());
                let topic = &self.deps.config.dead_letter_topic;
                self.deps.topics.append(topic, vec![dead]).await.map_err(Arc::new)?;
                LoadMessage::default()
            }
        };
        let feed = FeedName { seller: load.seller, namespace: load.namespace };
        let mut conflicts = 0;
        while conflicts < ATTEMPTS_MAX {
            let mut batch = Batch::new();
            let filled = match &load.content {
                Some(Content::Batch(loaded)) => {
                    self.apply_batch(&mut batch, &feed, load.load, loaded, (partition, offset)).await
                }
                Some(Content::End(end)) => self
                    .apply_end(&mut batch, &feed, load.load, end, (partition, offset))
                    .await
                    .map(|()| true),
                None => Ok(true),
            };
            let is_whole = match filled {
                // The same offers are being changed by others: read them again.
                Err(Error::Contended) => {
                    conflicts += 1;
                    continue;
                }
                filled => filled?,
            };
            let next = is_whole.then(|| position.commit_into(&mut batch, offset + 1));
            if self.store().commit(batch).await?.is_applied() {
                if next.is_some() {
                    return Ok(next);
                }
                continue;
            }
            conflicts += 1;
            if self.is_overtaken(GROUP, &self.deps.config.offers_topic, partition, position).await? {
                return Ok(None);
            }
        }
        Err(Error::Contended)
    }
}
