//! What can go wrong, and what to do about it.

use std::fmt::Display;

use crate::batch::BatchId;

/// The store's error.
///
/// An error from [`commit`](crate::Store::commit) means that nothing of the batch was applied, with
/// one exception: [`Error::Unresolved`].
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant says what its fields hold in its message")]
pub enum Error {
    /// A key is longer than [`KEY_BYTES_MAX`](crate::limits::KEY_BYTES_MAX).
    #[error("a key of table {table} has {bytes} bytes; at most {max} are allowed")]
    KeyTooLarge { table: &'static str, bytes: usize, max: usize },
    /// A value is longer than [`VALUE_BYTES_MAX`](crate::limits::VALUE_BYTES_MAX).
    #[error("the value of {key} has {bytes} bytes; at most {max} are allowed")]
    ValueTooLarge { key: String, bytes: usize, max: usize },
    /// A batch has too many operations or bytes.
    #[error("a batch has {count} {unit}; at most {max} are allowed")]
    BatchTooLarge { count: usize, unit: &'static str, max: usize },
    /// A read asks for too many keys at once.
    #[error("a read asks for {count} keys; at most {max} are allowed")]
    TooManyKeys { count: usize, max: usize },
    /// A key does not fit its table.
    #[error("bad key for table {table}: {reason}")]
    BadKey { table: &'static str, reason: String },
    /// A table's declaration breaks a rule, or differs from what the store holds.
    #[error("table {table}: {reason}")]
    BadTable { table: String, reason: String },
    /// A key of a table that the store was not opened with.
    #[error("table {table} is not in the schema that this store was opened with")]
    UnknownTable { table: &'static str },
    /// An operation that this kind of table does not have, such as `add` on rows.
    #[error("{operation} is not possible on {key}: {reason}")]
    BadOperation { operation: &'static str, key: String, reason: &'static str },
    /// A counter would leave the range of 64 bits.
    #[error("counter {key} would overflow")]
    CounterOverflow { key: String },

    /// The disk is full, or has less free space than the reserve of the engine.
    #[error("the disk is full: {detail}")]
    DiskFull { detail: String },
    #[error("the database cannot be reached: {detail}")]
    Unavailable { detail: String },
    #[error("the database takes no writes: {detail}")]
    ReadOnly { detail: String },
    /// A write of the embedded engine failed: it refuses writes until it is opened again.
    #[error("the store takes no more writes: {detail}")]
    Stopped { detail: String },
    /// Wrong password, missing rights, no such database.
    #[error("the database refuses the connection: {detail}")]
    Refused { detail: String },
    /// The store failed or was closed before the outcome of this batch was known. Ask
    /// [`Store::applied`](crate::Store::applied) later.
    #[error("batch {batch}: it is not known whether it was applied: {detail}")]
    Unresolved { batch: BatchId, detail: String },
    /// Stored data does not match its checksum.
    #[error("damaged data in {place}: {detail}")]
    Corrupt { place: String, detail: String },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// A snapshot was held longer than its time limit.
    #[error("the snapshot has expired: {detail}")]
    SnapshotExpired { detail: String },

    /// There is no store, and [`StoreOptions::create`](crate::StoreOptions::create) is off.
    #[error("there is no store at {place}")]
    Missing { place: String },
    /// Another process has opened this folder.
    #[error("the store in {path} is in use by another process")]
    Locked { path: String },
    /// The store was written by a newer program.
    #[error("the store has schema version {store}, this program knows versions up to {program}")]
    NewerSchema { store: u32, program: u32 },
    /// The store's address cannot be understood.
    #[error("cannot understand the store address {url:?}: {reason}")]
    BadUrl { url: String, reason: String },
    /// The program was compiled without the feature of this engine.
    #[error("this program is compiled without the store engine {engine}")]
    NotCompiledIn { engine: &'static str },
    /// The file system refused.
    #[error("{path}: {detail}")]
    Io { path: String, detail: String },
    /// An engine's error that has no name above.
    #[error("{engine}: {detail}")]
    Engine { engine: &'static str, detail: String },
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// What a person can do about it, if known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::DiskFull { .. } => {
                "free some space on that disk; writes go on by themselves as soon as there is room"
            }
            Self::Unavailable { .. } => {
                "check that the database runs and that host and port in the address are right"
            }
            Self::ReadOnly { .. } => {
                "see why the database is read-only: a standby that was not promoted, the setting default_transaction_read_only, a full disk; writes go on by themselves as soon as it takes them"
            }
            Self::Stopped { .. } => {
                "see to the disk, then start the process again: it finds out at the start what was written"
            }
            Self::Refused { .. } => {
                "check user, password and database name in the address, and the server's pg_hba.conf"
            }
            Self::Corrupt { .. } => "restore this store from a copy",
            Self::Missing { .. } => "check the address; `torg serve` makes a store where there is none",
            Self::Locked { .. } => "stop the other process, or give this one another folder",
            Self::NewerSchema { .. } => "use the newer program, or restore a copy made before the upgrade",
            Self::BadUrl { .. } => "use fjall:PATH, postgres://USER:PASSWORD@HOST:PORT/DATABASE, or memory:",
            Self::NotCompiledIn { .. } => "compile `store` with the feature of that name",
            Self::Io { .. } => "check that the path exists and that this user may read and write it",
            Self::Unresolved { .. } => "ask for the batch by its id once the store can be reached",
            _ => return None,
        })
    }

    /// Whether a retry of the same call may succeed.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::DiskFull { .. }
                | Self::Unavailable { .. }
                | Self::ReadOnly { .. }
                | Self::SnapshotExpired { .. }
        )
    }

    pub(crate) fn unavailable(detail: impl Display) -> Self {
        Self::Unavailable { detail: detail.to_string() }
    }
}
