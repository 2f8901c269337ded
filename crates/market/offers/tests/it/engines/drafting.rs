//! Drafts of sellers and of anonymous visitors.

use std::time::Duration;

use futures::future::join_all;
use offers::drafts::Owner;
use offers::{Error, OfferId};
use wire::torg::offers::v1::{Draft, Offer};

use crate::engines::market::{Market, bike, seller};

fn ann() -> Owner {
    Owner { seller: Some("ann".to_owned()), anonymous: None }
}

fn visitor() -> Owner {
    Owner { seller: None, anonymous: Some("visitor-0123456789abcd".to_owned()) }
}

fn ann_who_visited() -> Owner {
    Owner { seller: ann().seller, anonymous: visitor().anonymous }
}

fn id(draft: &Draft) -> OfferId {
    draft.id.parse().unwrap()
}

/// Fills a draft with all that an offer needs.
async fn fill(market: &Market, owner: &Owner, draft: &Draft, title: &str) -> Draft {
    market.pass(Duration::from_millis(1));
    let filled = bike(title, 100);
    let change = |offer: &mut Offer| {
        *offer = filled.clone();
        Ok(())
    };
    market.offers.update_draft(&seller("ann"), owner, id(draft), Some(draft.version), change).await.unwrap()
}

pub(crate) async fn a_draft_is_opened_by_the_three_rules_and_moves_to_the_seller(market: Market) {
    let offers = &market.offers;
    let cars = offers.open_draft(&visitor(), Some("transport/cars")).await.unwrap();
    assert_eq!(offers.open_draft(&visitor(), None).await.unwrap(), cars);
    // (a) a category that no draft has: the one that there is keeps its id and loses its content.
    let cars = fill(&market, &visitor(), &cars, "bike").await;
    let reset = offers.open_draft(&visitor(), Some("toys")).await.unwrap();
    let offer = reset.offer.as_option().unwrap();
    assert_eq!((&reset.id, &*offer.category, &*offer.title), (&cars.id, "toys", ""));
    // (b) the one that fits moves to the seller, and the other is gone.
    let bikes = offers.open_draft(&ann(), Some("transport/bikes")).await.unwrap();
    assert_ne!(bikes.id, reset.id);
    let moved = offers.open_draft(&ann_who_visited(), Some("toys")).await.unwrap();
    assert_eq!(moved.id, reset.id);
    assert_eq!(offers.open_draft(&ann(), None).await.unwrap().id, reset.id);
    assert_ne!(offers.open_draft(&visitor(), None).await.unwrap().id, reset.id);
    // (c) the newest.
    market.pass(Duration::from_secs(1));
    let newest = offers.open_draft(&visitor(), Some("toys")).await.unwrap();
    assert_eq!(offers.open_draft(&ann_who_visited(), None).await.unwrap().id, newest.id);
}

pub(crate) async fn a_draft_is_published_once_even_by_two_at_a_time(market: Market) {
    let offers = &market.offers;
    let draft = offers.open_draft(&visitor(), Some("transport/bikes")).await.unwrap();
    let draft = fill(&market, &visitor(), &draft, "my bike").await;
    let refused = offers.publish_draft(&seller("ann"), &visitor(), id(&draft)).await.unwrap_err();
    assert!(matches!(refused, Error::NoSeller), "{refused}");
    let publish = |_| {
        let offers = offers.clone();
        let id = id(&draft);
        async move { offers.publish_draft(&seller("ann"), &ann_who_visited(), id).await.unwrap() }
    };
    let published = join_all((0..8).map(publish)).await;
    assert!(
        published.iter().all(|offer| offer.id == draft.id && offer.title == "my bike" && offer.version == 1)
    );
    assert_eq!(published[0].seller, "ann");
    assert_eq!(offers.counts("ann").await.unwrap()["all"], 1);
    assert_eq!(offers.publish_draft(&seller("ann"), &ann(), id(&draft)).await.unwrap().id, draft.id);
    assert_ne!(offers.open_draft(&ann_who_visited(), None).await.unwrap().id, draft.id);
}

pub(crate) async fn a_draft_belongs_to_its_owner_alone(market: Market) {
    let offers = &market.offers;
    let draft = offers.open_draft(&ann(), Some("transport/bikes")).await.unwrap();
    let draft = fill(&market, &ann(), &draft, "bike").await;
    let bob = Owner { seller: Some("bob".to_owned()), anonymous: None };
    let untouched = |_: &mut Offer| Ok(());
    for owner in [&bob, &visitor()] {
        let refused =
            offers.update_draft(&seller("bob"), owner, id(&draft), None, untouched).await.unwrap_err();
        assert!(matches!(refused, Error::NoDraft(_)), "{refused}");
        offers.delete_draft(owner, id(&draft)).await.unwrap();
    }
    let refused = offers.publish_draft(&seller("bob"), &bob, id(&draft)).await.unwrap_err();
    assert!(matches!(refused, Error::NoDraft(_)), "{refused}");
    offers.publish_draft(&seller("ann"), &ann(), id(&draft)).await.unwrap();
    let refused = offers.publish_draft(&seller("bob"), &bob, id(&draft)).await.unwrap_err();
    assert!(matches!(refused, Error::NoDraft(_)), "{refused}");
}

pub(crate) async fn a_writer_of_a_deleted_draft_does_not_overwrite_the_next_one(market: Market) {
    let offers = &market.offers;
    let first = offers.open_draft(&ann(), None).await.unwrap();
    offers.delete_draft(&ann(), id(&first)).await.unwrap();
    let second = offers.open_draft(&ann(), None).await.unwrap();
    assert!(second.version > first.version && second.id != first.id);
    let change = |_: &mut Offer| Ok(());
    let refused = offers.update_draft(&seller("ann"), &ann(), id(&first), None, change).await.unwrap_err();
    assert!(matches!(refused, Error::NoDraft(_)), "{refused}");
    let refused = offers
        .update_draft(&seller("ann"), &ann(), id(&second), Some(first.version), change)
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::OtherVersion { .. }), "{refused}");
}
