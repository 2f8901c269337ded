//! A process: its own store over the shared memory, with its own bad luck.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use feeds::{Feeds, Files};
use fetch::{Client, Rules};
use offers::Offers;
use store::{Faults, Faulty, Memory, Store, StoreOptions};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use watcher::Clock;

use super::dice::seed_of;
use super::engine::Observed;
use super::evidence::Evidence;
use super::storage::Storage;
use super::web::Web;
use crate::common;

/// What stores suffer until it is calm.
const FAULTS: Faults = Faults {
    spurious_conflict: 20,
    error_not_applied: 15,
    error_but_applied: 15,
    unknown_not_applied: 10,
    read_error: 5,
    delay: 20,
    delay_max: Duration::from_secs(2),
};

/// What all processes share.
#[derive(Clone)]
pub(crate) struct Ground {
    pub(crate) seed: u64,
    pub(crate) evidence: Evidence,
    pub(crate) storage: Storage,
    pub(crate) web: Web,
    pub(crate) clock: Clock,
    memory: Memory,
    engines: Arc<Mutex<Vec<Faulty<Observed>>>>,
    faults: Arc<Mutex<Faults>>,
    spool: Arc<tempfile::TempDir>,
}

impl Ground {
    pub(crate) async fn new(seed: u64) -> Self {
        let ground = Self {
            seed,
            evidence: Evidence::default(),
            storage: Storage::new(seed),
            web: Web::new(seed),
            clock: Clock::starting_at(watcher::Time::from_ms(1_700_000_000_000)),
            memory: Memory::new(common::schema()),
            engines: Arc::default(),
            faults: Arc::default(),
            spool: Arc::new(tempfile::tempdir().unwrap()),
        };
        common::make_topics(&ground.store("maker")).await;
        *ground.faults.lock().unwrap() = FAULTS;
        ground
    }

    pub(crate) fn store(&self, name: &str) -> Store {
        let observed = Observed { memory: self.memory.clone(), evidence: self.evidence.clone() };
        let seed = seed_of(self.seed, name);
        let engine = Faulty::new(observed, seed, *self.faults.lock().unwrap());
        self.engines.lock().unwrap().push(engine.clone());
        Store::over(Arc::new(engine), &StoreOptions { id_seed: Some(seed), ..StoreOptions::default() })
    }

    /// Offers and feeds, as soon as the store lets them be opened.
    pub(crate) async fn open(&self, name: &str) -> (Offers, Feeds) {
        let store = self.store(name);
        loop {
            let files = Files::new(Arc::new(self.storage.clone()), self.spool.path()).unwrap();
            match common::open(&store, files, &self.clock, 1000, None, 50).await {
                // Whoever saves a feed knows which stages are interested.
                Ok((offers, feeds)) => {
                    let client = Client::over(Arc::new(self.web.clone()), Rules::default());
                    return (offers, common::with_stages(&feeds, Some(client)));
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }

    /// Nothing goes wrong any more.
    pub(crate) fn calm(&self) {
        *self.faults.lock().unwrap() = Faults::default();
        self.engines.lock().unwrap().iter().for_each(|engine| engine.set_faults(Faults::default()));
        self.storage.calm();
        self.web.calm();
    }

    pub(crate) fn fault_count(&self) -> u64 {
        let engines = self.engines.lock().unwrap();
        engines.iter().flat_map(|engine| engine.counts().into_values()).sum()
    }
}

/// A process that runs. Dropped, it is killed: only what is on its way to the store may still
/// arrive.
pub(crate) struct Process(JoinHandle<()>);

impl Process {
    pub(crate) fn start(ground: &Ground, name: String) -> Self {
        let ground = ground.clone();
        Self(tokio::spawn(async move {
            let (_, feeds) = ground.open(&name).await;
            let stop = watch::Sender::new(false);
            let mut running = common::run(&name, &feeds, &stop);
            while running.join_next().await.is_some() {}
        }))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.abort();
    }
}
