//! How far the loads of a feed are applied: one row by feed, changed by compare-and-set.

use buffa::Message as _;
use store::{Batch, Key, Read as _};
use wire::torg::feeds::v1::__buffa::oneof::result_message::Content;
use wire::torg::feeds::v1::result_message::EndResult;
use wire::torg::feeds::v1::{LoadProgress, load_progress::State};

use crate::error::{Error, Result, damaged};
use crate::feeds::Feeds;
use crate::limits::ATTEMPTS_MAX;
use crate::name::FeedName;
use crate::tables::{FEED_PROGRESS, FEED_SWEEPS};

/// Whether a load has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    Yes,
    /// A later load has begun.
    Overtaken,
    /// An earlier load is still removing offers.
    NotYet,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub(super) version: u64,
    pub(super) at: LoadProgress,
}

impl Progress {
    pub(super) fn state(&self) -> State {
        self.at.state.as_known().unwrap_or_default()
    }

    /// Adds the next state of the row to a batch, which is in conflict if the row changed
    /// meanwhile.
    pub(super) fn put(&self, batch: &mut Batch, key: Key, after: &LoadProgress) {
        batch.check(key.clone(), self.version).put(key, self.version + 1, after.encode_to_vec());
    }
}

impl Feeds {
    /// How far the loads of a feed are applied; `None` if there never was one.
    pub async fn load_progress(&self, feed: &FeedName) -> Result<Option<LoadProgress>> {
        let progress = self.progress(feed).await?;
        Ok((progress.version > 0).then_some(progress.at))
    }

    /// Begins a load before its first batch: from now on earlier loads of the feed change nothing.
    /// One that waits for a confirmation is superseded.
    pub async fn begin_load(&self, feed: &FeedName, load: u64) -> Result<Begun> {
        for _ in 0..ATTEMPTS_MAX {
            let progress = self.progress(feed).await?;
            let last = progress.at.load;
            let mut batch = Batch::new();
            match progress.state() {
                _ if last == load => return Ok(Begun::Yes),
                _ if last > load => return Ok(Begun::Overtaken),
                State::STATE_COUNTING | State::STATE_SWEEPING => return Ok(Begun::NotYet),
                State::STATE_WAITING => {
                    let superseded = EndResult { superseded: true, ..EndResult::default() };
                    Self::put_end_result(&mut batch, feed, &progress.at, 2, superseded);
                }
                _ => {}
            }
            let state = State::STATE_BATCHES.into();
            let begun = LoadProgress { load, state, ..LoadProgress::default() };
            progress.put(&mut batch, self.progress_key(feed), &begun);
            if self.store().commit(batch).await?.is_applied() {
                return Ok(Begun::Yes);
            }
        }
        Err(Error::Contended)
    }

    /// Lets a load remove what it does not have, if it waits for that. False if it does not wait.
    pub(crate) async fn confirm_removal(&self, feed: &FeedName, load: u64) -> Result<bool> {
        for _ in 0..ATTEMPTS_MAX {
            let progress = self.progress(feed).await?;
            if progress.at.load != load || progress.state() != State::STATE_WAITING {
                return Ok(false);
            }
            let state = State::STATE_SWEEPING.into();
            let after = LoadProgress { state, cursor: String::new(), ..progress.at.clone() };
            let mut batch = Batch::new();
            progress.put(&mut batch, self.progress_key(feed), &after);
            batch.set(self.sweep_key(feed), Vec::new());
            if self.store().commit(batch).await?.is_applied() {
                return Ok(true);
            }
        }
        Err(Error::Contended)
    }

    pub(super) async fn progress(&self, feed: &FeedName) -> Result<Progress> {
        let Some(row) = self.store().get_one(&self.progress_key(feed)).await? else {
            return Ok(Progress::default());
        };
        let at = LoadProgress::decode_from_slice(&row.value).map_err(|error| damaged(&row, error))?;
        Ok(Progress { version: row.version, at })
    }

    pub(super) fn progress_key(&self, feed: &FeedName) -> Key {
        FEED_PROGRESS.key((self.offers_shard(feed), &*feed.seller, &*feed.namespace))
    }

    pub(super) fn sweep_key(&self, feed: &FeedName) -> Key {
        FEED_SWEEPS.key((self.offers_shard(feed), &*feed.seller, &*feed.namespace))
    }

    /// Rows beside the offers of a seller are in the shard of those offers, which need not be that
    /// of the seller's feeds.
    pub(crate) fn offers_shard(&self, feed: &FeedName) -> u32 {
        self.offers().seller_shard(&feed.seller)
    }

    /// Adds the result of a load's end; `part` orders it among the results of the message that
    /// ended the load.
    pub(super) fn put_end_result(
        batch: &mut Batch,
        feed: &FeedName,
        at: &LoadProgress,
        part: u32,
        end: EndResult,
    ) {
        let content = Content::End(Box::new(end));
        Self::put_result(batch, feed, at.load, (at.partition, at.offset, part), content);
    }
}
