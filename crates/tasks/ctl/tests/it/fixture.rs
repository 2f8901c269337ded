//! A store with values, and a clock that a case moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use clock::{Clock, Time};
use ctl::{Change, Changed, Ctl, Error, Settings};
use store::{Memory, Schema, Store, StoreOptions};
use triggers::{Parameter, Value};

/// Where values are kept.
#[derive(Clone, Copy)]
pub(crate) enum Engine {
    /// In memory.
    Memory,
    /// In a folder.
    Fjall,
    /// In a database.
    Postgres,
}

/// Values, and all they need.
pub(crate) struct Fixture {
    pub(crate) ctl: Ctl,
    pub(crate) now: Arc<AtomicI64>,
    _folder: Option<tempfile::TempDir>,
}

impl Fixture {
    /// An empty one; `None` if this machine does not have the engine.
    pub(crate) async fn on(engine: Engine) -> Option<Self> {
        let schema = Schema::new(1, ctl::tables()).unwrap();
        let mut folder = None;
        let store = match engine {
            Engine::Memory => Store::over(Arc::new(Memory::new(schema)), &StoreOptions::default()),
            Engine::Fjall => {
                let made = folder.insert(tempfile::tempdir().unwrap());
                open(&format!("fjall:{}", made.path().join("store").display()), schema).await
            }
            Engine::Postgres => open(&testkit::postgres()?.fresh_database(), schema).await,
        };
        let now = Arc::new(AtomicI64::new(1_700_000_000_000));
        let told = Arc::clone(&now);
        let clock = Clock::new(move || Time::from_ms(told.load(Ordering::SeqCst)));
        let settings = Settings { shards: 4, history_kept: 100 };
        Some(Self { ctl: Ctl::new(store, clock, settings), now, _folder: folder })
    }

    /// The same values, kept in another way.
    pub(crate) fn with(&self, history_kept: u64) -> Ctl {
        let settings = Settings { history_kept, ..self.ctl.settings() };
        Ctl::new(self.ctl.store().clone(), Clock::starting_at(Time::from_ms(0)), settings)
    }

    pub(crate) async fn change(&self, change: Change) -> Result<Changed, Error> {
        self.ctl.set(vec![change], "anna", "").await.map(|mut done| done.remove(0))
    }

    pub(crate) async fn value(&self, parameter: &str) -> Option<Value> {
        self.ctl.get(&name(parameter)).await.unwrap().map(|current| current.value)
    }
}

async fn open(url: &str, schema: Schema) -> Store {
    let options = StoreOptions { cache_bytes: 16 << 20, free_bytes_min: 1 << 20, ..StoreOptions::default() };
    Store::open(&url.parse().unwrap(), schema, &options).await.unwrap()
}

pub(crate) fn name(text: &str) -> Parameter {
    text.parse().unwrap()
}

/// Sets a parameter to a number.
pub(crate) fn number(parameter: &str, value: i64) -> Change {
    Change::set(name(parameter), Value::Number(value))
}
