//! Connection pools, and retries while the database is unavailable.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::connection::{Connection, Connector, Role};
use super::errors::{Trouble, engine};
use crate::{Error, Result};

/// Bounds of the pause between two attempts.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Runs a read on one leased connection after the other until it succeeds or the patience of the
/// pool is over. (An async closure would not be `Send` in general.)
macro_rules! retry {
    ($pool:expr, $connection:ident => $work:expr) => {{
        let mut tries = $pool.tries();
        loop {
            let $connection = tries.connection().await?;
            match $work.await {
                Ok(result) => break result,
                Err(trouble) => tries.failed($connection, trouble.into())?,
            }
        }
    }};
}
pub(super) use retry;

/// Growing pauses with a random part, so that many clients do not retry in step.
pub(super) struct Backoff {
    rng: StdRng,
    pause: Duration,
}

impl Backoff {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: StdRng::seed_from_u64(seed), pause: PAUSE_MIN }
    }

    /// Half of the pause is random.
    pub(super) fn next(&mut self) -> Duration {
        let pause = self.pause.mul_f64(self.rng.random_range(0.5..=1.0));
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        pause
    }
}

/// A limited number of connections for one purpose.
pub(super) struct Pool {
    connector: Arc<Connector>,
    role: Role,
    size: usize,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
    /// How long work is retried while the database is unavailable.
    patience: Duration,
    seeds: Mutex<StdRng>,
}

impl Pool {
    pub(super) fn new(
        connector: Arc<Connector>,
        role: Role,
        size: usize,
        patience: Duration,
        seed: u64,
    ) -> Arc<Self> {
        let size = size.max(1);
        Arc::new(Self {
            connector,
            role,
            size,
            permits: Arc::new(Semaphore::new(size)),
            idle: Mutex::default(),
            patience,
            seeds: Mutex::new(StdRng::seed_from_u64(seed)),
        })
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn in_use(&self) -> usize {
        self.size - self.permits.available_permits().min(self.size)
    }

    /// Refuses further leases and drops idle connections.
    pub(super) fn close(&self) {
        self.permits.close();
        self.idle.lock().clear();
    }

    /// Attempts at one piece of work, for `patience` at most.
    pub(super) fn tries(self: &Arc<Self>) -> Tries {
        let seed = self.seeds.lock().random();
        let deadline = Instant::now() + self.patience;
        Tries { pool: Arc::clone(self), deadline, backoff: Backoff::new(seed), failures: 0 }
    }

    async fn lease(self: &Arc<Self>, tries: &mut Backoff, deadline: Instant) -> Result<Lease> {
        let permit = Arc::clone(&self.permits).acquire_owned();
        let permit = match tokio::time::timeout_at(deadline, permit).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(_)) => return Err(Error::Closed),
            Err(_) => {
                let detail = format!("all {} connections for this purpose are in use", self.size);
                return Err(Error::unavailable(detail));
            }
        };
        let mut lease =
            Lease { pool: Arc::clone(self), connection: None, reusable: self.role == Role::Reader, permit };
        loop {
            // The lock must not be held in the body.
            let Some(connection) = self.idle.lock().pop() else { break };
            if !connection.is_closed() {
                lease.connection = Some(connection);
                return Ok(lease);
            }
            self.connector.lost.fetch_add(1, Ordering::Relaxed);
        }
        lease.connection = Some(self.connect(tries, deadline).await?);
        Ok(lease)
    }

    async fn connect(&self, backoff: &mut Backoff, deadline: Instant) -> Result<Connection> {
        loop {
            let detail = match self.connector.connect(self.role).await {
                Ok(connection) => return Ok(connection),
                Err(Trouble::Lost(detail) | Trouble::Again(detail)) => detail,
                Err(Trouble::Final(error)) => return Err(error),
                Err(Trouble::OutOfRange) => return Err(engine("a number is out of range")),
            };
            let pause = backoff.next();
            if Instant::now() + pause >= deadline {
                return Err(Error::Unavailable { detail });
            }
            tracing::debug!(detail, "PostgreSQL is unavailable, retrying");
            tokio::time::sleep(pause).await;
        }
    }
}

/// A connection in use. When dropped it returns to the pool if it is reusable.
pub(super) struct Lease {
    pool: Arc<Pool>,
    connection: Option<Connection>,
    reusable: bool,
    #[allow(dead_code, reason = "held, not read")]
    permit: OwnedSemaphorePermit,
}

impl Lease {
    /// A connection is reusable if it is neither inside a transaction nor broken.
    pub(super) fn set_reusable(&mut self, reusable: bool) {
        self.reusable = reusable;
    }
}

impl Deref for Lease {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        // Only `drop` takes it.
        self.connection.as_ref().unwrap_or_else(|| unreachable!("a lease without a connection"))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if self.reusable && !connection.is_closed() && !self.pool.permits.is_closed() {
            self.pool.idle.lock().push(connection);
        } else if connection.is_closed() {
            self.pool.connector.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Attempts at one piece of work, each on a leased connection.
pub(super) struct Tries {
    pool: Arc<Pool>,
    deadline: Instant,
    backoff: Backoff,
    failures: u32,
}

impl Tries {
    /// A connection for the next attempt, after a pause if attempts failed. The first failure
    /// because of a stale connection is retried at once.
    pub(super) async fn connection(&mut self) -> Result<Lease> {
        if self.failures > 1 {
            let pause = self.backoff.next();
            tokio::time::sleep_until((Instant::now() + pause).min(self.deadline)).await;
        }
        self.pool.lease(&mut self.backoff, self.deadline).await
    }

    /// `Ok` if a retry may help, otherwise the final error. A lost connection is not reused.
    pub(super) fn failed(&mut self, mut lease: Lease, trouble: Trouble) -> Result<()> {
        let (detail, at_once) = match trouble {
            Trouble::Lost(detail) => {
                lease.set_reusable(false);
                (detail, true)
            }
            Trouble::Again(detail) => (detail, false),
            Trouble::OutOfRange => return Err(engine("a number is out of range")),
            Trouble::Final(error) => return Err(error),
        };
        self.failures += if at_once { 1 } else { 2 };
        tracing::debug!(detail, "an attempt at PostgreSQL failed, retrying");
        if Instant::now() >= self.deadline { Err(Error::Unavailable { detail }) } else { Ok(()) }
    }
}
