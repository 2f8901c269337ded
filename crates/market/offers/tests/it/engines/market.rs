//! A marketplace on each engine, with a clock that stands still.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use offers::status::Mover;
use offers::{Call, Config, Dependencies, Move, OfferId, Offers, OpinionTopics, Result, StoredOffer};
use store::{Memory, Store, StoreOptions};
use tokio::sync::watch;
use topics::{KafkaOptions, TopicSpec, Topics};
use watcher::{Clock, Setup, Time, Watcher};
use wire::torg::offers::v1::{Author, Money, Offer, Price, Source, Status, author};

use wire::torg::offers::v1::source as source_kinds;

use crate::support::{catalogue, open, schema};

/// The engines of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Memory,
    Fjall,
    Postgres,
}

/// A day.
pub(crate) const DAY: Duration = Duration::from_secs(24 * 3600);
/// The topic of changes.
pub(crate) const TOPIC: &str = "offers";
const START_MS: i64 = 1_700_000_000_000;
const CATEGORIES: &str = r#"
[category.transport]
name = { en = "Transport" }
[category."transport/bikes"]
name = { en = "Bikes" }
[category."transport/cars"]
name = { en = "Cars" }
[category."transport/cars/new"]
name = { en = "New cars" }
[category."transport/cars/old"]
name = { en = "Old cars" }
[category.toys]
name = { en = "Toys" }
"#;

/// A marketplace.
pub(crate) struct Market {
    pub(crate) offers: Offers,
    pub(crate) topics: Topics,
    pub(crate) opinions: OpinionTopics,
    pub(crate) store: Store,
    now_ms: Arc<AtomicI64>,
    stop: watch::Sender<bool>,
    _folder: Option<tempfile::TempDir>,
}

impl Market {
    /// An empty one; `None` if this machine lacks what the engine needs.
    pub(crate) async fn on(engine: Engine) -> Option<Self> {
        let mut folder = None;
        let store = match engine {
            Engine::Memory => Store::over(Arc::new(Memory::new(schema())), &StoreOptions::default()),
            Engine::Fjall => {
                let made = folder.insert(tempfile::tempdir().unwrap());
                open(&format!("fjall:{}", made.path().join("store").display())).await
            }
            Engine::Postgres => open(&testkit::postgres()?.fresh_database()).await,
        };
        let topics = Topics::in_store(&store);
        Some(Self::over(store, topics, folder).await)
    }

    /// An empty one in memory, whose topics are in Kafka; `None` if there is none here.
    pub(crate) async fn on_kafka() -> Option<Self> {
        let broker = testkit::kafka()?;
        let store = Store::over(Arc::new(Memory::new(schema())), &StoreOptions::default());
        let (bootstrap, prefix) = (broker.bootstrap(), format!("{}.", testkit::fresh_name("market")));
        let options = KafkaOptions { prefix, ..KafkaOptions::default() };
        let topics = Topics::open(&format!("kafka://{bootstrap}"), &store, options).await.unwrap();
        Some(Self::over(store, topics, None).await)
    }

    async fn over(store: Store, topics: Topics, folder: Option<tempfile::TempDir>) -> Self {
        let opinions =
            OpinionTopics { topic: "opinions".to_owned(), dead_letters: "opinions.dead".to_owned() };
        for topic in [TOPIC, &opinions.topic, &opinions.dead_letters] {
            topics.create(&TopicSpec::new(topic, 4)).await.unwrap();
        }
        let now_ms = Arc::new(AtomicI64::new(START_MS));
        let clock = {
            let now_ms = Arc::clone(&now_ms);
            Clock::new(move || Time::from_ms(now_ms.load(Ordering::SeqCst)))
        };
        let setup = Setup { topic: Some((&topics, TOPIC)), clock, ..Setup::default() };
        let watcher: Watcher<StoredOffer> = Watcher::open(&store, setup).await.unwrap();
        let (stop, stopped) = watch::channel(false);
        tokio::spawn({
            let watcher = watcher.clone();
            async move { watcher.run("market".to_owned(), stopped).await }
        });
        let parts = Dependencies {
            store: store.clone(),
            topics: topics.clone(),
            watcher,
            catalogue: catalogue(CATEGORIES),
            config: Config::default(),
        };
        let offers = Offers::new(parts, [7; 32]);
        Self { offers, topics, opinions, store, now_ms, stop, _folder: folder }
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, time: Duration) {
        self.now_ms.fetch_add(time.as_millis() as i64, Ordering::SeqCst);
    }

    /// Publishes an offer.
    pub(crate) async fn publish(&self, offer: &Offer) -> OfferId {
        self.pass(Duration::from_millis(1));
        self.offers.create(&seller(&offer.seller), offer).await.unwrap().id.parse().unwrap()
    }

    /// Moves an offer.
    pub(crate) async fn move_to(&self, by: Mover, id: OfferId, to: Status) -> Result<Offer> {
        self.pass(Duration::from_millis(1));
        self.offers.move_to(&Call::by(author("ann"), by), id, None, &Move::to(to)).await
    }
}

impl Drop for Market {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

/// A call of a seller.
pub(crate) fn seller(name: &str) -> Call {
    Call::by(author(name), Mover::Seller)
}

pub(crate) fn author(name: &str) -> Author {
    Author { kind: author::Kind::KIND_SELLER.into(), name: name.to_owned(), ..Author::default() }
}

/// An offer of `ann`.
pub(crate) fn bike(title: &str, euros: i64) -> Offer {
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

/// An offer of a feed of `ann`.
pub(crate) fn of_feed(external: &str) -> Offer {
    let (namespace, external_id) = ("shop".to_owned(), external.to_owned());
    let feed = source_kinds::Feed { namespace, external_id, ..source_kinds::Feed::default() };
    let source = Source { kind: Some(feed.into()), ..Source::default() };
    Offer { source: Some(source).into(), ..bike("bike of a feed", 100) }
}

pub(crate) fn status(offer: &Offer) -> Status {
    offer.status.as_known().unwrap()
}
