//! Offers of a feed that changed since the load: loads keep their status, and reports show their
//! problems.

use crate::common::{Market, yml};
use feeds::FeedName;
use feeds::ProblemFilter;
use offers::status::Mover;
use offers::{BulkChanges as _, Call, Move, OfferId};
use wire::torg::offers::v1::{Author, Offer, Photo, Problem, Status, author};

fn by(kind: author::Kind, mover: Mover) -> Call {
    Call::by(Author { kind: kind.into(), name: "somebody".to_owned(), ..Author::default() }, mover)
}

async fn moved(market: &Market, offer: &Offer, status: Status, mover: Mover) {
    let id: OfferId = offer.id.parse().unwrap();
    let call = by(author::Kind::KIND_SUPPORT, mover);
    let to = Move::to(status).because("stolen", "It is a stolen sofa.");
    market.offers.move_to(&call, id, None, &to).await.unwrap();
}

async fn status_of(market: &Market, offer: &Offer) -> Status {
    market.offers.get(offer.id.parse().unwrap()).await.unwrap().status.as_known().unwrap()
}

/// The whole report of a load, in pages of one.
async fn reported(market: &Market, feed: &FeedName, load: u64) -> Vec<(String, String)> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = market.feeds.problems(feed, load, &ProblemFilter::default(), after, 1).await.unwrap();
        found.extend(page.problems.into_iter().map(|found| (found.external_id, found.problem.code.clone())));
        after = page.next;
        if after.is_none() {
            return found;
        }
    }
}

async fn with_two_sofas() -> (Market, FeedName, Vec<(String, Offer)>) {
    let market = Market::start().await;
    let feed = market.feed("ann", "default").await;
    market.load(&feed, &yml(&[("1", "Диван серый", 100), ("2", "Диван синий", 200)])).await;
    let live = market.live(&feed).await;
    (market, feed, live)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_banned_offer_is_changed_and_stays_banned_and_the_report_tells_of_it() {
    let (market, feed, live) = with_two_sofas().await;
    moved(&market, &live[0].1, Status::Banned, Mover::Moderation).await;
    let load = market.load(&feed, &yml(&[("1", "Диван красный", 90), ("2", "Диван синий", 200)])).await;
    let counts = load.counts.as_option().unwrap();
    assert_eq!((counts.created, counts.changed, counts.unchanged), (0, 1, 1));
    assert_eq!(status_of(&market, &live[0].1).await, Status::Banned);
    let banned = market.offers.get(live[0].1.id.parse().unwrap()).await.unwrap();
    assert_eq!(banned.title, "Диван красный");

    let troubled = market.offers.troubles(&feed.seller, &feed.namespace, "", 10).await.unwrap();
    assert_eq!(troubled.len(), 1);
    assert_eq!((&*troubled[0].0, &*troubled[0].1.offer), ("1", &*banned.id));
    let problem = &troubled[0].1.problems[0];
    assert_eq!((&*problem.code, &*problem.message), ("banned", "It is a stolen sofa."));

    let counted = market.feeds.count_problems(&feed, &load).await.unwrap();
    assert_eq!(counted.iter().map(|(code, of)| (&**code, of.count)).collect::<Vec<_>>(), [("banned", 1)]);
    assert_eq!(reported(&market, &feed, load.number).await, [("1".to_owned(), "banned".to_owned())]);
    assert!(reported(&market, &feed, load.number - 1).await.is_empty(), "that is of the last load");
    moved(&market, &banned, Status::Active, Mover::Moderation).await;
    assert!(
        market.offers.troubles(&feed.seller, &feed.namespace, "", 10).await.unwrap().is_empty(),
        "the ban is lifted"
    );
    market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_banned_offer_that_the_feed_gives_up_is_removed_like_any_other() {
    let (market, feed, live) = with_two_sofas().await;
    moved(&market, &live[0].1, Status::Banned, Mover::Moderation).await;
    let load = market.load(&feed, &yml(&[("2", "Диван синий", 200)])).await;
    assert_eq!(load.counts.as_option().unwrap().removed, 1);
    assert_eq!(status_of(&market, &live[0].1).await, Status::Removed);
    assert!(market.offers.troubles(&feed.seller, &feed.namespace, "", 10).await.unwrap().is_empty());
    market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sold_offer_stays_sold_while_the_feed_has_it_and_one_that_expired_is_shown_again() {
    let (market, feed, live) = with_two_sofas().await;
    moved(&market, &live[0].1, Status::Sold, Mover::Seller).await;
    moved(&market, &live[1].1, Status::Expired, Mover::Stage).await;
    market.load(&feed, &yml(&[("1", "Диван серый", 80), ("2", "Диван синий", 190)])).await;
    assert_eq!(status_of(&market, &live[0].1).await, Status::Sold);
    assert_eq!(status_of(&market, &live[1].1).await, Status::Active);
    market.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn photos_that_cannot_be_had_join_the_report_by_their_url() {
    let (market, feed, live) = with_two_sofas().await;
    let id: OfferId = live[1].1.id.parse().unwrap();
    let failing = |passing: bool| Problem {
        code: "status".to_owned(),
        text: "the server answers 404".to_owned(),
        passing,
        ..Problem::default()
    };
    for (passing, expected) in [(true, 0), (false, 1)] {
        let found = market.offers.find(id, &watcher::Fields::all()).await.unwrap();
        let mut after = found.entity.clone();
        after.offer.photos[0] =
            Photo { problem: Some(failing(passing)).into(), ..after.offer.photos[0].clone() };
        let mut batch = store::Batch::new();
        market.offers.watcher().save(&mut batch, Some(&found), &after).await.unwrap();
        assert!(market.offers.commit(batch).await.unwrap());
        let troubled = market.offers.troubles(&feed.seller, &feed.namespace, "", 10).await.unwrap();
        assert_eq!(troubled.len(), expected, "what is tried again may still go well");
    }
    let troubled = market.offers.troubles(&feed.seller, &feed.namespace, "", 10).await.unwrap();
    let problem = &troubled[0].1.problems[0];
    assert_eq!(
        (&*problem.code, &*problem.field, &*problem.value),
        ("photo_not_fetched", "photos[0]", "https://example.com/2.jpg")
    );
    // The next load has another photo.
    let other = yml(&[("1", "Диван серый", 100), ("2", "Диван синий", 200)]).replace("/2.jpg", "/2b.jpg");
    market.load(&feed, &other).await;
    assert!(market.offers.troubles(&feed.seller, &feed.namespace, "", 10).await.unwrap().is_empty());
    market.stop().await;
}
