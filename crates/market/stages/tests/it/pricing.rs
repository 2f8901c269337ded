//! What offers like one cost.

use std::sync::Arc;
use std::time::Duration;

use offers::OfferId;
use stages::limits::PRICE_COUNT_MIN;
use stages::{PriceConfig, PriceModel, PriceStage, Prices};
use store::Read;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use topics::{Message, Retention, TopicSpec};
use wire::torg::offers::v1::predicted_price::Confidence;
use wire::torg::offers::v1::{Condition, Money, Offer, Price, Status};

use crate::ground::{DAY, Ground, PARTITIONS, SHARDS, TOPIC, eventually};
use crate::market::Market;
use crate::shop::{bike, catalogue, fixed, money, placed, with};

async fn prices(ground: &Ground) -> Prices {
    Prices::open(&ground.store, &ground.topics, TOPIC, catalogue(), PRICE_COUNT_MIN).await.unwrap()
}

async fn open<'g>(ground: &'g Ground, prices: &Prices) -> Market<'g> {
    let stage = PriceStage::new(Arc::new(prices.clone()), PriceConfig::default());
    Market::open(ground, catalogue(), vec![Arc::new(stage)]).await
}

/// Waits until the last changes of these offers are in the topic.
async fn exported(ground: &Ground, market: &Market<'_>, ids: &[OfferId]) {
    for id in ids {
        let version = market.settled(*id).await.version.to_string();
        let is_last = |message: &Message| {
            message.key == id.to_string().as_bytes()
                && message.header_value("version").is_some_and(|value| *value == version.as_bytes())
        };
        eventually("it is in the topic", async || {
            ground.messages(TOPIC).await.iter().any(|delivered| is_last(&delivered.message)).then_some(())
        })
        .await;
    }
}

/// Takes over all changes so far.
async fn follow(ground: &Ground, prices: &Prices, market: &Market<'_>, ids: &[OfferId]) {
    exported(ground, market, ids).await;
    for partition in 0..PARTITIONS {
        while prices.follow_page(partition, Duration::ZERO).await.unwrap() {}
    }
}

fn median(offer: &Offer) -> i64 {
    offer.predicted_price.median.micros / 1_000_000
}

pub(crate) async fn an_offer_says_what_offers_like_it_cost(ground: Ground) {
    let prices = prices(&ground).await;
    let market = open(&ground, &prices).await;
    let mut made = Vec::new();
    for n in 0..10 {
        made.push(market.publish(&placed(with(bike(1000 + n), "brand", "Mifa"), "berlin")).await);
        made.push(market.publish(&placed(with(bike(500 + n), "brand", " MIFA "), "potsdam")).await);
        made.push(market.publish(&placed(with(bike(50 + n), "brand", "Nobody"), "berlin")).await);
    }
    follow(&ground, &prices, &market, &made).await;
    let cases = [
        (
            placed(with(bike(1), "brand", "mifa"), "berlin"),
            1004,
            10,
            &["category", "place", "attributes.brand"][..],
        ),
        (placed(with(bike(1), "brand", "Mifa"), "bonn"), 754, 20, &["category", "attributes.brand"]),
        (placed(with(bike(1), "brand", "Diamant"), "potsdam"), 504, 10, &["category", "place"]),
        (bike(1), 504, 30, &["category"]),
    ];
    for (offer, wanted, count, basis) in cases {
        let id = market.publish(&offer).await;
        let offer = market.eventually("it is predicted", id, |offer| offer.predicted_price.is_set()).await;
        let found = &offer.predicted_price;
        assert_eq!(
            (median(&offer), found.count, &*found.basis),
            (wanted, count, &basis.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()[..])
        );
        assert_eq!(found.median.currency, "EUR");
        assert!(found.low.micros <= found.median.micros && found.median.micros <= found.high.micros);
        market.move_to(id, Status::Removed).await;
    }
    let dollars = Money { currency: "USD".to_owned(), ..money(700) };
    let price = Price { kind: Some(dollars.into()), ..Price::default() };
    let foreign = market.publish(&Offer { price: Some(price).into(), ..bike(1) }).await;
    assert!(!market.settled(foreign).await.predicted_price.is_set(), "euros say nothing about dollars");
    let toy = market.publish(&Offer { category: "toys".to_owned(), ..bike(5) }).await;
    assert!(!market.settled(toy).await.predicted_price.is_set(), "too little is known of toys");
    market.close().await;
}

pub(crate) async fn a_prediction_changes_only_when_it_moves(ground: Ground) {
    let prices = prices(&ground).await;
    let market = open(&ground, &prices).await;
    let mut others = Vec::new();
    for n in 0..20 {
        others.push(market.publish(&bike(1000 + n)).await);
    }
    follow(&ground, &prices, &market, &others).await;
    let id = market.publish(&bike(700)).await;
    let first = market.eventually("it is predicted", id, |offer| offer.predicted_price.is_set()).await;
    assert_eq!(
        (median(&first), first.predicted_price.confidence),
        (1009, Confidence::CONFIDENCE_MEDIUM.into())
    );

    for other in &others {
        market.change(*other, |offer| offer.price = Some(fixed(1030)).into()).await;
    }
    follow(&ground, &prices, &market, &others).await;
    let visited = market.standing(id, "price").await.last.unwrap().at;
    ground.pass(DAY * 2);
    eventually("it is visited again", async || {
        market.standing(id, "price").await.last.filter(|last| last.at > visited)
    })
    .await;
    assert_eq!(market.settled(id).await.version, first.version, "two percent make no difference");

    for other in &others[..15] {
        market.change(*other, |offer| offer.price = Some(fixed(1200)).into()).await;
    }
    follow(&ground, &prices, &market, &others).await;
    ground.pass(DAY * 2);
    let second = market.eventually("it moves", id, |offer| offer.version > first.version).await;
    assert_eq!(median(&second), 1200);

    for other in &others[..15] {
        market.move_to(*other, Status::Sold).await;
    }
    follow(&ground, &prices, &market, &others).await;
    ground.pass(DAY * 2);
    market.eventually("what is left is too little", id, |offer| !offer.predicted_price.is_set()).await;
    market.close().await;
}

pub(crate) async fn what_is_kept_of_prices_is_what_a_look_at_every_offer_finds(ground: Ground) {
    let market = Market::open(&ground, catalogue(), Vec::new()).await;
    let mut ids: Vec<OfferId> = Vec::new();
    let mut dice = 12345_u64;
    let mut roll = |sides: u64| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % sides
    };
    let first = prices(&ground).await;
    for step in 0..300 {
        let pick = |sides| if ids.is_empty() { 0 } else { sides as usize % ids.len() };
        let euros = 100 + roll(900) as i64;
        match roll(10) {
            0..=4 => {
                let brand = ["Mifa", "Diamant"][roll(2) as usize];
                let offer = placed(with(bike(euros), "brand", brand), ["berlin", "bonn"][roll(2) as usize]);
                let condition = [Condition::Unspecified, Condition::Used][roll(2) as usize].into();
                ids.push(market.publish(&Offer { condition, ..offer }).await);
            }
            5 | 6 if !ids.is_empty() => {
                let id = ids[pick(roll(1000))];
                if market.get(id).await.status != Status::Removed {
                    market.change(id, |offer| offer.price = Some(fixed(euros)).into()).await;
                }
            }
            7 if !ids.is_empty() => {
                let id = ids[pick(roll(1000))];
                if market.get(id).await.status != Status::Removed {
                    market.change(id, |offer| *offer = placed(offer.clone(), "berlin")).await;
                }
            }
            8 | 9 if !ids.is_empty() => {
                let id = ids[pick(roll(1000))];
                let to = match market.get(id).await.status.as_known().unwrap() {
                    Status::STATUS_ACTIVE => [Status::Sold, Status::Removed][roll(2) as usize],
                    _ => Status::Active,
                };
                market.move_to(id, to).await;
            }
            _ => {}
        }
        if step % 50 == 49 {
            // Another process goes on where one stopped.
            let another = prices(&ground).await;
            for partition in 0..PARTITIONS {
                another.follow_page(partition, Duration::ZERO).await.unwrap();
            }
        }
    }
    follow(&ground, &first, &market, &ids).await;
    let mut offers = Vec::new();
    for id in &ids {
        offers.push(market.get(*id).await);
    }
    let mut compared = 0;
    for offer in &offers {
        let found = prices(&ground).await.predict(offer).await.unwrap().unwrap();
        let is_alike = |other: &&Offer| {
            let is = |name: &str| found.basis.iter().any(|basis| basis == name);
            other.id != offer.id
                && other.status == Status::Active
                && (!is("place") || other.place.place_id == offer.place.place_id)
                && (!is("attributes.brand")
                    || (other.attributes == offer.attributes && other.condition == offer.condition))
        };
        let mut amounts: Vec<i64> = offers.iter().filter(is_alike).map(euros).collect();
        amounts.sort_unstable();
        assert_eq!(found.count as usize, amounts.len(), "{found:?}");
        let middle = (amounts[(amounts.len() - 1) / 2] + amounts[amounts.len() / 2]) * 500_000;
        assert_eq!(found.median, middle, "{found:?}");
        compared += usize::from(found.basis.len() > 2);
    }
    assert!(compared > 10, "{compared} offers were compared by more than one thing");
    market.close().await;
}

fn euros(offer: &Offer) -> i64 {
    use wire::torg::offers::v1::__buffa::oneof::price::Kind;
    match offer.price.kind.as_ref().unwrap() {
        Kind::Fixed(money) => money.micros / 1_000_000,
        _ => panic!("all prices are fixed here"),
    }
}

pub(crate) async fn offers_that_were_there_before_count_too(ground: Ground) {
    let market = Market::open(&ground, catalogue(), Vec::new()).await;
    let mut ids = Vec::new();
    for n in 0..12 {
        ids.push(market.publish(&bike(100 + n)).await);
    }
    market.move_to(ids[11], Status::Sold).await;
    exported(&ground, &market, &ids).await;
    // Nobody followed the topic, and its messages are gone.
    let short = TopicSpec::new(TOPIC, PARTITIONS).retention(Retention::of_time(DAY));
    ground.topics.create(&short).await.unwrap();
    ground.pass(DAY * 3);
    ground.topics.trim(TOPIC, ground.now().as_ms()).await.unwrap();
    assert!(ground.topics.describe(TOPIC).await.unwrap().partitions.iter().any(|part| part.first > 0));

    let prices = prices(&ground).await;
    prices.fill(SHARDS).await.unwrap();
    prices.fill(SHARDS).await.unwrap();
    for partition in 0..PARTITIONS {
        while prices.follow_page(partition, Duration::ZERO).await.unwrap() {}
    }
    let found = prices.predict(&bike(1)).await.unwrap().unwrap();
    assert_eq!((found.count, found.median), (11, 105_000_000));

    for id in &ids[..11] {
        market.move_to(*id, Status::Sold).await;
    }
    follow(&ground, &prices, &market, &ids[..11]).await;
    assert_eq!(prices.predict(&bike(1)).await.unwrap(), None);
    for table in ["price_groups", "price_members"] {
        let rows = ground.store.scan(&ground.store.schema().table(table).unwrap().scan()).await.unwrap().rows;
        assert!(rows.is_empty(), "{table} keeps nothing of offers that are not live: {rows:?}");
    }
    market.close().await;
}

/// Everything that follows prices, in two processes.
fn run(prices: [Prices; 2]) -> (watch::Sender<bool>, Vec<JoinHandle<()>>) {
    let (stop, _) = watch::channel(false);
    let mut running = Vec::new();
    for prices in prices {
        for partition in 0..prices.partitions() {
            let (prices, stopped) = (prices.clone(), stop.subscribe());
            running.push(tokio::spawn(async move { prices.follow(partition, SHARDS, stopped).await }));
        }
    }
    (stop, running)
}

async fn eventually_counted(prices: &Prices, wanted: u32) {
    eventually("all are counted", async || {
        let found = prices.predict(&bike(1)).await.unwrap();
        found.filter(|found| found.count == wanted)
    })
    .await;
}

pub(crate) async fn processes_that_follow_at_once_count_each_change_once(ground: Ground) {
    let market = Market::open(&ground, catalogue(), Vec::new()).await;
    let both = [prices(&ground).await, prices(&ground).await];
    let (stop, running) = run(both.clone());
    let mut ids = Vec::new();
    for n in 0..40 {
        ids.push(market.publish(&bike(100 + n)).await);
        if n % 3 == 0 {
            market.change(ids[0], |offer| offer.price = Some(fixed(500 + n)).into()).await;
        }
    }
    eventually_counted(&both[0], 40).await;
    stop.send_replace(true);
    for task in running {
        task.await.unwrap();
    }

    // While nobody followed, changes were made and trimmed.
    for id in &ids[..10] {
        market.move_to(*id, Status::Sold).await;
    }
    exported(&ground, &market, &ids).await;
    let short = TopicSpec::new(TOPIC, PARTITIONS).retention(Retention::of_time(DAY));
    ground.topics.create(&short).await.unwrap();
    ground.pass(DAY * 3);
    ground.topics.trim(TOPIC, ground.now().as_ms()).await.unwrap();
    let (stop, running) = run(both.clone());
    eventually_counted(&both[1], 30).await;
    stop.send_replace(true);
    for task in running {
        task.await.unwrap();
    }
    market.close().await;
}
