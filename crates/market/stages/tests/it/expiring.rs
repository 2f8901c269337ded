//! Offers that are about to expire, and that do.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use offers::time;
use stages::{EventKind, Events, Expiry, OfferEvent, TopicEvents};
use watcher::{Lane, Time, Waits};
use wire::torg::offers::v1::Status;

use crate::ground::{DAY, EVENTS, Ground, eventually};
use crate::market::Market;
use crate::shop::{bike, catalogue};

/// How long an offer is shown.
const EXPOSURE: Duration = DAY.saturating_mul(180);
/// How long before the end its seller is warned.
const WARNING: Duration = DAY.saturating_mul(5);

/// Events that cannot be told some times.
struct Weak {
    events: TopicEvents,
    failures: AtomicUsize,
}

#[async_trait]
impl Events for Weak {
    async fn tell(&self, event: &OfferEvent) -> Result<(), Box<dyn Error + Send + Sync>> {
        let left = self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if left.is_ok() {
            return Err("the topic cannot be reached".into());
        }
        self.events.tell(event).await
    }
}

fn events_of(ground: &Ground) -> TopicEvents {
    TopicEvents::new(ground.topics.clone(), EVENTS)
}

async fn open(ground: &Ground) -> Market<'_> {
    let expiry = Expiry::default().publishing_to(Arc::new(events_of(ground)));
    Market::open(ground, catalogue(), vec![Arc::new(expiry)]).await
}

/// The events so far, in the order of versions.
async fn told(ground: &Ground) -> Vec<OfferEvent> {
    let mut events = Vec::new();
    for delivered in ground.messages(EVENTS).await {
        let event: OfferEvent = serde_json::from_slice(&delivered.message.payload).unwrap();
        assert_eq!(delivered.message.key, event.offer.as_bytes(), "the key is the offer's id");
        events.push(event);
    }
    events.sort_by_key(|event| event.version);
    events
}

async fn eventually_told(ground: &Ground, count: usize) -> Vec<OfferEvent> {
    eventually("it is told", async || Some(told(ground).await).filter(|events| events.len() >= count)).await
}

pub(crate) async fn a_seller_is_warned_then_the_offer_expires_and_both_are_told(ground: Ground) {
    let market = open(&ground).await;
    let id = market.publish(&bike(100)).await;
    let published = ground.now();
    let standing = market.standing(id, "expiry").await;
    let (warning, end) = (published + EXPOSURE - WARNING, published + EXPOSURE);
    assert_eq!(standing.waits, Waits::Until(warning, Lane::Timer), "it is not visited before");

    ground.pass(EXPOSURE.checked_sub(WARNING).unwrap());
    let warned = market.eventually("it is warned", id, |offer| offer.expire_warning_time.is_set()).await;
    assert_eq!(warned.status, Status::Active);
    assert_eq!(Time::from_ms(time::to_ms(&warned.expire_warning_time)), warning);
    let events = eventually_told(&ground, 1).await;
    let expected = OfferEvent {
        kind: EventKind::ExpiresSoon,
        offer: id.to_string(),
        seller: "ann".to_owned(),
        version: warned.version,
        time: time::from_time(warning),
        expire_time: Some(time::from_time(end)),
    };
    assert_eq!(events, std::slice::from_ref(&expected));
    assert_eq!(market.standing(id, "expiry").await.waits, Waits::Until(end, Lane::Timer));

    ground.pass(WARNING);
    let expired = market.eventually("it expires", id, |offer| offer.status == Status::Expired).await;
    assert!(!expired.expire_warning_time.is_set());
    let events = eventually_told(&ground, 2).await;
    let (version, time) = (expired.version, time::from_time(end));
    let last = OfferEvent { kind: EventKind::Expired, version, time, expire_time: None, ..expected.clone() };
    assert_eq!(events, [expected, last]);
    market.close().await;
}

pub(crate) async fn an_offer_that_is_renewed_is_warned_again(ground: Ground) {
    let market = open(&ground).await;
    let id = market.publish(&bike(100)).await;
    ground.pass(EXPOSURE);
    market.eventually("it expires", id, |offer| offer.status == Status::Expired).await;
    market.move_to(id, Status::Active).await;
    let end = ground.now() + EXPOSURE;
    assert_eq!(market.standing(id, "expiry").await.waits, Waits::Until(end - WARNING, Lane::Timer));
    ground.pass(EXPOSURE.checked_sub(DAY).unwrap());
    market.eventually("it is warned", id, |offer| offer.expire_warning_time.is_set()).await;
    let kinds: Vec<EventKind> = eventually_told(&ground, 2).await.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::Expired, EventKind::ExpiresSoon]);
    market.move_to(id, Status::Sold).await;
    ground.pass(DAY);
    let sold = market.settled(id).await;
    assert_eq!((sold.status.as_known(), told(&ground).await.len()), (Some(Status::Sold), 2));
    market.close().await;
}

pub(crate) async fn an_event_that_could_not_be_told_is_told_again(ground: Ground) {
    let weak = Arc::new(Weak { events: events_of(&ground), failures: AtomicUsize::new(2) });
    let expiry = Expiry::new(DAY).publishing_to(weak.clone());
    let market = Market::open(&ground, catalogue(), vec![Arc::new(expiry)]).await;
    let id = market.publish(&bike(100)).await;
    ground.pass(EXPOSURE);
    let expired = market.eventually("it expires", id, |offer| offer.status == Status::Expired).await;
    let events = eventually_told(&ground, 1).await;
    assert_eq!((events[0].kind, events[0].version), (EventKind::Expired, expired.version));
    assert_eq!(weak.failures.load(Ordering::SeqCst), 0);
    market.close().await;
}
