//! Limits and thresholds of the doctor.

use std::time::Duration;

/// Timeout of one request.
pub(super) const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);
/// How long to wait for an unreachable database.
pub(super) const PATIENCE_MS: u32 = 3_000;
/// Maximum age of a process's health figures, which it updates every two seconds. Older figures are
/// ignored.
pub(super) const LOOKED_AGO_MAX: Duration = Duration::from_secs(15);
/// Clock skew above this is a warning.
pub(super) const CLOCK_WARNING_MS: i64 = 2_000;
/// Clock skew above this is an error, because leases and tokens depend on clocks.
pub(super) const CLOCK_ERROR_MS: i64 = 30_000;
/// A certificate that expires sooner than this is a warning.
pub(super) const CERTIFICATE_DAYS_MIN: i64 = 14;
/// Free space below this multiple of the store's disk reserve is a warning.
pub(super) const FREE_SPACE_TIMES: u64 = 4;
/// A store with at most this many rows is read completely; a larger one is read until the time
/// limit.
pub(super) const ROWS_READ_MAX: u64 = 100_000;
/// Time limit for reading a large store.
pub(super) const READ_TIME_MAX: Duration = Duration::from_secs(20);
/// Rows read from one table of a large store before the next table gets its turn.
pub(super) const ROWS_READ_AT_ONCE: usize = 1_000;
/// Photos whose files are looked up.
pub(super) const PHOTOS_MAX: usize = 200;
/// Photos looked up at one place of the table.
pub(super) const PHOTOS_AT_ONCE: usize = 20;
/// Free space below this is a warning on a disk without a configured reserve.
pub(super) const FREE_MB_MIN: u64 = 256;
/// Fewer free inodes than this on a disk are a warning.
pub(super) const FREE_ENTRIES_MIN: u64 = 10_000;
/// Damages that are listed one by one.
pub(super) const DAMAGES_TOLD_MAX: usize = 5;
/// The oldest PostgreSQL version that still receives fixes.
pub(super) const POSTGRES_VERSION_MIN: u32 = 14;
/// Connections needed beside those of readers and commits: for hints, for snapshots, and for an
/// operator.
pub(super) const POSTGRES_CONNECTIONS_MORE: u32 = 4;
/// File descriptors needed beside those of connections: for the store, logs and stages.
pub(super) const FILES_BESIDE_CONNECTIONS: u64 = 512;
/// A process fails soon with fewer file descriptors than this.
pub(super) const FILES_MIN: u64 = 1_024;
/// Waiting time above this is late.
pub(super) const LATE_S: i64 = 60;
/// Tasks per request.
pub(super) const TASKS_PAGE: u32 = 500;
/// Retention is short if the oldest unread message of a consumer is older than retention divided by
/// this.
pub(super) const RETENTION_PART: i64 = 2;
