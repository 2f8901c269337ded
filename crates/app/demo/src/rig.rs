//! An in-memory demo for tests of the simulated users.

use tokio::sync::watch;
use topics::Topics;

use super::clock::{DemoClock, made_at_ms};
use super::fill::Filling;
use super::folder::Folder;
use super::people::People;
use super::site::Site;
use node::config::Config;
use node::environment::Environment;
use node::parts;
use node::roles::stages::Marketplace;

/// The production environment with the clock of a demo.
struct Clocked(DemoClock);

impl Environment for Clocked {
    fn clock(&self) -> clock::Clock {
        self.0.clock()
    }
}

pub(super) struct Rig {
    pub(super) folder: Folder,
    pub(super) people: People,
    pub(super) topics: Topics,
    clock: DemoClock,
    site: Site,
    market: api::Market,
    _closing: watch::Sender<bool>,
    _place: tempfile::TempDir,
}

impl Rig {
    /// A demo without offers and without background tasks.
    pub(super) async fn new() -> Rig {
        let place = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        (config.store.url, config.files.url) = ("memory:".into(), "memory:".into());
        config.feeds.spool_dir = place.path().to_owned();
        let folder = Folder::take(&place.path().join("demo")).unwrap().open(1_700_000_000_000).unwrap();
        let clock = DemoClock::standing_at(made_at_ms(folder.started_ms, 0, 100), 1);
        let store = parts::open_store(&config).await.unwrap();
        let topics = parts::open_topics(&config, &store).await.unwrap();
        let (closing, ctl) = (watch::Sender::new(false), parts::open_ctl(&store));
        let around = Clocked(clock.clone());
        let opened = Marketplace::open_in(&around, &config, &store, &topics, &ctl, closing.subscribe()).await;
        let market = opened.unwrap().market;
        let (opinions, site) = (market.opinions.topic.clone(), Site::at("127.0.0.1:80".parse().unwrap()));
        let people = People::new(market.offers.clone(), opinions, clock.clone(), site);
        Rig { folder, people, topics, clock, site, market, _closing: closing, _place: place }
    }

    /// A `Filling` that has already created `made` of `total` offers.
    pub(super) fn filling(&self, made: u32, total: u32) -> Filling {
        Filling {
            offers: self.market.offers.clone(),
            people: self.people.clone(),
            folder: self.folder.clone(),
            clock: self.clock.clone(),
            site: self.site,
            total,
            made,
            built_in: Vec::new(),
        }
    }
}
