//! When something is worth a word.

use std::time::Duration;

/// How long somebody who is asked may take to answer.
pub(super) const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);
/// How long a database that is away is waited for.
pub(super) const PATIENCE_MS: u32 = 3_000;
/// A process looks at how it fares every other second: one that has not done so for longer says
/// nothing that holds.
pub(super) const LOOKED_AGO_MAX: Duration = Duration::from_secs(15);
/// Clocks that differ by more than this are worth a warning.
pub(super) const CLOCK_WARNING_MS: i64 = 2_000;
/// Clocks that differ by more than this are an error: leases and tokens go by them.
pub(super) const CLOCK_ERROR_MS: i64 = 30_000;
/// A certificate that ends sooner than this is worth a warning.
pub(super) const CERTIFICATE_DAYS_MIN: i64 = 14;
/// Less free space than so many times the reserve of the embedded store is worth a warning.
pub(super) const FREE_SPACE_TIMES: u64 = 4;
/// A store with at most so many rows is read whole; of a larger one as much as there is time for.
pub(super) const ROWS_READ_MAX: u64 = 100_000;
/// How long a large store is read.
pub(super) const READ_TIME_MAX: Duration = Duration::from_secs(20);
/// Rows of a table of a large store that are read before those of the next table.
pub(super) const ROWS_READ_AT_ONCE: usize = 1_000;
/// Photos whose files are looked for.
pub(super) const PHOTOS_MAX: usize = 200;
/// Photos whose files are looked for at one place of the table.
pub(super) const PHOTOS_AT_ONCE: usize = 20;
/// Less free space than this, where nobody keeps a reserve, is worth a warning.
pub(super) const FREE_MB_MIN: u64 = 256;
/// Less free entries for files than so many on a disk are worth a warning.
pub(super) const FREE_ENTRIES_MIN: u64 = 10_000;
/// Damages that are told one by one.
pub(super) const DAMAGES_TOLD_MAX: usize = 5;
/// The oldest PostgreSQL that still gets corrections from its makers.
pub(super) const POSTGRES_VERSION_MIN: u32 = 14;
/// Connections beside those of readers and commits: for hints, for snapshots, and for a person.
pub(super) const POSTGRES_CONNECTIONS_MORE: u32 = 4;
/// Files that a process opens beside its connections: the store, logs, stages.
pub(super) const FILES_BESIDE_CONNECTIONS: u64 = 512;
/// With fewer files than this a process does not get far.
pub(super) const FILES_MIN: u64 = 1_024;
/// What waits for longer than this is late.
pub(super) const LATE_S: i64 = 60;
/// Tasks that are asked for at once.
pub(super) const TASKS_PAGE: u32 = 500;
/// Topics' retention is short when what a consumer has not read yet is older than this part of it.
pub(super) const RETENTION_PART: i64 = 2;
