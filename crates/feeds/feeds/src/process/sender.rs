//! Sends loads to their topic. Each message is acknowledged before the next is sent, so the end of
//! a load comes after all of its batches.

use std::sync::Arc;
use std::time::Duration;

use buffa::{EnumValue, Message as _};
use feedfile::Code;
use topics::Message;
use wire::torg::feeds::v1::__buffa::oneof::load_message::Content;
use wire::torg::feeds::v1::load::State;
use wire::torg::feeds::v1::load_message::{Batch, End};
use wire::torg::feeds::v1::loaded_offer::Verdict;
use wire::torg::feeds::v1::{Guard, LoadMessage, LoadedOffer, Missing};

use super::problems;
use crate::background::until_written;
use crate::error::Result;
use crate::feeds::Feeds;
use crate::loads::internal_mut;
use crate::name::FeedName;
use crate::tables::FEED_PROGRESS;

/// How often progress is read without a hint that it was written.
const READ_EVERY: Duration = Duration::from_millis(500);
/// Bytes of a message that every topic accepts.
const MESSAGE_BYTES_MAX: usize = 900 * 1024;
/// Problems of an offer in a message that would be too large; errors come before warnings.
const PROBLEMS_KEPT: usize = 3;

impl Feeds {
    async fn send(&self, name: &FeedName, load: u64, content: Content) -> Result<()> {
        let message = LoadMessage {
            seller: name.seller.clone(),
            namespace: name.namespace.clone(),
            load,
            content: Some(content),
            ..LoadMessage::default()
        };
        let message = Message::new(name.topic_key(), message.encode_to_vec(), self.now().as_ms().max(1));
        self.deps.topics.append(&self.deps.config.offers_topic, vec![message]).await.map_err(Arc::new)?;
        Ok(())
    }

    /// Sends a batch once the window has room. False if a later load has begun.
    pub(super) async fn send_batch(
        &self,
        name: &FeedName,
        load: u64,
        number: u32,
        mut offers: Vec<LoadedOffer>,
        read_bytes: u64,
    ) -> Result<bool> {
        if !self.is_time_for(name, load, number, read_bytes).await? {
            return Ok(false);
        }
        shrink(&mut offers);
        self.send(name, load, Content::Batch(Box::new(Batch { number, offers, ..Batch::default() }))).await?;
        Ok(true)
    }

    pub(super) async fn send_end(
        &self,
        name: &FeedName,
        load: u64,
        batches: u32,
        complete: bool,
        missing: EnumValue<Missing>,
        guard: Guard,
    ) -> Result<()> {
        let end = End { batches, complete, missing, guard: Some(guard).into(), ..End::default() };
        self.send(name, load, Content::End(Box::new(end))).await
    }

    /// Waits until few enough batches of this load are in flight, so that a large feed does not
    /// fill the topic before small ones.
    async fn is_time_for(&self, name: &FeedName, load: u64, number: u32, read_bytes: u64) -> Result<bool> {
        let (table, shard) = (FEED_PROGRESS.def().name, self.offers_shard(name));
        let mut hints = None;
        loop {
            let progress = self.load_progress(name).await?.unwrap_or_default();
            if progress.load > load {
                return Ok(false);
            }
            let applied = if progress.load == load { progress.next_batch } else { 0 };
            if number < applied.saturating_add(self.deps.config.batches_ahead) {
                break;
            }
            match &mut hints {
                Some(hints) => until_written(hints, table, Some(shard), READ_EVERY).await,
                // Read once more, now that no write can be missed.
                None => hints = Some(self.store().hints()),
            }
        }
        if number.is_multiple_of(self.deps.config.batches_ahead.max(1)) {
            self.rewrite_load(name, load, |load| {
                if load.state.as_known() == Some(State::STATE_READING) {
                    internal_mut(load).read_bytes = read_bytes;
                    internal_mut(load).sent_batches = number;
                }
            })
            .await?;
        }
        Ok(true)
    }
}

/// Makes a batch fit into a message: keeps the first problems of each offer, then rejects offers,
/// the largest first.
fn shrink(offers: &mut [LoadedOffer]) {
    let bytes =
        |offers: &[LoadedOffer]| -> usize { offers.iter().map(|offer| offer.encoded_len() as usize).sum() };
    if bytes(offers) > MESSAGE_BYTES_MAX {
        for offer in offers.iter_mut() {
            offer.problems.truncate(PROBLEMS_KEPT);
        }
    }
    while bytes(offers) > MESSAGE_BYTES_MAX {
        let largest =
            offers.iter_mut().filter(|offer| offer.offer.is_set()).max_by_key(|offer| offer.encoded_len());
        let Some(largest) = largest else {
            for offer in offers {
                offer.problems.truncate(1);
            }
            return;
        };
        largest.offer = None.into();
        largest.verdict = Verdict::VERDICT_REJECTED.into();
        largest.problems =
            vec![problems::of_code(Code::OfferTooLarge, "", "the offer is too large to be stored")];
    }
}
