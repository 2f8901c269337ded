//! A marketplace on some ground, with some stages.

use std::sync::Arc;
use std::time::Duration;

use catalog::Catalogue;
use offers::status::Mover;
use offers::{Call, Config, Dependencies, Move, OfferId, Offers, StoredOffer};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use watcher::{Setup, Stage, VisitStatus, Waits, Watcher};
use wire::torg::offers::v1::{Author, Offer, Status, author};

use crate::ground::{Ground, SHARDS, TOPIC, eventually};

/// A marketplace that is open.
pub(crate) struct Market<'g> {
    pub(crate) offers: Offers,
    ground: &'g Ground,
    stop: watch::Sender<bool>,
    running: JoinHandle<()>,
}

impl<'g> Market<'g> {
    /// Opens.
    pub(crate) async fn open(
        ground: &'g Ground,
        catalogue: Arc<Catalogue>,
        stages: Vec<Arc<dyn Stage<StoredOffer>>>,
    ) -> Self {
        let setup = Setup {
            topic: Some((&ground.topics, TOPIC)),
            clock: ground.clock(),
            config: watcher::Config { shards: SHARDS, ..watcher::Config::default() },
            stages,
            seed: 7,
        };
        let watcher: Watcher<StoredOffer> = Watcher::open(&ground.store, setup).await.unwrap();
        let (stop, stopped) = watch::channel(false);
        let running = tokio::spawn({
            let watcher = watcher.clone();
            async move { watcher.run("market".to_owned(), stopped).await.unwrap() }
        });
        let (store, topics) = (ground.store.clone(), ground.topics.clone());
        let parts = Dependencies { store, topics, watcher, catalogue, config: Config::default() };
        Self { offers: Offers::new(parts, [7; 32]), ground, stop, running }
    }

    /// Closes; what is under way is finished.
    pub(crate) async fn close(self) {
        self.stop.send_replace(true);
        self.running.await.unwrap();
    }

    /// Publishes an offer.
    pub(crate) async fn publish(&self, offer: &Offer) -> OfferId {
        self.ground.pass(Duration::from_millis(1));
        self.offers.create(&seller(), offer).await.unwrap().id.parse().unwrap()
    }

    /// Changes what a seller sets.
    pub(crate) async fn change(&self, id: OfferId, change: impl Fn(&mut Offer)) -> Offer {
        self.ground.pass(Duration::from_millis(1));
        let (call, change) = (seller(), |offer: &mut Offer| {
            change(offer);
            Ok(())
        });
        self.offers.update(&call, id, None, change).await.unwrap()
    }

    /// Moves an offer as its seller.
    pub(crate) async fn move_to(&self, id: OfferId, to: Status) -> Offer {
        self.ground.pass(Duration::from_millis(1));
        self.offers.move_to(&seller(), id, None, &Move::to(to)).await.unwrap()
    }

    pub(crate) async fn get(&self, id: OfferId) -> Offer {
        self.offers.get(id).await.unwrap()
    }

    /// Waits until an offer is as it should be.
    pub(crate) async fn eventually(&self, what: &str, id: OfferId, is_so: impl Fn(&Offer) -> bool) -> Offer {
        eventually(what, async || Some(self.get(id).await).filter(|offer| is_so(offer))).await
    }

    /// How an offer stands with a stage.
    pub(crate) async fn standing(&self, id: OfferId, stage: &str) -> VisitStatus {
        self.offers.watcher().explain(&id).await.unwrap().stages.remove(stage).unwrap()
    }

    /// Waits until no stage has anything to do with an offer at this time.
    pub(crate) async fn settled(&self, id: OfferId) -> Offer {
        let rests = |standing: &VisitStatus| {
            matches!(standing.waits, Waits::NotInterested | Waits::Until(..) | Waits::Parked)
        };
        eventually("it is settled", async || {
            let explained = self.offers.watcher().explain(&id).await.unwrap();
            (explained.asking.is_none() && explained.stages.values().all(rests)).then_some(())
        })
        .await;
        self.get(id).await
    }

    /// Has every stage asked about every offer, and waits until that was done.
    pub(crate) async fn recrawl(&self) {
        self.offers.watcher().start_recrawl(None).await.unwrap();
        eventually("all were asked about", async || {
            self.offers.watcher().recrawl().await.unwrap().filter(|crawl| crawl.done)
        })
        .await;
    }
}

/// A call of the seller.
pub(crate) fn seller() -> Call {
    let kind = author::Kind::KIND_SELLER.into();
    Call::by(Author { kind, name: "ann".to_owned(), ..Author::default() }, Mover::Seller)
}
