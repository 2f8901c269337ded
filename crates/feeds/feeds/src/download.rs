//! The stage that fetches links: stores the file and queues a load if the file changed.

use std::time::Duration;

use async_trait::async_trait;
use fetch::{BasicAuth, Client, Fetched, Limits, Request, Validators};
use offers::time;
use watcher::{Answer, Fields, Interest, Stage, StageError, Subject, Time};
use wire::torg::feeds::v1::fetch::Outcome;
use wire::torg::feeds::v1::load::Origin;
use wire::torg::feeds::v1::{Feed, Fetch, Fetched as Known, Link, QueuedLoad};

use crate::error::{Error, Result};
use crate::feed::StoredFeed;
use crate::feeds::{Feeds, enqueue, period_of};
use crate::files::Spooled;
use crate::limits::{DOWNLOAD_TIME_MAX, FILE_BYTES_MAX, RETRY_FIRST};

/// Fetches the links of feeds when they are due or on request.
pub struct Download {
    feeds: Feeds,
    client: Client,
}

enum FetchResult {
    NotModified,
    File(Spooled, Validators),
    Failed(fetch::Error),
}

impl Download {
    #[must_use]
    pub fn new(feeds: Feeds, client: Client) -> Self {
        Self { feeds, client }
    }

    async fn fetch(&self, link: &Link, known: &Known) -> Result<FetchResult> {
        let limits = Limits {
            bytes_max: FILE_BYTES_MAX,
            unpacked_bytes_max: FILE_BYTES_MAX,
            total_time_max: DOWNLOAD_TIME_MAX,
            ..Limits::default()
        };
        let mut request = Request::get(&*link.url).limits(limits);
        if known.url == link.url {
            let set = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
            let (etag, last_modified) = (set(&known.etag), set(&known.last_modified));
            request = request.unless(Validators { etag, last_modified });
        }
        if !link.user.is_empty() {
            request = request.auth(BasicAuth { user: link.user.clone(), password: link.password.clone() });
        }
        let mut download = match self.client.send(&request).await {
            Ok(Fetched::Found(download)) => download,
            Ok(Fetched::NotModified) => return Ok(FetchResult::NotModified),
            Err(error) => return Ok(FetchResult::Failed(error)),
        };
        let mut spool = self.feeds.files().spool()?;
        loop {
            match download.body.chunk().await {
                Ok(Some(piece)) => spool.write(&piece)?,
                Ok(None) => break,
                Err(error) => return Ok(FetchResult::Failed(error)),
            }
        }
        let validators = std::mem::take(&mut download.validators);
        Ok(FetchResult::File(spool.finish()?, validators))
    }

    /// The feed after a fetch, and the time of the next one.
    async fn settle(&self, feed: &StoredFeed, fetched: FetchResult, now: Time) -> Result<(StoredFeed, Time)> {
        let (mut after, period) = (feed.clone(), period_of(&feed.0));
        let url = feed.0.link.as_option().map(|link| link.url.clone()).unwrap_or_default();
        let attempts = feed.0.last_fetch.as_option().map_or(0, |last| last.attempts);
        let mut fetch = Fetch { time: Some(time::from_time(now)).into(), ..Fetch::default() };
        let mut next = now + period;
        match fetched {
            FetchResult::NotModified => fetch.outcome = Outcome::OUTCOME_UNCHANGED.into(),
            FetchResult::File(spooled, validators) => {
                fetch.bytes = spooled.bytes;
                let known = feed.internal().fetched.into_option().unwrap_or_default();
                let is_same = known.hash == spooled.hash && known.url == url;
                let outcome = if is_same { Outcome::OUTCOME_UNCHANGED } else { Outcome::OUTCOME_NEW };
                fetch.outcome = outcome.into();
                after.internal_mut().fetched = Some(Known {
                    etag: validators.etag.unwrap_or_default(),
                    last_modified: validators.last_modified.unwrap_or_default(),
                    hash: spooled.hash.clone(),
                    url,
                    ..Known::default()
                })
                .into();
                if !is_same {
                    let (hash, bytes) = (spooled.hash.clone(), spooled.bytes);
                    let file = self.feeds.files().store(&feed.name(), spooled).await?;
                    let (origin, create_time) =
                        (origin_of(&feed.0).into(), Some(time::from_time(now)).into());
                    let queued =
                        QueuedLoad { file, hash, bytes, origin, create_time, ..QueuedLoad::default() };
                    enqueue(&mut after, queued);
                }
            }
            FetchResult::Failed(error) => {
                fetch.attempts = attempts + 1;
                (fetch.code, fetch.text) = (error.code().to_owned(), error.to_string());
                if error.is_passing() {
                    fetch.outcome = Outcome::OUTCOME_FAILED_FOR_NOW.into();
                    next = now + pause_after(fetch.attempts).min(period);
                } else {
                    fetch.outcome = Outcome::OUTCOME_FAILED.into();
                }
            }
        }
        after.0.last_fetch = Some(fetch).into();
        after.0.next_fetch_time = Some(time::from_time(next)).into();
        after.internal_mut().fetch_asked_time = None.into();
        Ok((after, next))
    }
}

fn origin_of(feed: &Feed) -> Origin {
    if feed.parsed.is_set() { Origin::ORIGIN_PARSED } else { Origin::ORIGIN_LINK }
}

fn pause_after(attempts: u32) -> Duration {
    RETRY_FIRST.saturating_mul(1 << attempts.saturating_sub(1).min(16))
}

#[async_trait]
impl Stage<StoredFeed> for Download {
    fn id(&self) -> &'static str {
        "download"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["link", "paused", "fetch_asked_time", "deleting"]))
            .reading(&Fields::of(["last_load", "queue", "read_load"]))
    }

    async fn process(&self, subject: &Subject<StoredFeed>) -> Result<Answer<StoredFeed>, StageError> {
        let (feed, now) = (&subject.entity, subject.now);
        let keeping = feed.internal();
        let Some(link) = feed.0.link.as_option() else { return Ok(Answer::untouched()) };
        if feed.0.paused || keeping.deleting.is_set() {
            return Ok(Answer::untouched());
        }
        let next = feed.0.next_fetch_time.as_option().map(|next| Time::from_ms(time::to_ms(next)));
        if let Some(next) = next.filter(|next| *next > now && !keeping.fetch_asked_time.is_set()) {
            return Ok(Answer::untouched().visit_at(next));
        }
        let fetched = self.fetch(link, &keeping.fetched.into_option().unwrap_or_default()).await;
        let settled = match fetched {
            // The file is too large, which does not pass.
            Err(Error::Invalid { text, .. }) => return Err(StageError::Lasting(text)),
            Err(error) => Err(error),
            Ok(fetched) => self.settle(feed, fetched, now).await,
        };
        let (after, next) = settled.map_err(|error| StageError::Passing(error.to_string()))?;
        let fields = Fields::of([
            "fetched",
            "last_fetch",
            "next_fetch_time",
            "fetch_asked_time",
            "last_load",
            "queue",
        ]);
        Ok(Answer::patch(fields, after).visit_at(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_with_every_failed_attempt() {
        assert_eq!([1, 2, 3].map(pause_after), [1, 2, 4].map(|n| RETRY_FIRST * n));
    }
}
