//! What leaves the active tables in time, and what is forgotten.

use std::time::Duration;

use offers::cabinet::Filter;
use offers::chores::{ALL, Chore, ChoreStep};
use offers::drafts::Owner;
use offers::status::Mover;
use offers::{Call, Error, Request};
use wire::torg::offers::v1::{Offer, Preset, Status};

use crate::engines::market::{DAY, Market, bike, of_feed, seller, status};

async fn do_chore(market: &Market, chore: Chore) {
    while market.offers.run_chore_step(chore, "here").await.unwrap() == ChoreStep::Done {}
}

pub(crate) async fn an_offer_leaves_the_active_tables_in_time_and_stays_readable(market: Market) {
    let removed = market.publish(&of_feed("1")).await;
    let sold = market.publish(&bike("sold", 100)).await;
    let active = market.publish(&bike("active", 100)).await;
    market.move_to(Mover::Seller, removed, Status::Removed).await.unwrap();
    market.move_to(Mover::Seller, sold, Status::Sold).await.unwrap();
    market.pass(6 * DAY);
    do_chore(&market, Chore::Archive).await;
    assert_eq!(status(&market.offers.get(removed).await.unwrap()), Status::Removed);
    market.pass(2 * DAY);
    do_chore(&market, Chore::Archive).await;
    market.pass(60 * DAY);
    do_chore(&market, Chore::Archive).await;
    for id in [removed, sold] {
        assert!(market.offers.watcher().load(&id).await.unwrap().is_none());
        assert_eq!(status(&market.offers.get(id).await.unwrap()), Status::Archived);
        let refused = market.move_to(Mover::Admin, id, Status::Active).await.unwrap_err();
        assert!(matches!(refused, Error::Closed(_, Status::STATUS_ARCHIVED)), "{refused}");
    }
    assert_eq!(status(&market.offers.get(active).await.unwrap()), Status::Active);
    let list = async |preset| {
        let page = market.offers.list("ann", preset, &Filter::default(), None, 10).await.unwrap();
        page.offers.into_iter().map(|offer| offer.id).collect::<Vec<_>>()
    };
    assert_eq!(list(Preset::Archived).await, [sold.to_string(), removed.to_string()]);
    assert_eq!(list(Preset::All).await, [active.to_string()]);
    let counts = market.offers.counts("ann").await.unwrap();
    assert_eq!((counts["archived"], counts["all"], counts["sold_now"]), (2, 1, 0));
    assert_eq!(market.offers.counters("ann").await.unwrap().sold, 1);
    assert_eq!(market.offers.repair_counts("ann").await.unwrap(), []);
    let (history, _) = market.offers.history(removed, None, 10).await.unwrap();
    let versions: Vec<u64> = history.iter().map(|entry| entry.version).collect();
    assert_eq!(versions, [3, 2, 1]);
    assert_eq!(history[0].author.as_option().unwrap().name, "archive");
}

pub(crate) async fn an_offer_that_is_offered_again_does_not_leave(market: Market) {
    let id = market.publish(&bike("bike", 100)).await;
    market.move_to(Mover::Stage, id, Status::Expired).await.unwrap();
    market.pass(59 * DAY);
    market.move_to(Mover::Seller, id, Status::Active).await.unwrap();
    market.pass(30 * DAY);
    market.move_to(Mover::Stage, id, Status::Expired).await.unwrap();
    market.pass(30 * DAY);
    do_chore(&market, Chore::Archive).await;
    assert_eq!(status(&market.offers.get(id).await.unwrap()), Status::Expired);
}

pub(crate) async fn old_rows_are_deleted_after_their_retention(market: Market) {
    let id = market.publish(&bike("bike", 100)).await;
    let owner = Owner { seller: Some("ann".to_owned()), anonymous: None };
    let old = market.offers.open_draft(&owner, None).await.unwrap();
    let request = Request { caller: "ann".to_owned(), key: "k".to_owned(), fingerprint: 1 };
    let call = Call { request: Some(request), ..seller("ann") };
    let rename = |title: &'static str| {
        move |offer: &mut Offer| {
            title.clone_into(&mut offer.title);
            Ok(())
        }
    };
    market.offers.update(&call, id, None, rename("one")).await.unwrap();
    market.pass(200 * DAY);
    market.offers.update(&seller("ann"), id, None, rename("two")).await.unwrap();
    market.pass(200 * DAY);
    for chore in ALL {
        do_chore(&market, chore).await;
        // The lap is over; the next one is not due.
        assert_eq!(market.offers.run_chore_step(chore, "here").await.unwrap(), ChoreStep::NotDue);
    }
    let (history, _) = market.offers.history(id, None, 10).await.unwrap();
    assert_eq!(history.iter().map(|entry| entry.version).collect::<Vec<_>>(), [3]);
    assert_ne!(market.offers.open_draft(&owner, None).await.unwrap().id, old.id);
    // A forgotten key is a new one, whatever it asks for.
    let request = Request { caller: "ann".to_owned(), key: "k".to_owned(), fingerprint: 2 };
    let call = Call { request: Some(request), ..seller("ann") };
    market.offers.update(&call, id, None, rename("three")).await.unwrap();
    // Another process waits until this one is silent for long enough.
    market.pass(DAY);
    assert_eq!(market.offers.run_chore_step(Chore::Archive, "here").await.unwrap(), ChoreStep::Done);
    assert_eq!(market.offers.run_chore_step(Chore::Archive, "there").await.unwrap(), ChoreStep::NotDue);
    market.pass(Duration::from_secs(31));
    assert_eq!(market.offers.run_chore_step(Chore::Archive, "there").await.unwrap(), ChoreStep::Done);
}
