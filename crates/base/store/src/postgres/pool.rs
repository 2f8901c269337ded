//! Connections that are kept for the next user, and the patience with which a lost database is waited for.

use std::ops::Deref;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::connection::{Connection, Connector, Role};
use super::errors::{Trouble, engine};
use crate::{Error, Result};

/// Shortest and longest pause between two attempts.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Growing pauses with a random part, so that many clients do not come back in step.
pub(super) struct Backoff {
    rng: StdRng,
    pause: Duration,
}

impl Backoff {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: StdRng::seed_from_u64(seed), pause: PAUSE_MIN }
    }

    /// The next pause: half of it certain, half of it random.
    pub(super) fn next(&mut self) -> Duration {
        let pause = self.pause.mul_f64(self.rng.random_range(0.5..=1.0));
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        pause
    }
}

/// Connections for one purpose, at most so many at once.
pub(super) struct Pool {
    connector: Arc<Connector>,
    role: Role,
    size: usize,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
    /// How long a database that is away is waited for.
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

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn in_use(&self) -> usize {
        self.size - self.permits.available_permits().min(self.size)
    }

    /// Gives out no more connections and drops those that nobody uses.
    pub(super) fn close(&self) {
        self.permits.close();
        self.idle().clear();
    }

    /// Attempts at one piece of work, which end when the patience does.
    pub(super) fn tries(self: &Arc<Self>) -> Tries {
        let seed = self.seeds.lock().unwrap_or_else(PoisonError::into_inner).random();
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
        while let Some(connection) = self.take_idle() {
            if !connection.is_closed() {
                lease.connection = Some(connection);
                return Ok(lease);
            }
            self.connector.lost.fetch_add(1, Ordering::Relaxed);
        }
        lease.connection = Some(self.connect(tries, deadline).await?);
        Ok(lease)
    }

    fn take_idle(&self) -> Option<Connection> {
        self.idle().pop()
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
            tracing::debug!(detail, "PostgreSQL is away, trying again");
            tokio::time::sleep(pause).await;
        }
    }
}

/// A connection in use. It goes back to the pool when it is dropped, if it is fit for the next user.
pub(super) struct Lease {
    pool: Arc<Pool>,
    connection: Option<Connection>,
    reusable: bool,
    #[allow(dead_code, reason = "held, not read")]
    permit: OwnedSemaphorePermit,
}

impl Lease {
    /// Says whether the connection is in order: not in the middle of a transaction, not broken.
    pub(super) fn set_reusable(&mut self, reusable: bool) {
        self.reusable = reusable;
    }
}

impl Deref for Lease {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        // It is there from the lease's making to its end.
        self.connection.as_ref().unwrap_or_else(|| unreachable!("a lease without a connection"))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if self.reusable && !connection.is_closed() && !self.pool.permits.is_closed() {
            self.pool.idle().push(connection);
        } else if connection.is_closed() {
            self.pool.connector.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Attempts at one piece of work on one connection after the other.
pub(super) struct Tries {
    pool: Arc<Pool>,
    deadline: Instant,
    backoff: Backoff,
    failures: u32,
}

impl Tries {
    /// A connection for the next attempt, after a pause if there were failures before. The first attempt that fails
    /// because of a stale connection is followed at once.
    pub(super) async fn connection(&mut self) -> Result<Lease> {
        if self.failures > 1 {
            let pause = self.backoff.next();
            tokio::time::sleep_until((Instant::now() + pause).min(self.deadline)).await;
        }
        self.pool.lease(&mut self.backoff, self.deadline).await
    }

    /// Whether another attempt may help; the error that tells the caller if not. A lost connection is not used again.
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
        tracing::debug!(detail, "PostgreSQL did not do it, trying again");
        if Instant::now() >= self.deadline { Err(Error::Unavailable { detail }) } else { Ok(()) }
    }
}
