//! Calls that are made again under the same idempotency key.

use futures::future::join_all;
use offers::{Call, Error, Move, Request};
use wire::torg::offers::v1::{Offer, Status};

use crate::engines::market::{DAY, Market, bike, seller, status};

fn call(key: &str, fingerprint: u64) -> Call {
    let request = Request { caller: "ann".to_owned(), key: key.to_owned(), fingerprint };
    Call { request: Some(request), ..seller("ann") }
}

pub(crate) async fn a_call_made_twice_has_one_effect(market: Market) {
    let first = market.offers.create(&call("create", 1), &bike("bike", 100)).await.unwrap();
    let again = market.offers.create(&call("create", 1), &bike("bike", 100)).await.unwrap();
    assert_eq!(first, again);
    let id: offers::OfferId = first.id.parse().unwrap();
    let sold = market.offers.move_to(&call("sell", 2), id, None, &Move::to(Status::Sold)).await.unwrap();
    // Without the key it would be refused: it is sold already.
    let again = market.offers.move_to(&call("sell", 2), id, None, &Move::to(Status::Sold)).await.unwrap();
    assert_eq!((sold.version, &sold), (2, &again));
    let longer = |offer: &mut Offer| {
        offer.title += "!";
        Ok(())
    };
    market.offers.update(&call("rename", 3), id, None, longer).await.unwrap();
    let renamed = market.offers.update(&call("rename", 3), id, None, longer).await.unwrap();
    assert_eq!((&*renamed.title, status(&renamed)), ("bike!", Status::Sold));
    assert_eq!(market.offers.counts("ann").await.unwrap()["all"], 1);
}

pub(crate) async fn a_key_of_another_call_is_refused_until_it_is_forgotten(market: Market) {
    market.offers.create(&call("key", 1), &bike("bike", 100)).await.unwrap();
    let refused = market.offers.create(&call("key", 2), &bike("other", 100)).await.unwrap_err();
    assert!(matches!(refused, Error::KeyReused { .. }), "{refused}");
    // The key of another caller is another key.
    let request = Request { caller: "bob".to_owned(), key: "key".to_owned(), fingerprint: 2 };
    market
        .offers
        .create(&Call { request: Some(request), ..seller("bob") }, &bike("bobs", 100))
        .await
        .unwrap();
    market.pass(DAY + DAY);
    market.offers.create(&call("key", 2), &bike("other", 100)).await.unwrap();
    market.offers.create(&call("key", 2), &bike("other", 100)).await.unwrap();
    assert_eq!(market.offers.counts("ann").await.unwrap()["all"], 3);
}

pub(crate) async fn calls_made_at_the_same_time_under_one_key_have_one_effect(market: Market) {
    let create = |n: u32| {
        let offers = market.offers.clone();
        async move { offers.create(&call(&format!("key {}", n % 4), 1), &bike("bike", 100)).await.unwrap().id }
    };
    let mut ids = join_all((0..32).map(create)).await;
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), market.offers.counts("ann").await.unwrap()["all"]), (4, 4));
}
