//! A marketplace with feeds in memory and in one process.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use catalog::Catalogue;
use feeds::FeedName;
use feeds::{Config, Dependencies, Download, Feeds, Files, Process, StoredFeed};
use fetch::Client;
use geo::Geocoder;
use object_store::memory::InMemory;
use offers::{Offers, StoredOffer};
use store::{Memory, Read as _, Schema, Store, StoreOptions};
use tokio::sync::watch;
use tokio::task::JoinSet;
use topics::{TopicSpec, Topics};
use unify::Unifier;
use watcher::{Clock, Setup, Stage, Watcher};
use wire::torg::feeds::v1::load::{Origin, State};
use wire::torg::feeds::v1::{Feed, Load};
use wire::torg::offers::v1::{Offer, Status};

/// Partitions of every topic.
pub(crate) const PARTITIONS: u32 = 4;
const SHARDS: u32 = 4;

static CATALOGUE: LazyLock<Arc<Catalogue>> = LazyLock::new(|| Arc::new(Catalogue::builtin().unwrap()));
static UNIFIER: LazyLock<Arc<Unifier>> = LazyLock::new(|| {
    Arc::new(Unifier::new(Arc::clone(&CATALOGUE), Arc::new(geo::Places::builtin().unwrap())).unwrap())
});

/// The tables of everything.
pub(crate) fn schema() -> Schema {
    let tables = topics::tables().into_iter().chain(watcher::tables());
    Schema::new(1, tables.chain(offers::tables()).chain(feeds::tables())).unwrap()
}

/// The topics of everything.
pub(crate) async fn make_topics(store: &Store) {
    let topics = Topics::in_store(store);
    for topic in ["offers", "feed.offers", "feed.results", "feed.dead"] {
        topics.create(&TopicSpec::new(topic, PARTITIONS)).await.unwrap();
    }
}

/// Offers and feeds of a store.
pub(crate) async fn open(
    store: &Store,
    files: Files,
    clock: &Clock,
    loads_kept: u64,
    geocoder: Option<Arc<dyn Geocoder>>,
    batch_offers: u32,
) -> watcher::Result<(Offers, Feeds)> {
    let topics = Topics::in_store(store);
    let config = watcher::Config { shards: SHARDS, ..watcher::Config::default() };
    let setup: Setup<'_, StoredOffer> = Setup {
        topic: Some((&topics, "offers")),
        clock: clock.clone(),
        config: config.clone(),
        ..Setup::default()
    };
    let parts = offers::Dependencies {
        store: store.clone(),
        topics: topics.clone(),
        watcher: Watcher::open(store, setup).await?,
        catalogue: Arc::clone(&CATALOGUE),
        config: offers::Config::default(),
    };
    let offers = Offers::new(parts, [7; 32]);
    let setup: Setup<'_, StoredFeed> = Setup { clock: clock.clone(), config, ..Setup::default() };
    let parts = Dependencies {
        watcher: Watcher::open(store, setup).await?,
        store: store.clone(),
        topics,
        offers: Arc::new(offers.clone()),
        files,
        unifier: Arc::clone(&UNIFIER),
        geocoder,
        load_hook: None,
        config: Config {
            offers_topic: "feed.offers".to_owned(),
            results_topic: "feed.results".to_owned(),
            dead_letter_topic: "feed.dead".to_owned(),
            loads_kept,
            batch_offers,
            batches_ahead: 2,
        },
    };
    Ok((offers, Feeds::new(parts)))
}

/// The same feeds, worked on by stages. Links are fetched if there is a client.
pub(crate) fn with_stages(feeds: &Feeds, client: Option<Client>) -> Feeds {
    let (small, large) = (Process::small(feeds.clone()), Process::large(feeds.clone()));
    let limits = [("process".to_owned(), small.limits()), ("process-large".to_owned(), large.limits())];
    let mut stages: Vec<Arc<dyn Stage<StoredFeed>>> = vec![Arc::new(small), Arc::new(large)];
    if let Some(client) = client {
        stages.push(Arc::new(Download::new(feeds.clone(), client)));
    }
    feeds.with_watcher(feeds.watcher().with_stages(stages, &limits.into()).unwrap())
}

/// Runs everything that goes on by itself in one process.
pub(crate) fn run(name: &str, feeds: &Feeds, stop: &watch::Sender<bool>) -> JoinSet<()> {
    let watcher = feeds.watcher().clone();
    let mut running = JoinSet::new();
    let (name, hears) = (name.to_owned(), stop.subscribe());
    running.spawn(async move { watcher.run(name, hears).await.unwrap() });
    for partition in 0..PARTITIONS {
        let (loads, hears) = (feeds.clone(), stop.subscribe());
        running.spawn(async move { loads.follow_loads(partition, hears).await });
        let (feeds, hears) = (feeds.clone(), stop.subscribe());
        running.spawn(async move { feeds.follow_results(partition, hears).await });
    }
    let (ends, hears) = (feeds.clone(), stop.subscribe());
    running.spawn(async move { ends.follow_ends(hears).await });
    let (cleaned, hears) = (feeds.clone(), stop.subscribe());
    running.spawn(async move { cleaned.run_cleaning(hears).await });
    running
}

/// A marketplace that runs, all of it in one process.
pub(crate) struct Market {
    pub(crate) offers: Offers,
    pub(crate) feeds: Feeds,
    /// Where files are.
    pub(crate) storage: Arc<InMemory>,
    stop: watch::Sender<bool>,
    running: JoinSet<()>,
    _spool: tempfile::TempDir,
}

impl Market {
    pub(crate) async fn start() -> Self {
        Self::start_with(None, &Clock::system(), None).await
    }

    /// A market whose loads are sent in batches of up to this many offers.
    pub(crate) async fn start_with_batches(offers: u32) -> Self {
        Self::start_as(None, &Clock::system(), None, offers).await
    }

    /// A market with a client for links, a clock, and a geocoder.
    pub(crate) async fn start_with(
        client: Option<Client>,
        clock: &Clock,
        geocoder: Option<Arc<dyn Geocoder>>,
    ) -> Self {
        Self::start_as(client, clock, geocoder, 50).await
    }

    async fn start_as(
        client: Option<Client>,
        clock: &Clock,
        geocoder: Option<Arc<dyn Geocoder>>,
        batch_offers: u32,
    ) -> Self {
        let store = Store::over(Arc::new(Memory::new(schema())), &StoreOptions::default());
        make_topics(&store).await;
        let spool = tempfile::tempdir().unwrap();
        let storage = Arc::new(InMemory::new());
        let files = Files::new(Arc::clone(&storage) as _, spool.path()).unwrap();
        let (offers, feeds) = open(&store, files, clock, 3, geocoder, batch_offers).await.unwrap();
        let stop = watch::Sender::new(false);
        let feeds = with_stages(&feeds, client);
        let running = run("test", &feeds, &stop);
        Self { offers, feeds, storage, stop, running, _spool: spool }
    }

    /// Hands in a file; the number of its load.
    pub(crate) async fn upload(&self, feed: &FeedName, file: &str) -> u64 {
        self.upload_bytes(feed, file.as_bytes().to_vec()).await
    }

    /// Hands in any file; the number of its load.
    pub(crate) async fn upload_bytes(&self, feed: &FeedName, file: Vec<u8>) -> u64 {
        let mut spool = self.feeds.files().spool().unwrap();
        spool.write(&Bytes::from(file)).unwrap();
        self.feeds.upload(feed, spool.finish().unwrap(), Origin::ORIGIN_UPLOAD).await.unwrap()
    }

    /// Waits until a load has an end, or waits itself.
    pub(crate) async fn ended(&self, feed: &FeedName, number: u64) -> Load {
        for _ in 0..1200 {
            let load = self.feeds.load(feed, number).await.unwrap();
            let is_under_way = [State::STATE_QUEUED, State::STATE_READING, State::STATE_APPLYING]
                .contains(&load.state.as_known().unwrap());
            if !is_under_way {
                return load;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the load never ended: {:?}", self.feeds.load(feed, number).await);
    }

    /// Uploads and waits.
    pub(crate) async fn load(&self, feed: &FeedName, file: &str) -> Load {
        let number = self.upload(feed, file).await;
        self.ended(feed, number).await
    }

    /// The offers of a feed that are shown, by their external ids.
    pub(crate) async fn live(&self, feed: &FeedName) -> Vec<(String, Offer)> {
        live(&self.offers, feed).await
    }

    pub(crate) async fn feed(&self, seller: &str, namespace: &str) -> FeedName {
        let feed = Feed { seller: seller.to_owned(), namespace: namespace.to_owned(), ..Feed::default() };
        self.feeds.create(feed).await.unwrap();
        FeedName { seller: seller.to_owned(), namespace: namespace.to_owned() }
    }

    pub(crate) async fn stop(mut self) {
        self.stop.send_replace(true);
        while let Some(ended) = self.running.join_next().await {
            ended.unwrap();
        }
    }
}

/// The offers of a feed that are shown, by their external ids.
pub(crate) async fn live(offers: &Offers, feed: &FeedName) -> Vec<(String, Offer)> {
    let mut live = Vec::new();
    for shard in 0..SHARDS {
        let scan = <StoredOffer as watcher::Entity>::scan(shard);
        for row in offers.store().scan(&scan).await.unwrap().rows {
            let stored = <StoredOffer as watcher::Entity>::decode(&row.value).unwrap();
            if let Some((namespace, external)) = of_feed(&stored.offer)
                && namespace == feed.namespace
                && stored.offer.seller == feed.seller
                && stored.status() == Status::Active
            {
                live.push((external, Offer { version: row.version, ..stored.offer }));
            }
        }
    }
    live.sort_by(|a, b| a.0.cmp(&b.0));
    live
}

/// The namespace and the external id of an offer that came by a feed.
pub(crate) fn of_feed(offer: &Offer) -> Option<(String, String)> {
    use wire::torg::offers::v1::__buffa::oneof::source::Kind;
    match offer.source.as_option()?.kind.as_ref()? {
        Kind::Feed(feed) => Some((feed.namespace.clone(), feed.external_id.clone())),
        Kind::Manual(_) => None,
    }
}

/// A file of sofas and books: `(id, title, price)`.
pub(crate) fn yml(offers: &[(&str, &str, u32)]) -> String {
    let offer = |(id, title, price): &(&str, &str, u32)| {
        format!(
            "<offer id=\"{id}\" available=\"true\"><name>{title}</name><price>{price}</price><currencyId>RUB</currencyId>\
             <categoryId>1</categoryId><picture>https://example.com/{id}.jpg</picture>\
             <description>Хороший диван, в отличном состоянии, почти новый.</description></offer>\n"
        )
    };
    let offers: String = offers.iter().map(offer).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<yml_catalog date=\"2026-11-15 12:00\"><shop><name>Мебель</name>\
         <currencies><currency id=\"RUB\" rate=\"1\"/></currencies>\
         <categories><category id=\"1\">Диваны</category></categories>\n<offers>\n{offers}</offers></shop></yml_catalog>"
    )
}
