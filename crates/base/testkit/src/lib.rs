//! Real services for tests: PostgreSQL and Kafka, started on free ports of 127.0.0.1 in temporary
//! folders, and removed afterwards, also when the test process is killed.
//!
//! A test that needs a server uses the shared one, and returns if the machine has none:
//!
//! ```no_run
//! let Some(postgres) = testkit::postgres() else { return };
//! let url = postgres.fresh_database();
//! ```
//!
//! A service that cannot start is reported by [`skip`]: a line on a developer's machine, a failure
//! where `TORG_REQUIRE_ALL=1` requires everything (CI).
//!
//! A test that stops, restarts or breaks its server starts its own with [`Postgres::start`] or
//! [`Kafka::start`].

mod beside;
mod guardian;
mod kafka;
mod postgres;
mod s3;
mod tls;

use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

use parking_lot::Mutex;

pub use beside::run_beside;
pub use kafka::{Kafka, KafkaOptions, kafka};
pub use postgres::{Postgres, PostgresOptions, fresh_name, postgres};
pub use s3::S3;
pub use tls::TlsFiles;

/// The environment variable that turns a skipped part into a failure.
pub const REQUIRE_ALL: &str = "TORG_REQUIRE_ALL";

#[derive(Debug, Clone, thiserror::Error)]
#[error("{what}: {why}")]
pub struct Missing {
    /// "PostgreSQL", "Kafka".
    pub what: &'static str,
    /// The reason, with what to install.
    pub why: String,
}

impl Missing {
    fn new(what: &'static str, why: impl Into<String>) -> Missing {
        Missing { what, why: why.into() }
    }
}

/// Reports a skipped part of the tests: `SKIPPED: what, why` on stderr.
///
/// # Panics
/// With `TORG_REQUIRE_ALL=1`.
pub fn skip(what: &str, why: impl std::fmt::Display) {
    let line = format!("SKIPPED: {what}, {why}");
    assert!(std::env::var(REQUIRE_ALL).as_deref() != Ok("1"), "{line} ({REQUIRE_ALL}=1 forbids it)");
    // `eprintln!` is hidden by the test harness for passing tests.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The service, or [`skip`] and `None` if it cannot be started here.
#[must_use]
pub fn or_skip<S>(started: Result<S, Missing>) -> Option<S> {
    started.inspect_err(|missing| skip(missing.what, &missing.why)).ok()
}

/// The folder of downloads for tests: `${TORG_CACHE:-$HOME/.cache/torg}`.
#[must_use]
pub fn cache_folder() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/torg");
    std::env::var_os("TORG_CACHE").map_or_else(home, PathBuf::from)
}

/// Where [`free_port`] looks: below the ports that the kernel hands out to connections and to those
/// who bind port 0.
const PORTS: std::ops::Range<u16> = 10_000..32_000;

/// A TCP port of 127.0.0.1 that nothing listens on, reserved for this process until its end: no
/// other call, in this process or another, returns it meanwhile.
///
/// Prefer port 0 where the program that listens can report what it got.
///
/// # Panics
/// When no port can be reserved.
#[must_use]
pub fn free_port() -> u16 {
    const TRIES_MAX: usize = 1000;
    let random = RandomState::new();
    let candidates = (0..TRIES_MAX).map(|n| PORTS.start + (random.hash_one(n) % PORTS.len() as u64) as u16);
    let mut reservable = candidates.filter(|port| reserve(*port));
    reservable.next().expect("a port of 127.0.0.1 that can be reserved")
}

/// A reservation is a lock on a file of that port's name. The operating system drops it with the
/// process.
fn reserve(port: u16) -> bool {
    static LOCKS: Mutex<Vec<File>> = Mutex::new(Vec::new());
    let folder = std::env::temp_dir().join("torg-test-ports");
    let _ = std::fs::create_dir(&folder);
    let open = File::options().create(true).truncate(false).write(true).open(folder.join(port.to_string()));
    let Some(lock) = open.ok().filter(|file| file.try_lock().is_ok()) else { return false };
    let is_free = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    if is_free {
        LOCKS.lock().push(lock);
    }
    is_free
}

fn log_tail(path: &std::path::Path) -> String {
    const LINES_MAX: usize = 12;
    let text =
        std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES_MAX)..].join("\n")
}
