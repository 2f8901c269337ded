//! A store that can be away.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use store::engine::{ApplyError, Engine, Group, Verdict};
use store::{BatchId, Error, Key, Memory, Page, Read, Row, Scan, Schema, Store, StoreOptions};

/// An engine in memory that answers, refuses to, or leaves its callers waiting.
#[derive(Clone)]
pub(crate) struct Away {
    memory: Memory,
    how: Arc<AtomicU8>,
}

const REFUSES: u8 = 1;
const IS_SILENT: u8 = 2;

impl Away {
    pub(crate) fn new() -> Self {
        let schema = Schema::new(1, access::tables()).unwrap();
        Self { memory: Memory::new(schema), how: Arc::default() }
    }

    pub(crate) fn store(&self) -> Store {
        Store::over(Arc::new(self.clone()), &StoreOptions::default())
    }

    pub(crate) fn refuses(&self) {
        self.how.store(REFUSES, Ordering::Relaxed);
    }

    pub(crate) fn is_silent(&self) {
        self.how.store(IS_SILENT, Ordering::Relaxed);
    }

    pub(crate) fn answers(&self) {
        self.how.store(0, Ordering::Relaxed);
    }
}

#[async_trait]
impl Read for Away {
    async fn get(&self, keys: &[Key]) -> store::Result<Vec<Option<Row>>> {
        match self.how.load(Ordering::Relaxed) {
            REFUSES => Err(Error::Refused { detail: "away".to_owned() }),
            IS_SILENT => std::future::pending().await,
            _ => self.memory.get(keys).await,
        }
    }

    async fn scan(&self, scan: &Scan) -> store::Result<Page> {
        self.memory.scan(scan).await
    }
}

#[async_trait]
impl Engine for Away {
    fn name(&self) -> &'static str {
        "memory that can be away"
    }

    fn schema(&self) -> &Schema {
        self.memory.schema()
    }

    async fn snapshot(&self) -> store::Result<Box<dyn Read>> {
        self.memory.snapshot().await
    }

    async fn apply(&self, group: &Group) -> Result<Vec<Verdict>, ApplyError> {
        self.memory.apply(group).await
    }

    async fn resolve(&self, group: &Group) -> store::Result<bool> {
        self.memory.resolve(group).await
    }

    async fn applied(&self, batch: BatchId) -> store::Result<bool> {
        self.memory.applied(batch).await
    }

    async fn verify(
        &self,
        found: &mut (dyn FnMut(Error) + Send),
    ) -> store::Result<BTreeMap<&'static str, u64>> {
        self.memory.verify(found).await
    }

    async fn close(&self) -> store::Result<()> {
        Ok(())
    }
}
