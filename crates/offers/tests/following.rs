//! What follows from a change is saved with it: lists, counters, history.
#![allow(clippy::unwrap_used, reason = "a test ends where an answer is missing")]

use std::sync::Arc;

use contract::torg::offers::v1::{Author, Money, Offer, Preset, Price, Status, author};
use offers::{Error, Move, Offers, StoredOffer};
use store::{Memory, Schema, Store, StoreOptions};
use watcher::{Setup, Watcher};

use offers::status::Mover;

fn schema() -> Schema {
    let tables = watcher::tables().into_iter().chain(topics::tables()).chain(offers::tables());
    Schema::new(1, tables).unwrap()
}

async fn open() -> Offers {
    let store = Store::over(Arc::new(Memory::new(schema())), &StoreOptions::default());
    let watcher: Watcher<StoredOffer> = Watcher::open(&store, Setup::default()).await.unwrap();
    Offers::new(&store, &watcher, 64, 1)
}

fn seller() -> Author {
    Author { kind: author::Kind::KIND_SELLER.into(), name: "ann".to_owned(), ..Author::default() }
}

fn bike(title: &str, euros: i64) -> Offer {
    let money = Money { micros: euros * 1_000_000, currency: "EUR".to_owned(), ..Money::default() };
    let price = Price { kind: Some(money.into()), ..Price::default() };
    let (seller, title) = ("ann".to_owned(), title.to_owned());
    Offer {
        seller,
        title,
        category: "transport/bikes".to_owned(),
        price: Some(price).into(),
        ..Offer::default()
    }
}

fn to(status: Status) -> Move {
    Move { to: status, ..Move::default() }
}

#[tokio::test]
async fn lists_and_counts_are_in_step_with_every_move() {
    let offers = open().await;
    let mut ids = Vec::new();
    for n in 0..5 {
        let offer = offers.create(&seller(), bike(&format!("bike {n}"), 100 + n)).await.unwrap();
        assert_eq!((offer.version, offer.status.as_known()), (1, Some(Status::Active)));
        ids.push(offer.id.parse().unwrap());
    }
    offers.move_to(&seller(), Mover::Seller, ids[0], &to(Status::Sold)).await.unwrap();
    offers.move_to(&seller(), Mover::Stage, ids[1], &to(Status::Expired)).await.unwrap();
    offers.move_to(&seller(), Mover::Moderation, ids[2], &to(Status::Banned)).await.unwrap();
    offers.move_to(&seller(), Mover::Seller, ids[3], &to(Status::Removed)).await.unwrap();
    let counts = offers.counts("ann").await.unwrap();
    let expected = [
        ("all", 4),
        ("active", 1),
        ("expired", 1),
        ("banned", 1),
        ("sold_now", 1),
        ("archived", 0),
        ("needs_attention", 2),
    ];
    assert_eq!(counts, expected.into());
    for (preset, count) in
        [(Preset::All, 4), (Preset::Active, 1), (Preset::NeedsAttention, 2), (Preset::Archived, 0)]
    {
        let page = offers.list("ann", preset, None, 100).await.unwrap();
        assert_eq!((page.offers.len(), page.next), (count, None), "{preset:?}");
    }
}

#[tokio::test]
async fn an_offer_is_sold_once_however_often_it_is_offered_again() {
    let offers = open().await;
    let id = offers.create(&seller(), bike("bike", 150)).await.unwrap().id.parse().unwrap();
    for _ in 0..3 {
        offers.move_to(&seller(), Mover::Seller, id, &to(Status::Sold)).await.unwrap();
        offers.move_to(&seller(), Mover::Seller, id, &to(Status::Active)).await.unwrap();
    }
    let (sold, earned) = offers.sold("ann").await.unwrap();
    assert_eq!((sold, earned), (1, [("EUR".to_owned(), 150_000_000)].into()));
}

#[tokio::test]
async fn a_ban_is_lifted_to_what_the_offer_was_and_removing_it_gets_around_nothing() {
    let offers = open().await;
    let id = offers.create(&seller(), bike("bike", 150)).await.unwrap().id.parse().unwrap();
    offers.move_to(&seller(), Mover::Moderation, id, &to(Status::Banned)).await.unwrap();
    let refused = offers.move_to(&seller(), Mover::Seller, id, &to(Status::Active)).await.unwrap_err();
    assert!(matches!(refused, Error::Forbidden { .. }), "{refused}");
    offers.move_to(&seller(), Mover::Seller, id, &to(Status::Removed)).await.unwrap();
    let refused = offers.move_to(&seller(), Mover::Seller, id, &to(Status::Active)).await.unwrap_err();
    assert!(matches!(refused, Error::BanStands(_)), "{refused}");
    assert!(offers.move_to(&seller(), Mover::Admin, id, &to(Status::Active)).await.is_ok());
}

#[tokio::test]
async fn a_page_goes_on_where_the_last_one_ended_whatever_came_and_went() {
    let offers = open().await;
    for n in 0..10 {
        offers.create(&seller(), bike(&format!("bike {n}"), 100)).await.unwrap();
    }
    let first = offers.list("ann", Preset::All, None, 4).await.unwrap();
    let place = first.next.clone().unwrap();
    let gone = first.offers[1].id.parse().unwrap();
    offers.move_to(&seller(), Mover::Seller, gone, &to(Status::Removed)).await.unwrap();
    let mut seen: Vec<String> = first.offers.iter().map(|offer| offer.id.clone()).collect();
    let rest = offers.list("ann", Preset::All, Some(&place), 100).await.unwrap();
    seen.extend(rest.offers.iter().map(|offer| offer.id.clone()));
    let all = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((all, seen.len(), rest.next), (10, 10, None));
}
