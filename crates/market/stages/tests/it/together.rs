//! All built-in stages at once.

use std::sync::Arc;

use photos::BestFirst;
use stages::{
    Evolution, Expiry, Lineage, OrderPhotos, PhotosConfig, PriceConfig, PriceStage, Prices, TakePhotos,
    TopicEvents, VideoCheck, VideoConfig, VideoHost,
};
use watcher::Stage;
use wire::torg::offers::v1::{Status, video};

use crate::ground::{DAY, EVENTS, Ground, SHARDS, TOPIC};
use crate::market::Market;
use crate::photographing::{file, scene, url};
use crate::shop::{bike, catalogue, filmed, pictured};

/// How many changes stages make to a new offer: its photos, their order, its video, its price.
const CHANGES: u64 = 4;

pub(crate) async fn all_stages_together_settle_an_offer_and_do_not_fight(ground: Ground) {
    for (name, seed) in [("a", 1), ("b", 2)] {
        ground.site.says(&format!("/{name}"), "200 OK", &file(&scene(400, 300, seed)));
    }
    ground.site.says("HEAD /video1", "200 OK", b"");
    let prices = Prices::open(&ground.store, &ground.topics, TOPIC, catalogue(), 8).await.unwrap();
    let hosts = vec![VideoHost::page(&["vk.com"])];
    let events = TopicEvents::new(ground.topics.clone(), EVENTS);
    let stages: Vec<Arc<dyn Stage<_>>> = vec![
        Arc::new(Expiry::default().publishing_to(Arc::new(events))),
        Arc::new(Evolution::new(Lineage::of(catalogue()))),
        Arc::new(TakePhotos::new(ground.photos.clone(), PhotosConfig::default())),
        Arc::new(OrderPhotos::new(ground.photos.clone(), Arc::new(BestFirst::default()))),
        Arc::new(VideoCheck::new(ground.client(), VideoConfig { hosts, ..VideoConfig::default() })),
        Arc::new(PriceStage::new(Arc::new(prices.clone()), PriceConfig::default())),
    ];
    let market = Market::open(&ground, catalogue(), stages).await;
    for n in 0..10 {
        market.publish(&bike(100 + n)).await;
    }
    prices.fill(SHARDS).await.unwrap();
    let offer = filmed(pictured(bike(1), &[&url("a"), &url("b")]), "http://vk.com/video1");
    let id = market.publish(&offer).await;
    let offer = market
        .eventually("all was found out", id, |offer| {
            offer.photo_order.len() == 2
                && offer.predicted_price.is_set()
                && offer.video.availability.state == video::State::STATE_AVAILABLE
        })
        .await;
    assert_eq!(offer.version, 1 + CHANGES);
    assert_eq!(market.settled(id).await.version, offer.version);
    market.recrawl().await;
    assert_eq!(market.settled(id).await.version, offer.version, "asked about again, nothing is different");

    ground.pass(DAY * 181);
    let expired = market.eventually("it expires", id, |offer| offer.status == Status::Expired).await;
    assert_eq!(expired.photos, offer.photos);
    assert!(market.offers.watcher().fights().is_empty());
    market.close().await;
}
