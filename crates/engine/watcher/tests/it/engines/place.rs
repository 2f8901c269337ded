//! Where a store is kept, on each engine.

use std::sync::Arc;

use store::{Memory, Schema, Store, StoreOptions};

use crate::engines::parcel::{LABELS, PARCELS};

/// The engines of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Memory,
    Fjall,
    Postgres,
}

/// An empty place for a store, which outlives the stores that are opened on it.
pub(crate) enum Place {
    Memory(Store),
    Fjall(tempfile::TempDir),
    Postgres(String),
}

impl Place {
    /// A fresh place; `None` if this machine lacks what the engine needs.
    pub(crate) fn on(engine: Engine) -> Option<Self> {
        Some(match engine {
            Engine::Memory => {
                Self::Memory(Store::over(Arc::new(Memory::new(schema())), &StoreOptions::default()))
            }
            Engine::Fjall => Self::Fjall(tempfile::tempdir().unwrap()),
            Engine::Postgres => Self::Postgres(testkit::postgres()?.fresh_database()),
        })
    }

    /// The store. The embedded engine has it open once at a time: close it before it is opened
    /// again.
    pub(crate) async fn open(&self) -> Store {
        match self {
            Self::Memory(store) => store.clone(),
            Self::Fjall(folder) => open(&format!("fjall:{}", folder.path().join("store").display())).await,
            Self::Postgres(url) => open(url).await,
        }
    }

    /// The store as another process sees it, where there can be one.
    pub(crate) async fn open_beside(&self, store: &Store) -> Store {
        match self {
            Self::Memory(_) | Self::Fjall(_) => store.clone(),
            Self::Postgres(url) => open(url).await,
        }
    }

    /// Closes the store and opens it again, as after a restart. Memory does not survive one: there
    /// it is the same store.
    pub(crate) async fn reopen(&self, store: Store) -> Store {
        if !matches!(self, Self::Memory(_)) {
            store.close().await.unwrap();
        }
        drop(store);
        self.open().await
    }
}

async fn open(url: &str) -> Store {
    let options = StoreOptions { cache_bytes: 16 << 20, free_bytes_min: 1 << 20, ..StoreOptions::default() };
    Store::open(&url.parse().unwrap(), schema(), &options).await.unwrap()
}

fn schema() -> Schema {
    let tables = watcher::tables().into_iter().chain(topics::tables());
    Schema::new(1, tables.chain([PARCELS.def(), LABELS.def()])).unwrap()
}
