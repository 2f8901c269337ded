//! The consumer of loads: reads one partition of their topic and applies the messages in order.

use std::sync::Arc;
use std::time::Duration;

use buffa::Message as _;
use store::{Batch, Outcome};
use tokio::sync::watch;
use topics::{Delivered, Message, Position, ReadLimit};
use wire::torg::feeds::v1::__buffa::oneof::load_message::Content;
use wire::torg::feeds::v1::LoadMessage;

use crate::error::{Error, Result};
use crate::feeds::Feeds;
use crate::limits::{ATTEMPTS_MAX, LOAD_PAGE};
use crate::name::FeedName;

/// The consumer group.
pub const GROUP: &str = "offers.autoload";
/// How long a read of the topic waits for the next message.
const WAIT: Duration = Duration::from_secs(1);
/// The pause after an error.
const REST: Duration = Duration::from_secs(2);

impl Feeds {
    /// Applies the loads of one partition and sends their results, until `stop` says so.
    pub async fn follow_loads(&self, partition: u32, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            let applied = tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => return,
                applied = self.apply_page(partition) => applied,
            };
            if let Err(error) = applied {
                tracing::warn!(partition, %error, "cannot apply loads of feeds, will retry");
                tokio::select! {
                    biased;
                    _ = stop.wait_for(|stop| *stop) => return,
                    () = tokio::time::sleep(REST) => {}
                }
            }
        }
    }

    /// Sends results that are left, then applies the next messages, each in a commit of its own. Waits a little if there are none.
    async fn apply_page(&self, partition: u32) -> Result<()> {
        while self.send_results(partition).await? > 0 {}
        let topics = &self.parts.topics;
        let topic = &self.parts.config.offers_topic;
        let mut position = topics.position(GROUP, topic, partition).await.map_err(Arc::new)?;
        let read = ReadLimit::messages(LOAD_PAGE).waiting(WAIT);
        let page = match topics.read(topic, partition, position.offset(), read).await {
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
                return Ok(());
            }
            page => page.map_err(Arc::new)?,
        };
        for Delivered { offset, message } in &page.messages {
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
        let topics = &self.parts.topics;
        let load = match LoadMessage::decode_from_slice(&message.payload) {
            Ok(load) => load,
            Err(error) => {
                tracing::error!(partition, offset, %error, "cannot read the message of a load");
                let dead = Message::new(message.key.clone(), message.payload.clone(), message.time)
                    .header("error", error.to_string());
                let topic = &self.parts.config.dead_letter_topic;
                topics.append(topic, vec![dead]).await.map_err(Arc::new)?;
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
            let topic = &self.parts.config.offers_topic;
            let now = topics.position(GROUP, topic, partition).await.map_err(Arc::new)?;
            if now.offset() != position.offset() {
                return Ok(None);
            }
        }
        Err(Error::Contended)
    }
}
