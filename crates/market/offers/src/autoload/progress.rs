//! How far the loads of a feed are.

use buffa::Message as _;
use store::{Batch, Key, Read as _};
use wire::torg::feeds::v1::{LoadProgress, load_progress::State};

use crate::error::{Result, damaged};
use crate::offers::Offers;
use crate::tables::{FEED_PROGRESS, FEED_SWEEPS};

/// A feed of a seller.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeedName {
    /// Whose.
    pub seller: String,
    /// Which of theirs.
    pub namespace: String,
}

impl FeedName {
    /// The key of all messages of this feed: they stay in order.
    #[must_use]
    pub fn topic_key(&self) -> String {
        format!("{}/{}", self.seller, self.namespace)
    }
}

/// The row of a feed as it was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) version: u64,
    pub(crate) at: LoadProgress,
}

impl Progress {
    pub(crate) fn state(&self) -> State {
        self.at.state.as_known().unwrap_or_default()
    }

    /// Adds to a batch that it is this now, on condition that nobody else has moved it.
    pub(crate) fn put(&self, batch: &mut Batch, key: Key, after: &LoadProgress) {
        batch.check(key.clone(), self.version).put(key, self.version + 1, after.encode_to_vec());
    }
}

impl Offers {
    /// How far the ad store is with the loads of a feed; `None` if none ever came.
    pub async fn load_progress(&self, feed: &FeedName) -> Result<Option<LoadProgress>> {
        let progress = self.progress(feed).await?;
        Ok((progress.version > 0).then_some(progress.at))
    }

    pub(crate) async fn progress(&self, feed: &FeedName) -> Result<Progress> {
        let Some(row) = self.store().get_one(&self.progress_key(feed)).await? else {
            return Ok(Progress::default());
        };
        let at = LoadProgress::decode_from_slice(&row.value).map_err(|error| damaged(&row, error))?;
        Ok(Progress { version: row.version, at })
    }

    pub(crate) fn progress_key(&self, feed: &FeedName) -> Key {
        FEED_PROGRESS.key((self.shard_of_seller(&feed.seller), &*feed.seller, &*feed.namespace))
    }

    pub(crate) fn sweep_key(&self, feed: &FeedName) -> Key {
        FEED_SWEEPS.key((self.shard_of_seller(&feed.seller), &*feed.seller, &*feed.namespace))
    }
}
