//! Options of a store, with their defaults.

use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Durability {
    /// A power loss: every group of batches is forced to the disk before it is acknowledged.
    #[default]
    Fsync,
    /// A crash of the process, but not of the machine: the operating system decides when to write.
    Os,
}

#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Creates a missing store, adds declared tables that it does not have, and raises its schema
    /// version. Without it opening changes nothing, a missing store is
    /// [`Error::Missing`](crate::Error::Missing), and the schema has only the tables of the store.
    pub create: bool,
    /// Memory for the cache of the embedded engine, including its overhead.
    pub cache_bytes: u64,
    /// What an acknowledged commit survives.
    pub durability: Durability,
    /// Most batches in one group.
    pub group_max: usize,
    /// How long a group that is not full waits for more batches. Zero is nearly always right: while
    /// one group is written, the next one gathers.
    pub group_wait: Duration,
    /// How long a batch may be queued before it is withdrawn with
    /// [`Error::Unavailable`](crate::Error::Unavailable).
    pub queue_timeout: Duration,
    /// The embedded engine refuses writes when the disk has less free space than this.
    pub free_bytes_min: u64,
    pub postgres: PostgresOptions,
    /// Makes the ids of batches repeatable, for simulations; `None` uses the random source of the
    /// system.
    pub id_seed: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// Connections for reads and snapshots.
    pub read_connections: usize,
    /// Groups in flight, each on its own connection. Few lanes make large groups, which cost less;
    /// more lanes pay off for a server with many cores or a long way.
    pub commit_lanes: usize,
    pub statement_timeout: Duration,
    pub connect_timeout: Duration,
    /// How long reads and commits retry while the database is unavailable.
    pub patience: Duration,
    pub snapshot_timeout: Duration,
    /// PEM file with the authorities of the server's certificate; `None` trusts those of the
    /// system.
    pub tls_ca_file: Option<std::path::PathBuf>,
    /// PEM files with the client's certificate and key, for servers that ask for one.
    pub tls_client_files: Option<(std::path::PathBuf, std::path::PathBuf)>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            create: true,
            cache_bytes: 256 << 20,
            durability: Durability::Fsync,
            group_max: 128,
            group_wait: Duration::ZERO,
            queue_timeout: Duration::from_secs(60),
            free_bytes_min: 256 << 20,
            postgres: PostgresOptions::default(),
            id_seed: None,
        }
    }
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            read_connections: 16,
            commit_lanes: 2,
            statement_timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            patience: Duration::from_secs(30),
            snapshot_timeout: Duration::from_secs(600),
            tls_ca_file: None,
            tls_client_files: None,
        }
    }
}

impl StoreOptions {
    /// The cache size as the embedded engine counts it, which is by the bytes of cached values.
    /// With values of 2 KB the overhead of allocator and lists is half as much again.
    #[must_use]
    pub fn engine_cache_bytes(&self) -> u64 {
        self.cache_bytes / 4 * 3
    }
}
