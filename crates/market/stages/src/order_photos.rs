//! The display order of an offer's photos.

use std::sync::Arc;

use async_trait::async_trait;
use offers::StoredOffer;
use photos::{PhotoOrder, Photos};
use watcher::{Answer, Fields, Interest, Schedule, Stage, StageError, Subject, Time};
use wire::torg::offers::v1::{Photo, Status};

use crate::patch::patch;

/// Sets `photo_order` once every photo of an offer is taken or failed for good; failed ones are
/// left out.
pub struct OrderPhotos {
    photos: Photos,
    order: Arc<dyn PhotoOrder>,
}

impl OrderPhotos {
    #[must_use]
    pub fn new(photos: Photos, order: Arc<dyn PhotoOrder>) -> Self {
        Self { photos, order }
    }

    /// `None` while photos are missing.
    async fn wanted(&self, shown: &[Photo]) -> Result<Option<Vec<u32>>, StageError> {
        let (mut places, mut known) = (Vec::new(), Vec::new());
        for (place, photo) in shown.iter().enumerate().filter(|(_, photo)| !photo.hash.is_empty()) {
            let found = self.photos.photo(&photo.hash).await;
            let Some(found) = found.map_err(|error| StageError::Passing(error.to_string()))? else {
                return Ok(None);
            };
            places.push(place as u32);
            known.push(found);
        }
        let order = self.order.order(&known);
        Ok(Some(order.into_iter().filter_map(|at| places.get(at).copied()).collect()))
    }
}

#[async_trait]
impl Stage<StoredOffer> for OrderPhotos {
    fn id(&self) -> &'static str {
        "photo_order"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["photos"])).reading(&Fields::of(["photo_order"]))
    }

    /// Unsettled photos will change again.
    fn visit_after_change(&self, offer: &StoredOffer, _now: Time) -> Schedule {
        let is_gone = matches!(offer.status(), Status::STATUS_REMOVED | Status::STATUS_ARCHIVED);
        if is_gone || !are_settled(&offer.offer.photos) { Schedule::No } else { Schedule::Now }
    }

    async fn should_process(&self, subject: &Subject<StoredOffer>) -> Result<Schedule, StageError> {
        Ok(self.visit_after_change(&subject.entity, subject.now))
    }

    async fn process(&self, subject: &Subject<StoredOffer>) -> Result<Answer<StoredOffer>, StageError> {
        let offer = &subject.entity;
        if self.visit_after_change(offer, subject.now) == Schedule::No {
            return Ok(Answer::untouched());
        }
        match self.wanted(&offer.offer.photos).await? {
            Some(order) if order != offer.offer.photo_order => {
                let mut ordered = offer.clone();
                ordered.offer.photo_order = order;
                Ok(patch(["photo_order"], ordered, subject.now))
            }
            _ => Ok(Answer::untouched()),
        }
    }
}

/// Whether every photo is taken or failed for good.
fn are_settled(photos: &[Photo]) -> bool {
    let is_settled = |photo: &Photo| {
        !photo.hash.is_empty() || photo.problem.as_option().is_some_and(|problem| !problem.passing)
    };
    photos.iter().all(is_settled)
}
