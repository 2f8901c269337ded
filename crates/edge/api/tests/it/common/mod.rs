//! Calls over a store in memory, callers and an offer.

use std::sync::{Arc, LazyLock};

use access::{Caller, Proof, Role, Roles};
use api::Market;
use catalog::Catalogue;
use offers::{Config, Dependencies, Offers, OpinionTopics, StoredOffer};
use remote_stages::{StageRegistry, StageStore};
use store::{Memory, Schema, Store, StoreOptions};
use tokio::sync::watch;
use topics::{TopicSpec, Topics};
use watcher::{Setup, Watcher};
use wire::torg::offers::v1::{Condition, Money, Offer, Price, Values};

/// The topic of changes.
const TOPIC: &str = "offers";
static CATALOGUE: LazyLock<Arc<Catalogue>> = LazyLock::new(|| Arc::new(Catalogue::builtin().unwrap()));

pub(crate) async fn open() -> Market {
    let tables = watcher::tables()
        .into_iter()
        .chain(topics::tables())
        .chain(offers::tables())
        .chain(remote_stages::tables());
    let schema = Schema::new(1, tables).unwrap();
    let store = Store::over(Arc::new(Memory::new(schema)), &StoreOptions::default());
    let topics = Topics::in_store(&store);
    topics.create(&TopicSpec::new(TOPIC, 2)).await.unwrap();
    let setup = Setup { topic: Some((&topics, TOPIC)), ..Setup::default() };
    let watcher: Watcher<StoredOffer> = Watcher::open(&store, setup).await.unwrap();
    let (stop, stopped) = watch::channel(false);
    let closing = stopped.clone();
    tokio::spawn({
        let watcher = watcher.clone();
        async move {
            // Runs as long as the test does.
            let _stop = stop;
            watcher.run("test".to_owned(), stopped).await
        }
    });
    let (catalogue, config) = (Arc::clone(&CATALOGUE), Config::default());
    let opinions = OpinionTopics { topic: "opinions".into(), dead_letters: "opinions.dead".into() };
    let offers = Offers::new(Dependencies { store, topics, watcher, catalogue, config }, [1; 32]);
    let registry = StageStore::new(offers.store(), Vec::new());
    let registry = StageRegistry::open(&offers, registry, Vec::new()).await.unwrap();
    Market { offers, topic: TOPIC.into(), opinions, registry, closing }
}

pub(crate) fn caller(role: Role, seller: Option<&str>) -> Caller {
    Caller {
        subject: "somebody".into(),
        seller: seller.map(str::to_owned),
        anonymous: None,
        roles: Roles::NONE.with(role),
        proof: Proof::Token { issuer: "test".into() },
    }
}

pub(crate) fn ann() -> Caller {
    caller(Role::Seller, Some("ann"))
}

pub(crate) fn car() -> Offer {
    let attributes = [
        ("car-make", "bmw"),
        ("vehicle-model", "320i"),
        ("year", "2019"),
        ("mileage", "64000"),
        ("body", "sedan"),
        ("fuel", "petrol"),
        ("gearbox", "automatic"),
    ];
    let values = |value: &str| Values { values: vec![value.to_owned()], ..Values::default() };
    let money = Money { micros: 18_500_000_000, currency: "EUR".into(), ..Money::default() };
    Offer {
        category: "transport/cars".into(),
        title: "BMW 320i".into(),
        price: Price { kind: Some(money.into()), ..Price::default() }.into(),
        attributes: attributes.map(|(name, value)| (name.to_owned(), values(value))).into(),
        condition: Condition::CONDITION_USED.into(),
        ..Offer::default()
    }
}
