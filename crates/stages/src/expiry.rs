//! Expiry: an offer that was shown long enough is shown no more, until its seller renews it.

use std::time::Duration;

use async_trait::async_trait;
use contract::torg::offers::v1::{Author, Status, author};
use offers::status::Mover;
use offers::{Move, StoredOffer, time};
use watcher::{Answer, Fields, Interest, Stage, StageError, Subject, Time, Wish};

/// What a move to another status sets.
const MOVED: [&str; 4] = ["status", "status_reason", "status_time", "expire_time"];

/// Expires offers at their `expire_time`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expiry;

#[async_trait]
impl Stage<StoredOffer> for Expiry {
    fn id(&self) -> &'static str {
        "expiry"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["status", "expire_time"]))
    }

    /// Only when its time is over is there anything to do.
    fn visit_after_change(&self, offer: &StoredOffer, _now: Time) -> Wish {
        end_of_exposure(offer).map_or(Wish::No, Wish::At)
    }

    async fn process(&self, subject: &Subject<StoredOffer>) -> Result<Answer<StoredOffer>, StageError> {
        let Some(end) = end_of_exposure(&subject.entity) else { return Ok(Answer::untouched()) };
        if subject.now < end {
            return Ok(Answer::untouched().visit_at(end));
        }
        let mut offer = subject.entity.clone();
        let name = "expiry".to_owned();
        let author = Author { kind: author::Kind::KIND_STAGE.into(), name, ..Author::default() };
        let expired =
            Move::to(Status::Expired).because("exposure_over", "it was shown long enough: renew it");
        // Nothing becomes active here, so no exposure begins.
        let moved = expired.apply(&mut offer.offer, &author, Mover::Stage, subject.now, Duration::ZERO);
        moved.map_err(|error| StageError::Lasting(error.to_string()))?;
        offer.offer.update_time = Some(time::from_time(subject.now)).into();
        Ok(Answer::patch(Fields::of(MOVED), offer))
    }
}

/// When an offer that is shown is to be shown no more.
fn end_of_exposure(offer: &StoredOffer) -> Option<Time> {
    let is_active = offer.status() == Status::Active;
    let end = offer.offer.expire_time.as_option().filter(|_| is_active)?;
    Some(Time::from_ms(time::to_ms(end)))
}

#[cfg(test)]
mod tests {
    use contract::torg::offers::v1::Offer;
    use watcher::Change;

    use super::*;

    async fn visit(status: Status, expire_ms: Option<i64>, now_ms: i64) -> Answer<StoredOffer> {
        let id = "4829175033168090";
        let expire_time = expire_ms.map(|ms| time::from_time(Time::from_ms(ms))).into();
        let offer = Offer { id: id.to_owned(), status: status.into(), expire_time, ..Offer::default() };
        let entity = StoredOffer { id: id.parse().unwrap(), offer };
        let subject = Subject { entity, version: 1, state: Vec::new().into(), now: Time::from_ms(now_ms) };
        Expiry.process(&subject).await.unwrap()
    }

    #[tokio::test]
    async fn an_offer_expires_at_its_time_and_not_before() {
        let early = visit(Status::Active, Some(1000), 999).await;
        assert!(matches!(early.change, Change::Untouched));
        assert_eq!(early.next, Some(Time::from_ms(1000)));
        let due = visit(Status::Active, Some(1000), 1000).await;
        let Change::Patch { values, .. } = due.change else { panic!("{due:?}") };
        assert_eq!(
            (values.status(), values.offer.expire_time.is_set(), due.next),
            (Status::Expired, false, None)
        );
    }

    #[tokio::test]
    async fn an_offer_that_is_not_shown_is_left_alone() {
        for status in [Status::Expired, Status::Banned, Status::Sold, Status::Removed, Status::Archived] {
            let answer = visit(status, Some(1000), 2000).await;
            assert!(matches!(answer.change, Change::Untouched) && answer.next.is_none(), "{status:?}");
        }
        assert_eq!(visit(Status::Active, None, 2000).await.next, None);
    }
}
