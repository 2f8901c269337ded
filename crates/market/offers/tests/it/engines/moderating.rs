//! Opinions that arrive in a topic.

use buffa::Message as _;
use offers::chores::{Chore, ChoreStep};
use offers::status::Mover;
use offers::{Error, NotMoved, OfferId, StoredOffer, time};
use rand::SeedableRng;
use store::{Batch, Read};
use topics::{Message, ReadLimit};
use watcher::{Entity, Time, shard_of};
use wire::torg::offers::v1::{Offer, Opinion, Status, opinion};

use crate::engines::market::{DAY, Market, TOPIC, bike, status};

fn opinion(id: OfferId, verdict: opinion::Verdict, second: i64) -> Opinion {
    let text = format!("at {second}");
    let reason = opinion::Reason { code: "fraud".to_owned(), text, ..opinion::Reason::default() };
    Opinion {
        offer: id.to_string(),
        verdict: verdict.into(),
        reasons: vec![reason],
        moderator: "mo".to_owned(),
        time: Some(time::from_time(Time::from_ms(second * 1000))).into(),
        ..Opinion::default()
    }
}

const BAN: opinion::Verdict = opinion::Verdict::VERDICT_BAN;
const ALLOW: opinion::Verdict = opinion::Verdict::VERDICT_ALLOW;

async fn give(market: &Market, opinion: &Opinion) {
    market.offers.give_opinion(&market.opinions.topic, opinion).await.unwrap();
}

/// Applies all that is in the topic.
async fn apply(market: &Market) {
    for partition in 0..4 {
        loop {
            let position =
                market.topics.position("offers.moderation", &market.opinions.topic, partition).await.unwrap();
            let end = market.topics.describe(&market.opinions.topic).await.unwrap().partitions
                [partition as usize]
                .end;
            if position.offset() >= end {
                break;
            }
            market.offers.apply_opinions(&market.opinions, partition, &position, 32).await.unwrap();
        }
    }
}

pub(crate) async fn opinions_ban_and_allow_and_the_newest_counts(market: Market) {
    let id = market.publish(&bike("bike", 100)).await;
    let now = async || status(&market.offers.get(id).await.unwrap());
    give(&market, &opinion(id, BAN, 10)).await;
    apply(&market).await;
    let offer = market.offers.get(id).await.unwrap();
    let reason = offer.status_reason.as_option().unwrap();
    assert_eq!((status(&offer), &*reason.code, &*reason.text), (Status::Banned, "fraud", "at 10"));
    // An older one that comes late changes nothing.
    give(&market, &opinion(id, ALLOW, 9)).await;
    apply(&market).await;
    assert_eq!(now().await, Status::Banned);
    // Of the same time: the one that stands later.
    give(&market, &opinion(id, ALLOW, 10)).await;
    apply(&market).await;
    assert_eq!(now().await, Status::Active);
    // Back to what it was: expired, not active. Several of one offer at once are applied in their
    // order.
    market.move_to(Mover::Stage, id, Status::Expired).await.unwrap();
    for (verdict, second) in [(BAN, 20), (ALLOW, 21), (BAN, 22), (BAN, 23), (ALLOW, 24)] {
        give(&market, &opinion(id, verdict, second)).await;
    }
    apply(&market).await;
    assert_eq!(now().await, Status::Expired);
    let moderation = market.offers.moderation(id).await.unwrap().unwrap();
    assert_eq!(moderation.opinion.as_option().unwrap().reasons[0].text, "at 24");
    let (history, _) = market.offers.history(id, None, 1).await.unwrap();
    assert_eq!(history[0].author.as_option().unwrap().name, "mo");
    // An opinion from the future is one of now: the next one counts.
    give(&market, &opinion(id, BAN, i64::from(u32::MAX))).await;
    market.pass(DAY);
    give(&market, &Opinion { time: None.into(), ..opinion(id, ALLOW, 0) }).await;
    apply(&market).await;
    assert_eq!(now().await, Status::Expired);
}

pub(crate) async fn what_cannot_be_applied_goes_to_the_dead_letters_and_the_rest_goes_on(market: Market) {
    let id = market.publish(&bike("bike", 100)).await;
    let json = |text: &str| Message::new("k", text.to_owned().into_bytes(), 5);
    let good = format!(r#"{{"offer": "{id}", "verdict": "VERDICT_BAN", "reasons": [{{"code": "spam"}}]}}"#);
    let messages = vec![
        json("{\"offer\": 17}"),
        json("not at all"),
        json(""),
        json(r#"{"offer": "1234", "verdict": "VERDICT_BAN"}"#),
        json(&format!(r#"{{"offer": "{id}", "verdict": "VERDICT_MAYBE"}}"#)),
        json(&format!(r#"{{"offer": "{id}"}}"#)),
        json(&good.replace(&id.to_string(), &other_id(id))),
        json(&format!(
            r#"{{"offer": "{id}", "verdict": "VERDICT_BAN", "reasons": [{{"text": "{}"}}]}}"#,
            "x".repeat(10_000)
        )),
        json(&good),
    ];
    let dead_count = messages.len() - 1;
    market.topics.append(&market.opinions.topic, messages).await.unwrap();
    apply(&market).await;
    assert_eq!(status(&market.offers.get(id).await.unwrap()), Status::Banned);
    let mut reasons = Vec::new();
    for partition in 0..4 {
        let page = market
            .topics
            .read(&market.opinions.dead_letters, partition, 0, ReadLimit::default())
            .await
            .unwrap();
        for delivered in page.messages {
            let header =
                |name| String::from_utf8(delivered.message.header_value(name).unwrap().to_vec()).unwrap();
            assert_eq!(header("torg-topic"), "opinions");
            reasons.push(header("torg-reason"));
        }
    }
    assert_eq!(reasons.len(), dead_count, "{reasons:#?}");
    assert!(reasons[0].starts_with("malformed: "), "{reasons:#?}");
    assert!(reasons[3].contains("sixteen digits"), "{reasons:#?}");
    assert!(reasons[5].contains("VERDICT_ALLOW or VERDICT_BAN"), "{reasons:#?}");
    assert!(reasons[6].starts_with("there is no offer"), "{reasons:#?}");
}

/// An id that is right in form, and of no offer.
fn other_id(id: OfferId) -> String {
    let mut random = rand::rngs::StdRng::from_seed([1; 32]);
    let other = OfferId::random(&mut random);
    assert_ne!(other, id);
    other.to_string()
}

pub(crate) async fn a_ban_stands_over_a_removed_offer_until_it_is_lifted(market: Market) {
    let id = market.publish(&bike("bike", 100)).await;
    give(&market, &opinion(id, BAN, 10)).await;
    apply(&market).await;
    market.move_to(Mover::Seller, id, Status::Removed).await.unwrap();
    assert!(market.move_to(Mover::Seller, id, Status::Active).await.is_err());
    give(&market, &opinion(id, ALLOW, 11)).await;
    apply(&market).await;
    assert_eq!(status(&market.offers.get(id).await.unwrap()), Status::Removed);
    market.move_to(Mover::Seller, id, Status::Active).await.unwrap();
}

pub(crate) async fn opinions_of_archived_offers_are_kept(market: Market) {
    let id = market.publish(&bike("bike", 100)).await;
    market.move_to(Mover::Seller, id, Status::Removed).await.unwrap();
    market.pass(30 * DAY);
    while market.offers.run_chore_step(Chore::Archive, "here").await.unwrap() == ChoreStep::Done {}
    give(&market, &opinion(id, BAN, 10)).await;
    apply(&market).await;
    assert_eq!(status(&market.offers.get(id).await.unwrap()), Status::Archived);
    assert!(market.offers.moderation(id).await.unwrap().is_some());
}

/// A row of the version before internal state had a field of its own: an offer that was sold, then
/// banned by `eve`.
const OLD_ROW: &[u8] = b"\x0a\x104829175033168090\x12\x03ann\x22\x04bike\x70\x03\
    \xa2\x06\x19\x0a\x07\x08\x04\x12\x03eve\x10\x04\x18\x01\x22\x0a\x08\xa0\xf8\xfa\x05\x12\x03EUR";

/// Internal state of an old row restores the status before the ban; no consumer gets any of it.
pub(crate) async fn a_row_of_the_version_before_keeps_its_ban_and_shows_no_internal_state(market: Market) {
    let has = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    let id: OfferId = "4829175033168090".parse().unwrap();
    let shard = shard_of(&id.to_string(), market.offers.watcher().shards());
    let key = StoredOffer::key(shard, &id);
    let mut batch = Batch::new();
    batch.put(key.clone(), 1, OLD_ROW);
    assert!(market.store.commit(batch).await.unwrap().is_applied());

    let offer = market.offers.get(id).await.unwrap();
    assert_eq!((status(&offer), &*offer.seller), (Status::Banned, "ann"));
    assert!(!has(&offer.encode_to_vec(), b"eve"));
    let refused = market.move_to(Mover::Seller, id, Status::Active).await.unwrap_err();
    assert!(matches!(refused, Error::NotMoved { why: NotMoved::Forbidden(_), .. }), "{refused}");
    give(&market, &opinion(id, ALLOW, 10)).await;
    apply(&market).await;
    assert_eq!(status(&market.offers.get(id).await.unwrap()), Status::Sold);

    let row = market.store.get_one(&key).await.unwrap().unwrap();
    assert!(has(&row.value, b"mo") && !has(&row.value, b"eve"), "the new author is in the new row");
    let read = ReadLimit::messages(100).waiting(std::time::Duration::from_secs(60));
    let partitions = (0..4).map(|partition| Box::pin(market.topics.read(TOPIC, partition, 0, read)));
    let (page, ..) = futures::future::select_all(partitions).await;
    let message = &page.unwrap().messages[0].message;
    let public = Offer::decode_from_slice(&message.payload).unwrap();
    assert_eq!((public.id.parse(), status(&public)), (Ok(id), Status::Sold));
    assert!(row.value.len() > message.payload.len() && has(&row.value, &message.payload));
    assert_eq!(public.encode_to_vec(), message.payload, "the topic has only fields of the contract");
}
