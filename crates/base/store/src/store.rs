//! The handle on a store.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use parking_lot::RwLock;
use rand::rngs::{StdRng, SysRng};
use rand::{Rng, SeedableRng, TryRng};
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant};

use crate::batch::{Batch, BatchId};
use crate::committer::{Committer, Outcome, Request, Turn};
use crate::engine::{Engine, Read};
use crate::failing::Failing;
use crate::hints::{HintSender, Hints};
use crate::key::Key;
use crate::limits::GET_KEYS_MAX;
use crate::options::StoreOptions;
use crate::row::Row;
use crate::scan::{Page, Scan};
use crate::table::{Schema, TableDef};
use crate::{Error, Result};

/// Ordered tables with atomic batches. Cheap to clone; all clones are one store.
///
/// - [`commit`](Self::commit) is all or nothing, durable when it answers, and its outcome is known.
/// - A read sees every batch that was acknowledged before it began.
/// - [`get`](Read::get) and [`scan`](Read::scan) see the latest state; [`snapshot`](Self::snapshot)
///   gives a consistent view.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Arc<dyn Engine>,
    /// `None` once the store is closed.
    requests: RwLock<Option<mpsc::Sender<Request>>>,
    lanes: Mutex<JoinSet<()>>,
    hints: HintSender,
    ids: Ids,
    queue_timeout: Duration,
    failing: Failing,
    damage: OnceLock<Error>,
    closing: watch::Sender<bool>,
}

impl Store {
    /// Must be called on a tokio runtime, where the committer runs.
    #[must_use]
    pub fn over(engine: Arc<dyn Engine>, options: &StoreOptions) -> Self {
        let hints = HintSender::new();
        engine.send_hints_to(hints.clone());
        let closing = watch::Sender::new(false);
        let failing = Failing::default();
        let (requests, lanes) = Committer::start(
            Arc::clone(&engine),
            hints.clone(),
            options,
            closing.subscribe(),
            failing.clone(),
        );
        let inner = Inner {
            engine,
            requests: RwLock::new(Some(requests)),
            lanes: Mutex::new(lanes),
            hints,
            ids: Ids::new(options.id_seed),
            queue_timeout: options.queue_timeout,
            failing,
            damage: OnceLock::new(),
            closing,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Applies a batch durably, or returns the keys whose checks failed.
    ///
    /// An error means that nothing was applied, except for [`Error::Unresolved`]. Dropping a polled
    /// future does not withdraw the batch.
    pub async fn commit(&self, mut batch: Batch) -> Result<Outcome> {
        batch.validate()?;
        for key in batch.checks().iter().map(|c| &c.0).chain(batch.writes().iter().map(|w| &w.0)) {
            self.require_table(key.table())?;
        }
        if batch.is_empty() {
            return Ok(Outcome::Applied);
        }
        let id = batch.id().unwrap_or_else(|| self.inner.ids.next());
        batch.set_id(id);
        let requests = self.inner.requests.read().clone();
        let requests = requests.ok_or(Error::Closed)?;
        let (reply, mut answer) = oneshot::channel();
        let turn = Turn::default();
        let request = Request { batch, reply, turn: turn.clone() };
        let deadline = Instant::now() + self.inner.queue_timeout;
        let sent = tokio::time::timeout_at(deadline, requests.send(request)).await;
        sent.map_err(|_| self.busy())?.map_err(|_| Error::Closed)?;
        drop(requests);
        let answered = match tokio::time::timeout_at(deadline, &mut answer).await {
            Ok(answered) => answered,
            // The committer has not taken it and never will.
            Err(_) if turn.claim() => return Err(self.busy()),
            Err(_) => answer.await,
        };
        let unresolved = |_| Error::Unresolved { batch: id, detail: "the committer stopped".to_owned() };
        self.noting(answered.map_err(unresolved)?)
    }

    fn busy(&self) -> Error {
        let waited = self.inner.queue_timeout.as_secs();
        Error::unavailable(format!("a batch was queued for {waited} s and was withdrawn"))
    }

    /// A consistent view over all tables. Hold it for a short time: it keeps old data alive.
    pub async fn snapshot(&self) -> Result<Snapshot> {
        self.require_open()?;
        let view = self.noting(self.inner.engine.snapshot().await)?;
        Ok(Snapshot { store: self.clone(), view })
    }

    /// Hints about commits from now on.
    #[must_use]
    pub fn hints(&self) -> Hints {
        let hints = self.inner.hints.subscribe();
        if self.require_open().is_err() {
            self.inner.hints.close();
        }
        hints
    }

    /// Whether a batch was applied. The store remembers the batches of the last
    /// [`GROUPS_REMEMBERED`](crate::limits::GROUPS_REMEMBERED) groups.
    pub async fn applied(&self, batch: BatchId) -> Result<bool> {
        self.inner.engine.applied(batch).await
    }

    /// The declared tables and those that only the catalogue of the store knows.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        self.inner.engine.schema()
    }

    #[must_use]
    pub fn engine_name(&self) -> &'static str {
        self.inner.engine.name()
    }

    /// Metrics of the engine.
    #[must_use]
    pub fn gauges(&self) -> Vec<(&'static str, f64)> {
        self.inner.engine.gauges()
    }

    /// Whether commits are possible, without I/O; the error says why not. Reads may work all the
    /// same.
    pub fn health(&self) -> Result<()> {
        self.require_open()?;
        self.inner.engine.health()
    }

    /// Whether commits are possible, by asking the engine. Reads may work all the same.
    pub async fn takes_writes(&self) -> Result<()> {
        self.require_open()?;
        self.inner.engine.takes_writes().await
    }

    /// The failure of the last commit if it is not older than `within`.
    #[must_use]
    pub fn failing(&self, within: Duration) -> Option<Error> {
        self.inner.failing.get(within)
    }

    /// The first damage that a read or commit met. It stays until the store is restored and opened
    /// again.
    #[must_use]
    pub fn damage(&self) -> Option<Error> {
        self.inner.damage.get().cloned()
    }

    /// Records damage.
    fn noting<T>(&self, answer: Result<T>) -> Result<T> {
        if let Err(damage @ Error::Corrupt { .. }) = &answer {
            // The first one stays.
            let _ = self.inner.damage.set(damage.clone());
        }
        answer
    }

    /// An estimate for progress displays; zero if unknown.
    pub async fn approximate_rows(&self) -> Result<u64> {
        self.require_open()?;
        self.inner.engine.approximate_rows().await
    }

    /// Checks all stored data and calls `found` for each damage. Returns the number of rows by
    /// table.
    pub async fn verify(&self, found: &mut (dyn FnMut(Error) + Send)) -> Result<BTreeMap<&'static str, u64>> {
        self.inner.engine.verify(found).await
    }

    /// Refuses further batches, finishes queued ones, and closes the engine. Later calls on any
    /// clone fail with [`Error::Closed`]. Dropping the last clone without closing is safe: it is
    /// like a crash.
    pub async fn close(&self) -> Result<()> {
        let requests = self.inner.requests.write().take();
        drop(requests);
        self.inner.closing.send_replace(true);
        let mut lanes = self.inner.lanes.lock().await;
        while lanes.join_next().await.is_some() {}
        self.inner.hints.close();
        self.inner.engine.close().await
    }

    fn require_open(&self) -> Result<()> {
        if *self.inner.closing.borrow() { Err(Error::Closed) } else { Ok(()) }
    }

    fn require_table(&self, table: &'static TableDef) -> Result<()> {
        if self.schema().has(table) { Ok(()) } else { Err(Error::UnknownTable { table: table.name }) }
    }

    fn validate_keys(&self, keys: &[Key]) -> Result<()> {
        self.require_open()?;
        if keys.len() > GET_KEYS_MAX {
            return Err(Error::TooManyKeys { count: keys.len(), max: GET_KEYS_MAX });
        }
        keys.iter().try_for_each(|key| {
            self.require_table(key.table())?;
            key.validate()
        })
    }

    fn validate_scan(&self, scan: &Scan) -> Result<()> {
        self.require_open()?;
        self.require_table(scan.table())?;
        scan.validate()
    }
}

#[async_trait]
impl Read for Store {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>> {
        self.validate_keys(keys)?;
        self.noting(self.inner.engine.get(keys).await)
    }

    async fn get_one(&self, key: &Key) -> Result<Option<Row>> {
        self.validate_keys(std::slice::from_ref(key))?;
        self.noting(self.inner.engine.get_one(key).await)
    }

    async fn scan(&self, scan: &Scan) -> Result<Page> {
        self.validate_scan(scan)?;
        self.noting(self.inner.engine.scan(scan).await)
    }
}

/// A consistent view over all tables.
pub struct Snapshot {
    store: Store,
    view: Box<dyn Read>,
}

#[async_trait]
impl Read for Snapshot {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>> {
        self.store.validate_keys(keys)?;
        self.store.noting(self.view.get(keys).await)
    }

    async fn scan(&self, scan: &Scan) -> Result<Page> {
        self.store.validate_scan(scan)?;
        self.store.noting(self.view.scan(scan).await)
    }
}

/// Ids of batches: 64 random bits for each opened store, then a counter.
struct Ids {
    opening: u64,
    count: AtomicU64,
}

impl Ids {
    fn new(seed: Option<u64>) -> Self {
        let opening = match seed {
            Some(seed) => StdRng::seed_from_u64(seed).next_u64(),
            // Without a random source the address of a fresh allocation still differs between
            // openings.
            None => SysRng.try_next_u64().unwrap_or_else(|_| std::ptr::from_ref(&*Box::new(0)).addr() as u64),
        };
        Self { opening, count: AtomicU64::new(1) }
    }

    fn next(&self) -> BatchId {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        BatchId(u128::from(self.opening) << 64 | u128::from(count))
    }
}
