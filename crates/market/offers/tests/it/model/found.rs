//! What random runs found, each in the smallest case that shows it.

use std::time::Duration;

use futures::future::join;
use offers::drafts::Owner;
use offers::status::Mover;
use offers::{Call, Move, OfferId, Request};
use store::Faults;
use tokio::time::sleep;
use wire::torg::offers::v1::{Author, Offer, Opinion, Status, author, opinion};

use crate::model::client::{fixed, from_feed};
use crate::model::evidence::status;
use crate::model::market::{Market, PARTITIONS, REMOVED};
use crate::model::plan::{Engine, Plan};

/// A market on memory in which nothing goes on by itself, and every read and commit takes a moment.
async fn slow_market() -> Market {
    let market = Market::open(&Plan::of(Engine::Memory, 1, 0)).await.unwrap();
    market.set_faults(Faults { delay_max: Duration::from_secs(1), ..Faults::default() });
    market
}

fn by(mover: Mover, kind: author::Kind) -> Call {
    Call::by(Author { kind: kind.into(), name: "ann".to_owned(), ..Author::default() }, mover)
}

fn ann() -> Call {
    by(Mover::Seller, author::Kind::KIND_SELLER)
}

fn under_key(key: u64) -> Call {
    let request = Request { caller: "ann".to_owned(), key: key.to_string(), fingerprint: key };
    Call { request: Some(request), ..ann() }
}

fn bike() -> Offer {
    Offer {
        seller: "ann".to_owned(),
        category: "bikes".to_owned(),
        title: "bike".to_owned(),
        price: Some(fixed(1, "EUR")).into(),
        ..Offer::default()
    }
}

async fn publish(market: &Market) -> OfferId {
    market.offers.create(&ann(), &bike()).await.unwrap().id.parse().unwrap()
}

async fn move_to(market: &Market, call: &Call, id: OfferId, to: Status) -> offers::Result<Offer> {
    market.offers.move_to(call, id, None, &Move::to(to)).await
}

/// Gives an opinion, and applies it.
async fn judge(market: &Market, id: OfferId, verdict: opinion::Verdict) {
    let opinion = Opinion { offer: id.to_string(), verdict: verdict.into(), ..Opinion::default() };
    market.offers.give_opinion(&market.opinions.topic, &opinion).await.unwrap();
    for partition in 0..PARTITIONS {
        let position =
            market.topics.position("offers.moderation", &market.opinions.topic, partition).await.unwrap();
        market.offers.apply_opinions(&market.opinions, partition, &position, 10).await.unwrap();
    }
}

const BAN: opinion::Verdict = opinion::Verdict::VERDICT_BAN;
const ALLOW: opinion::Verdict = opinion::Verdict::VERDICT_ALLOW;

#[tokio::test(start_paused = true)]
async fn an_offer_that_is_sold_while_others_are_archived_stays() {
    let market = slow_market().await;
    let mut ids = Vec::new();
    for _ in 0..40 {
        let id = publish(&market).await;
        move_to(&market, &ann(), id, Status::Removed).await.unwrap();
        ids.push(id);
    }
    sleep(REMOVED).await;
    let sold = *ids.last().unwrap();
    let sell = async {
        // The list of those that are due was read by now.
        sleep(Duration::from_millis(30)).await;
        move_to(&market, &ann(), sold, Status::Active).await.unwrap();
        move_to(&market, &ann(), sold, Status::Sold).await.unwrap();
    };
    let shard = watcher::shard_of(&sold.to_string(), market.offers.watcher().shards());
    let ((), archived) = join(Box::pin(sell), Box::pin(market.offers.archive_due(shard))).await;
    assert!(archived.unwrap() > 0);
    assert_eq!(status(&market.offers.get(sold).await.unwrap()), Status::Sold);
}

#[tokio::test(start_paused = true)]
async fn a_move_that_is_made_twice_at_once_under_one_key_is_done_for_both() {
    let market = slow_market().await;
    for key in 0..50 {
        let (id, call) = (publish(&market).await, under_key(key));
        let (one, two) =
            join(move_to(&market, &call, id, Status::Sold), move_to(&market, &call, id, Status::Sold)).await;
        assert_eq!((one.unwrap().version, two.unwrap().version), (2, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn an_offer_of_a_feed_that_is_made_twice_at_once_under_one_key_is_made_for_both() {
    let market = slow_market().await;
    for key in 0..50_u64 {
        let feed = ("shop".to_owned(), key.to_string());
        let (offer, call) = (Offer { source: Some(from_feed(&feed)).into(), ..bike() }, under_key(key));
        let make = || market.offers.create(&call, &offer);
        let (one, two) = join(Box::pin(make()), Box::pin(make())).await;
        assert_eq!(one.unwrap().id, two.unwrap().id);
    }
}

#[tokio::test(start_paused = true)]
async fn a_draft_that_is_changed_twice_at_once_under_one_key_is_changed_for_both() {
    let market = slow_market().await;
    let owner = Owner { seller: Some("ann".to_owned()), anonymous: None };
    for key in 0..50 {
        let draft = market.offers.open_draft(&owner, None).await.unwrap();
        let (id, call) = (draft.id.parse().unwrap(), under_key(key));
        let longer = |offer: &mut Offer| {
            offer.title += "!";
            Ok(())
        };
        let change = || market.offers.update_draft(&call, &owner, id, Some(draft.version), longer);
        let (one, two) = join(change(), change()).await;
        assert_eq!((one.unwrap().version, two.unwrap().version), (draft.version + 1, draft.version + 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_ban_of_a_removed_offer_that_is_lifted_does_not_stand() {
    let market = slow_market().await;
    let id = publish(&market).await;
    move_to(&market, &ann(), id, Status::Removed).await.unwrap();
    judge(&market, id, BAN).await;
    judge(&market, id, ALLOW).await;
    assert_eq!(status(&market.offers.get(id).await.unwrap()), Status::Removed);
    move_to(&market, &ann(), id, Status::Active).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_opinion_does_not_change_an_offer_that_is_archived_and_about_to_leave() {
    let market = slow_market().await;
    let id = publish(&market).await;
    judge(&market, id, BAN).await;
    move_to(&market, &ann(), id, Status::Removed).await.unwrap();
    let archive = by(Mover::Archiver, author::Kind::KIND_ARCHIVE);
    let archived = move_to(&market, &archive, id, Status::Archived).await.unwrap();
    judge(&market, id, ALLOW).await;
    assert_eq!(market.offers.get(id).await.unwrap().version, archived.version);
}

#[tokio::test(start_paused = true)]
async fn a_new_offer_had_no_status_before() {
    let market = slow_market().await;
    let (entries, _) = market.offers.history(publish(&market).await, None, 10).await.unwrap();
    let status = entries[0].changes.iter().find(|change| change.field == "status").unwrap();
    assert_eq!((status.before.as_deref(), status.after.as_deref()), (None, Some("\"STATUS_ACTIVE\"")));
}
