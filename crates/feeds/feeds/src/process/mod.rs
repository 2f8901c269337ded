//! The stages that read files: one for small and one for large files, so that large files do not
//! delay small ones.

pub(crate) mod convert;
mod problems;
mod reader;
pub(crate) mod recognitions;
mod sender;
mod unchanged;

use std::time::Duration;

use async_trait::async_trait;
use watcher::{Answer, Fields, Interest, Stage, StageError, StageLimits, Subject};
use wire::torg::feeds::v1::{Deleting, Guard};

use crate::apply::Begun;
use crate::error::{Error, Result};
use crate::feed::StoredFeed;
use crate::feeds::Feeds;
use crate::limits::{LARGE_FILE_BYTES, LARGE_FILES_AT_ONCE, PROCESS_TIME_MAX, SMALL_FILES_AT_ONCE};

/// The pause before the next attempt while an earlier load ends.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Reads the files of loads and sends their offers to the ad store.
pub struct Process {
    feeds: Feeds,
    is_large: bool,
}

impl Process {
    #[must_use]
    pub fn small(feeds: Feeds) -> Self {
        Self { feeds, is_large: false }
    }

    #[must_use]
    pub fn large(feeds: Feeds) -> Self {
        Self { feeds, is_large: true }
    }

    #[must_use]
    pub fn limits(&self) -> StageLimits {
        let calls_max = if self.is_large { LARGE_FILES_AT_ONCE } else { SMALL_FILES_AT_ONCE };
        StageLimits { calls_max, batch_max: 1, timeout: PROCESS_TIME_MAX, ..StageLimits::default() }
    }

    /// Begins a load. False if a later one has begun; contended if an earlier one is being ended.
    async fn begin(&self, feed: &StoredFeed, load: u64) -> Result<bool> {
        match self.feeds.begin_load(&feed.name(), load).await? {
            Begun::Yes => Ok(true),
            Begun::Overtaken => Ok(false),
            Begun::NotYet => Err(Error::Contended),
        }
    }

    async fn delete(&self, feed: &StoredFeed, deleting: &Deleting) -> Result<Option<u64>> {
        if feed.internal().read_load >= deleting.load {
            return Ok(None);
        }
        self.begin(feed, deleting.load).await?;
        let guard = Guard { confirmed: true, ..Guard::default() };
        self.feeds.send_end(&feed.name(), deleting.load, 0, true, deleting.offers, guard).await?;
        Ok(Some(deleting.load))
    }

    async fn work(&self, feed: &StoredFeed) -> Result<Option<u64>> {
        if let Some(deleting) = feed.internal().deleting.as_option() {
            return if self.is_large { Ok(None) } else { self.delete(feed, deleting).await };
        }
        let Some(next) = feed.next_load().filter(|next| (next.bytes > LARGE_FILE_BYTES) == self.is_large)
        else {
            return Ok(None);
        };
        if feed.0.paused {
            return Ok(None);
        }
        if self.begin(feed, next.number).await? {
            self.feeds.read_and_send(feed, next).await?;
        }
        Ok(Some(next.number))
    }
}

#[async_trait]
impl Stage<StoredFeed> for Process {
    fn id(&self) -> &'static str {
        if self.is_large { "process-large" } else { "process" }
    }

    /// A file that arrives meanwhile does not invalidate the answer.
    fn interest(&self) -> Interest {
        let fields = Fields::of(["queue", "paused", "deleting"]);
        Interest { fields, ask: false, inputs: Fields::none() }
    }

    async fn process(&self, subject: &Subject<StoredFeed>) -> Result<Answer<StoredFeed>, StageError> {
        let feed = &subject.entity;
        match self.work(feed).await {
            Ok(None) => Ok(Answer::untouched()),
            Ok(Some(number)) => {
                let mut after = feed.clone();
                after.internal_mut().read_load = number;
                // Another file may have arrived meanwhile.
                Ok(Answer::patch(Fields::of(["read_load"]), after).visit_at(subject.now + RETRY_AFTER))
            }
            Err(Error::Contended) => Ok(Answer::untouched().visit_at(subject.now + RETRY_AFTER)),
            Err(error) if error.is_passing() => Err(StageError::Passing(error.to_string())),
            Err(error) => Err(StageError::Lasting(error.to_string())),
        }
    }
}
