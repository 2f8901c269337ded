//! Expiry: offers expire at the end of their exposure; sellers are warned some days before.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use offers::status::Mover;
use offers::{Move, StoredOffer, time};
use watcher::{Answer, Fields, Interest, Saved, Schedule, Stage, StageError, Subject, Time};
use wire::torg::offers::v1::{Author, Status, author};

use crate::events::{EventKind, Events, OfferEvent};
use crate::limits::WARN_BEFORE;
use crate::patch::patch;

/// Fields set by a change of status.
const MOVED: [&str; 5] = ["status", "status_reason", "status_time", "expire_time", "expire_warning_time"];
/// Fields set by a warning.
const WARNED: [&str; 1] = ["expire_warning_time"];

/// Expires offers at their `expire_time`, and sets `expire_warning_time` once in each exposure
/// before.
///
/// An offer with less time left is warned at once. Events are published at least once, after the
/// change is saved.
#[derive(Clone)]
pub struct Expiry {
    warn_before: Duration,
    events: Option<Arc<dyn Events>>,
}

impl Default for Expiry {
    fn default() -> Self {
        Self::new(WARN_BEFORE)
    }
}

impl Expiry {
    /// Warns sellers this long before the expiry; zero: never. Events need
    /// [`publishing_to`](Self::publishing_to).
    #[must_use]
    pub fn new(warn_before: Duration) -> Self {
        Self { warn_before, events: None }
    }

    /// Publishes warnings and expiries to `events`.
    #[must_use]
    pub fn publishing_to(mut self, events: Arc<dyn Events>) -> Self {
        self.events = Some(events);
        self
    }

    /// The time of the warning; `None` if it was given or is disabled.
    fn warning(&self, offer: &StoredOffer, end: Time) -> Option<Time> {
        let is_due = !self.warn_before.is_zero() && !offer.offer.expire_warning_time.is_set();
        is_due.then(|| end - self.warn_before)
    }
}

#[async_trait]
impl Stage<StoredOffer> for Expiry {
    fn id(&self) -> &'static str {
        "expiry"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["status", "expire_time"])).reading(&Fields::of(WARNED))
    }

    /// There is work only at the warning and at the expiry.
    fn visit_after_change(&self, offer: &StoredOffer, _now: Time) -> Schedule {
        let Some(end) = end_of_exposure(offer) else { return Schedule::No };
        Schedule::At(self.warning(offer, end).unwrap_or(end))
    }

    async fn should_process(&self, subject: &Subject<StoredOffer>) -> Result<Schedule, StageError> {
        Ok(self.visit_after_change(&subject.entity, subject.now))
    }

    async fn process(&self, subject: &Subject<StoredOffer>) -> Result<Answer<StoredOffer>, StageError> {
        let (offer, now) = (&subject.entity, subject.now);
        let Some(end) = end_of_exposure(offer) else { return Ok(Answer::untouched()) };
        if now >= end {
            return expire(offer, now);
        }
        Ok(match self.warning(offer, end) {
            Some(warning) if now >= warning => {
                let mut warned = offer.clone();
                warned.offer.expire_warning_time = Some(time::from_time(now)).into();
                patch(WARNED, warned, now).visit_at(end)
            }
            warning => Answer::untouched().visit_at(warning.unwrap_or(end)),
        })
    }

    fn wants_saved(&self) -> bool {
        self.events.is_some()
    }

    async fn on_saved(&self, saved: &Saved<StoredOffer>) -> Result<(), StageError> {
        let (Some(events), Some(event)) = (&self.events, event(saved)) else { return Ok(()) };
        events.tell(&event).await.map_err(|error| StageError::Passing(error.to_string()))
    }
}

fn expire(offer: &StoredOffer, now: Time) -> Result<Answer<StoredOffer>, StageError> {
    let mut offer = offer.clone();
    let name = "expiry".to_owned();
    let author = Author { kind: author::Kind::KIND_STAGE.into(), name, ..Author::default() };
    let expired = Move::to(Status::Expired).because("exposure_over", "it was shown long enough: renew it");
    // This stage activates nothing, so no exposure begins.
    let moved = expired.apply(&mut offer, &author, Mover::Stage, now, Duration::ZERO);
    moved.map_err(|error| StageError::Lasting(error.to_string()))?;
    Ok(patch(MOVED, offer, now))
}

/// The expiry of an active offer.
fn end_of_exposure(offer: &StoredOffer) -> Option<Time> {
    let is_active = offer.status() == Status::Active;
    let end = offer.offer.expire_time.as_option().filter(|_| is_active)?;
    Some(Time::from_ms(time::to_ms(end)))
}

/// The event of a change by this stage.
fn event(saved: &Saved<StoredOffer>) -> Option<OfferEvent> {
    let offer = &saved.entity.offer;
    let (kind, time) = match saved.entity.status() {
        Status::STATUS_EXPIRED => (EventKind::Expired, offer.status_time.as_option()?),
        Status::STATUS_ACTIVE => (EventKind::ExpiresSoon, offer.expire_warning_time.as_option()?),
        _ => return None,
    };
    Some(OfferEvent {
        kind,
        offer: offer.id.clone(),
        seller: offer.seller.clone(),
        version: saved.version,
        time: time.clone(),
        expire_time: offer.expire_time.as_option().cloned(),
    })
}

#[cfg(test)]
mod tests {
    use watcher::Change;
    use wire::torg::offers::v1::Offer;

    use super::*;

    const WARN_BEFORE: Duration = Duration::from_millis(300);

    fn subject(status: Status, expire_ms: Option<i64>, now_ms: i64) -> Subject<StoredOffer> {
        let id = "4829175033168090";
        let expire_time = expire_ms.map(|ms| time::from_time(Time::from_ms(ms))).into();
        let offer = Offer { id: id.to_owned(), status: status.into(), expire_time, ..Offer::default() };
        let entity = StoredOffer::new(id.parse().unwrap(), offer);
        Subject { entity, version: 1, state: Vec::new().into(), now: Time::from_ms(now_ms) }
    }

    async fn visit(status: Status, expire_ms: Option<i64>, now_ms: i64) -> Answer<StoredOffer> {
        Expiry::new(WARN_BEFORE).process(&subject(status, expire_ms, now_ms)).await.unwrap()
    }

    #[tokio::test]
    async fn an_offer_expires_at_its_time_and_not_before() {
        let silent = Expiry::new(Duration::ZERO);
        let early = silent.process(&subject(Status::Active, Some(1000), 999)).await.unwrap();
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
    async fn its_seller_is_warned_once_before() {
        let early = visit(Status::Active, Some(1000), 699).await;
        assert!(matches!(early.change, Change::Untouched));
        assert_eq!(early.next, Some(Time::from_ms(700)));
        let due = visit(Status::Active, Some(1000), 700).await;
        let Change::Patch { values, .. } = &due.change else { panic!("{due:?}") };
        assert_eq!((values.status(), due.next), (Status::Active, Some(Time::from_ms(1000))));
        let mut warned = subject(Status::Active, Some(1000), 800);
        warned.entity.offer.expire_warning_time = values.offer.expire_warning_time.clone();
        let again = Expiry::new(WARN_BEFORE).process(&warned).await.unwrap();
        assert!(matches!(again.change, Change::Untouched));
        assert_eq!(again.next, Some(Time::from_ms(1000)));
        let wish = Expiry::new(WARN_BEFORE).visit_after_change(&warned.entity, warned.now);
        assert_eq!(wish, Schedule::At(Time::from_ms(1000)));
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
