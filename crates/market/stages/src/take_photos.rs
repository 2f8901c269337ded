//! Downloads the linked photos of offers.

use std::collections::BTreeMap;

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt, stream};
use offers::{StoredOffer, time};
use photos::{PhotoError, Photos, UrlError};
use watcher::{Answer, Fields, Interest, Schedule, Stage, StageError, Subject, Time};
use wire::torg::offers::v1::{Photo, Problem, Status};

use crate::limits::{PHOTOS_AT_ONCE, PHOTOS_BASE};
use crate::patch::patch;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhotosConfig {
    /// The prefix of file names in URLs.
    pub base: String,
    /// Concurrent photos of one offer.
    pub at_once: usize,
}

impl Default for PhotosConfig {
    fn default() -> Self {
        Self { base: PHOTOS_BASE.to_owned(), at_once: PHOTOS_AT_ONCE }
    }
}

/// Sets files by long side, width, height and hash of the photos of an offer, or their problem.
///
/// A URL is downloaded once for all offers. A temporary problem is retried when [`Photos`] says so;
/// a permanent one stays until the URL changes. If files or rows cannot be written, the visit fails
/// temporarily; finished photos are not downloaded again.
pub struct TakePhotos {
    photos: Photos,
    config: PhotosConfig,
}

impl TakePhotos {
    #[must_use]
    pub fn new(photos: Photos, config: PhotosConfig) -> Self {
        Self { photos, config }
    }

    /// The photo in the form of the offer, and the time of the next attempt.
    async fn take(&self, url: &str, now: Time) -> Result<(Photo, Option<Time>), StageError> {
        let source_url = url.to_owned();
        match self.photos.take(url, now.as_ms()).await {
            Ok(taken) => Ok((self.shown(source_url, taken), None)),
            Err(PhotoError::Refused(error)) => {
                let again = error.next_try_ms.map(Time::from_ms);
                Ok((Photo { source_url, problem: Some(problem(*error)).into(), ..Photo::default() }, again))
            }
            Err(error) if error.is_passing() => Err(StageError::Passing(error.to_string())),
            Err(error) => Err(StageError::Lasting(error.to_string())),
        }
    }

    fn shown(&self, source_url: String, taken: photos::Photo) -> Photo {
        let place = |path: &str| format!("{}{path}", self.config.base);
        let sizes: BTreeMap<String, String> =
            taken.sizes.iter().map(|size| (size.side.to_string(), place(&size.path))).collect();
        Photo {
            source_url,
            sizes: sizes.into_iter().collect(),
            width: taken.width,
            height: taken.height,
            hash: taken.hash,
            ..Photo::default()
        }
    }
}

#[async_trait]
impl Stage<StoredOffer> for TakePhotos {
    fn id(&self) -> &'static str {
        "photos"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["photos", "status"]))
    }

    fn visit_after_change(&self, offer: &StoredOffer, _now: Time) -> Schedule {
        if has_photos(offer) { Schedule::Now } else { Schedule::No }
    }

    async fn should_process(&self, subject: &Subject<StoredOffer>) -> Result<Schedule, StageError> {
        Ok(self.visit_after_change(&subject.entity, subject.now))
    }

    async fn process(&self, subject: &Subject<StoredOffer>) -> Result<Answer<StoredOffer>, StageError> {
        let (offer, now) = (&subject.entity, subject.now);
        if !has_photos(offer) {
            return Ok(Answer::untouched());
        }
        let urls: Vec<String> = offer.offer.photos.iter().map(|photo| photo.source_url.clone()).collect();
        let taking = stream::iter(urls).map(|url| async move { self.take(&url, now).await });
        let taken: Vec<(Photo, Option<Time>)> =
            taking.buffered(self.config.at_once.max(1)).try_collect().await?;
        let again = taken.iter().filter_map(|(_, again)| *again).min();
        let photos: Vec<Photo> = taken.into_iter().map(|(photo, _)| photo).collect();
        let answer = if photos == offer.offer.photos {
            Answer::untouched()
        } else {
            let mut taken = offer.clone();
            taken.offer.photos = photos;
            patch(["photos"], taken, now)
        };
        Ok(match again {
            Some(again) => answer.visit_at(again),
            None => answer,
        })
    }
}

/// Whether the photos of an offer may be shown.
fn has_photos(offer: &StoredOffer) -> bool {
    let is_gone = matches!(offer.status(), Status::STATUS_REMOVED | Status::STATUS_ARCHIVED);
    !is_gone && !offer.offer.photos.is_empty()
}

fn problem(error: UrlError) -> Problem {
    Problem {
        code: error.code,
        text: error.message,
        time: Some(time::from_time(Time::from_ms(error.first_ms))).into(),
        passing: error.next_try_ms.is_some(),
        ..Problem::default()
    }
}
