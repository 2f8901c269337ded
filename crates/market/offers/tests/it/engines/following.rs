//! What follows from a change is saved with it: lists, counters, history.

use offers::cabinet::Filter;
use offers::status::Mover;
use offers::{Error, NotMoved};
use wire::torg::offers::v1::{Offer, Preset, Status};

use crate::engines::market::{Market, bike, of_feed, seller, status};

pub(crate) async fn every_move_updates_lists_and_counts(market: Market) {
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(market.publish(&bike(&format!("bike {n}"), 100 + n)).await);
    }
    market.move_to(Mover::Seller, ids[0], Status::Sold).await.unwrap();
    market.move_to(Mover::Stage, ids[1], Status::Expired).await.unwrap();
    market.move_to(Mover::Moderation, ids[2], Status::Banned).await.unwrap();
    market.move_to(Mover::Seller, ids[3], Status::Removed).await.unwrap();
    let counts = market.offers.counts("ann").await.unwrap();
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
        let page = market.offers.list("ann", preset, &Filter::default(), None, 100).await.unwrap();
        assert_eq!((page.offers.len(), page.next), (count, None), "{preset:?}");
    }
}

pub(crate) async fn an_offer_is_sold_once_however_often_it_is_offered_again(market: Market) {
    let id = market.publish(&bike("bike", 150)).await;
    for _ in 0..3 {
        market.move_to(Mover::Seller, id, Status::Sold).await.unwrap();
        market.move_to(Mover::Seller, id, Status::Active).await.unwrap();
    }
    let earned = market.offers.counters("ann").await.unwrap();
    assert_eq!((earned.sold, earned.money), (1, [("EUR".to_owned(), 150_000_000)].into()));
}

pub(crate) async fn lifting_a_ban_restores_the_status_and_removal_does_not_lift_it(market: Market) {
    let id = market.publish(&bike("bike", 150)).await;
    market.move_to(Mover::Moderation, id, Status::Banned).await.unwrap();
    let refused = market.move_to(Mover::Seller, id, Status::Active).await.unwrap_err();
    assert!(matches!(refused, Error::NotMoved { why: NotMoved::Forbidden(_), .. }), "{refused}");
    market.move_to(Mover::Seller, id, Status::Removed).await.unwrap();
    let refused = market.move_to(Mover::Seller, id, Status::Active).await.unwrap_err();
    assert!(matches!(refused, Error::NotMoved { why: NotMoved::BanStands, .. }), "{refused}");
    let offer = market.move_to(Mover::Admin, id, Status::Active).await.unwrap();
    assert_eq!((status(&offer), offer.expire_time.is_set()), (Status::Active, true));
}

pub(crate) async fn every_change_is_in_the_history_with_its_author(market: Market) {
    let id = market.publish(&bike("bike", 150)).await;
    let rename = |offer: &mut Offer| {
        "a better bike".clone_into(&mut offer.title);
        offer.description = "long ".repeat(100);
        Ok(())
    };
    market.offers.update(&seller("ann"), id, None, rename).await.unwrap();
    // The same again changes nothing, and is no change.
    market.offers.update(&seller("ann"), id, None, rename).await.unwrap();
    market.move_to(Mover::Seller, id, Status::Sold).await.unwrap();
    let (entries, next) = market.offers.history(id, None, 2).await.unwrap();
    let (rest, end) = market.offers.history(id, next, 2).await.unwrap();
    let versions: Vec<u64> = entries.iter().chain(&rest).map(|entry| entry.version).collect();
    assert_eq!((versions, end), (vec![3, 2, 1], None));
    let changes: Vec<_> =
        entries[1].changes.iter().map(|c| (&*c.field, c.before.as_deref(), c.after.as_deref())).collect();
    let expected = vec![("title", Some("\"bike\""), Some("\"a better bike\"")), ("description", None, None)];
    assert_eq!(changes, expected);
    let moved: Vec<&str> = entries[0].changes.iter().map(|change| &*change.field).collect();
    assert_eq!(moved, ["status", "status_reason", "status_time", "expire_time"]);
    assert!(entries.iter().chain(&rest).all(|entry| entry.author.as_option().unwrap().name == "ann"));
}

pub(crate) async fn an_id_in_a_feed_belongs_to_one_offer_at_a_time(market: Market) {
    let first = market.publish(&of_feed("17")).await;
    let refused = market.offers.create(&seller("ann"), &of_feed("17")).await.unwrap_err();
    assert!(
        matches!(&refused, Error::ExternalTaken { other, .. } if *other == first.to_string()),
        "{refused}"
    );
    market.move_to(Mover::Feed, first, Status::Removed).await.unwrap();
    let second = market.publish(&of_feed("17")).await;
    let refused = market.move_to(Mover::Feed, first, Status::Active).await.unwrap_err();
    assert!(
        matches!(&refused, Error::ExternalTaken { other, .. } if *other == second.to_string()),
        "{refused}"
    );
    market.move_to(Mover::Feed, second, Status::Removed).await.unwrap();
    market.move_to(Mover::Feed, first, Status::Active).await.unwrap();
}

pub(crate) async fn a_change_of_a_version_that_is_gone_is_refused(market: Market) {
    let id = market.publish(&bike("bike", 150)).await;
    let rename = |title: &'static str| {
        move |offer: &mut Offer| {
            title.clone_into(&mut offer.title);
            Ok(())
        }
    };
    let offer = market.offers.update(&seller("ann"), id, Some(1), rename("one")).await.unwrap();
    assert_eq!(offer.version, 2);
    let refused = market.offers.update(&seller("ann"), id, Some(1), rename("two")).await.unwrap_err();
    assert!(matches!(refused, Error::OtherVersion { expected: 1, actual: 2, .. }), "{refused}");
    market.move_to(Mover::Seller, id, Status::Removed).await.unwrap();
    let refused = market.offers.update(&seller("ann"), id, None, rename("three")).await.unwrap_err();
    assert_eq!(refused.to_string(), format!("offer {id} is removed and cannot be changed"));
}
