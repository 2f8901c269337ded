//! Limits by caller: rate, concurrency, request size. Time is passed in, memory is bounded.

use parking_lot::Mutex;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use crate::caller::{Caller, Proof};
use crate::config::{Allowance, Config};
use crate::limits::{CALLER_PARTS, CALLERS_REMEMBERED_MAX};
use crate::lru::Lru;
use crate::role::Role;
use crate::time::Time;

/// `Retry-After` for too many running calls: their end is not known.
const RUNNING_WAIT: Duration = Duration::from_secs(1);

/// The limits of one process. Cheap to clone; all clones share state.
#[derive(Clone)]
pub struct Limiter {
    inner: Arc<Inner>,
}

struct Inner {
    unknown: Allowance,
    user: Allowance,
    service: Allowance,
    running: AtomicU32,
    running_max: u32,
    parts: Vec<Mutex<Lru<Id, Record>>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    /// One [`network`].
    Address(IpAddr),
    Known(Proof, String),
}

struct Record {
    bucket: Bucket,
    running: Arc<AtomicU32>,
}

/// Why a call must wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// The caller's rate is exceeded: wait this long.
    TooOften(Duration),
    /// The caller has too many calls in progress.
    TooManyRunning(Duration),
    /// The process has too many calls in progress.
    Full(Duration),
}

impl Busy {
    /// How long to wait.
    #[must_use]
    pub fn wait(self) -> Duration {
        match self {
            Self::TooOften(wait) | Self::TooManyRunning(wait) | Self::Full(wait) => wait,
        }
    }
}

/// A call in progress; it counts until this is dropped.
#[must_use]
pub struct Permit {
    limiter: Limiter,
    own: Option<Arc<AtomicU32>>,
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Permit")
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.limiter.inner.running.fetch_sub(1, Ordering::AcqRel);
        if let Some(own) = &self.own {
            own.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Limiter {
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self::remembering(config, CALLERS_REMEMBERED_MAX)
    }

    fn remembering(config: &Config, callers: usize) -> Self {
        let parts =
            (0..CALLER_PARTS).map(|_| Mutex::new(Lru::new((callers / CALLER_PARTS).max(1)))).collect();
        let inner = Inner {
            unknown: config.unknown,
            user: config.user,
            service: config.service,
            running: AtomicU32::new(0),
            running_max: config.concurrent_max,
            parts,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Admits a call, or returns how long to wait. With access control off, only the limit of the
    /// process applies.
    pub fn begin(&self, caller: &Caller, address: IpAddr, now: Time) -> Result<Permit, Busy> {
        let permit = self.begin_any()?;
        match Id::of(caller, address) {
            Some(id) => self.begin_own(permit, id, self.allowance(caller), now),
            None => Ok(permit),
        }
    }

    /// Counts a call with an invalid credential against its address.
    pub fn note_refused(&self, address: IpAddr, now: Time) -> Result<(), Busy> {
        let allowance = self.inner.unknown;
        self.with_record(Id::from_address(address), |record| record.bucket.take(&allowance, now))
    }

    /// The largest request of this caller; `None`: unlimited.
    #[must_use]
    pub fn request_bytes_max(&self, caller: &Caller) -> Option<u64> {
        let most = self.allowance(caller).request_bytes_max;
        (most > 0 && caller.proof != Proof::Off).then(|| most.into())
    }

    /// Calls in progress.
    #[must_use]
    pub fn running(&self) -> u32 {
        self.inner.running.load(Ordering::Acquire)
    }

    fn allowance(&self, caller: &Caller) -> &Allowance {
        match caller.proof {
            Proof::Nothing => &self.inner.unknown,
            _ if caller.roles.has(Role::Service) || caller.roles.has(Role::Admin) => &self.inner.service,
            _ => &self.inner.user,
        }
    }

    fn begin_any(&self) -> Result<Permit, Busy> {
        if !raise(&self.inner.running, self.inner.running_max) {
            return Err(Busy::Full(RUNNING_WAIT));
        }
        Ok(Permit { limiter: self.clone(), own: None })
    }

    fn begin_own(
        &self,
        mut permit: Permit,
        id: Id,
        allowance: &Allowance,
        now: Time,
    ) -> Result<Permit, Busy> {
        permit.own = self.with_record(id, |record| {
            if !raise(&record.running, allowance.concurrent_max) {
                return Err(Busy::TooManyRunning(RUNNING_WAIT));
            }
            if let Err(busy) = record.bucket.take(allowance, now) {
                record.running.fetch_sub(1, Ordering::AcqRel);
                return Err(busy);
            }
            Ok(Some(Arc::clone(&record.running)))
        })?;
        Ok(permit)
    }

    fn with_record<T>(&self, id: Id, work: impl FnOnce(&mut Record) -> T) -> T {
        let part = &self.inner.parts[id.part()];
        let mut part = part.lock();
        if let Some(record) = part.get(&id) {
            return work(record);
        }
        let mut record = Record { bucket: Bucket::default(), running: Arc::default() };
        let answer = work(&mut record);
        // Callers with calls in progress are not evicted: their calls must be counted, and the
        // limit of the process bounds them.
        part.insert(id, record, |record| record.running.load(Ordering::Acquire) == 0);
        answer
    }
}

/// Increments a count up to `most`; zero: unlimited.
fn raise(count: &AtomicU32, most: u32) -> bool {
    let more = |count: u32| (most == 0 || count < most).then(|| count.saturating_add(1));
    count.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
}

impl Id {
    fn of(caller: &Caller, address: IpAddr) -> Option<Self> {
        match &caller.proof {
            Proof::Off => None,
            Proof::Nothing => Some(Self::from_address(address)),
            proof => Some(Self::Known(proof.clone(), caller.subject.clone())),
        }
    }

    fn from_address(address: IpAddr) -> Self {
        Self::Address(network(address))
    }

    fn part(&self) -> usize {
        let hash = match self {
            Self::Address(IpAddr::V4(address)) => xxh3_64(&address.octets()),
            Self::Address(IpAddr::V6(address)) => xxh3_64(&address.octets()),
            Self::Known(_, subject) => xxh3_64(subject.as_bytes()),
        };
        hash as usize % CALLER_PARTS
    }
}

/// The unit in which addresses are counted: an IPv4 address, or an IPv6 /64 network, which one
/// caller usually owns.
#[must_use]
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// A token bucket, stored as the time when it will be full, in nanoseconds.
#[derive(Default)]
struct Bucket {
    full_at: i128,
}

impl Bucket {
    /// Takes a token, or returns how long to wait. A clock that goes back costs at most one bucket.
    fn take(&mut self, allowance: &Allowance, now: Time) -> Result<(), Busy> {
        if allowance.rate_per_s == 0 {
            return Ok(());
        }
        let now = i128::from(now.as_ms()) * 1_000_000;
        let one = 1_000_000_000 / i128::from(allowance.rate_per_s);
        let whole = one * i128::from(allowance.burst.max(1));
        let full_at = self.full_at.clamp(now, now + whole);
        let missing = full_at + one - (now + whole);
        if missing > 0 {
            self.full_at = full_at;
            return Err(Busy::TooOften(Duration::from_nanos(missing as u64)));
        }
        self.full_at = full_at + one;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
