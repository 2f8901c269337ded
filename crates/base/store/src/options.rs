//! Options that every engine understands, with their defaults.

use std::time::Duration;

/// What an acknowledged commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Durability {
    /// A power loss: every group of batches is forced to the disk before it is acknowledged.
    #[default]
    Fsync,
    /// The death of the process, but not of the machine: the operating system writes the data when it likes.
    Os,
}

/// How a store works.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Makes a store where there is none, adds declared tables that it does not have, and raises its schema version.
    /// Without it, opening changes nothing, a missing store is [`Error::Missing`](crate::Error::Missing), and the schema has
    /// only the tables that are there.
    pub create: bool,
    /// Memory for the embedded engine's cache, with all that the cache needs for itself.
    pub cache_bytes: u64,
    /// What an acknowledged commit survives.
    pub durability: Durability,
    /// Most batches in one group.
    pub group_max: usize,
    /// How long a group that is not full waits for more batches. Zero is right nearly always: while one group is
    /// being written, the next one gathers by itself.
    pub group_wait: Duration,
    /// How long a batch may wait for its turn before it is withdrawn and the caller told that the store cannot be reached.
    pub queue_timeout: Duration,
    /// The embedded engine refuses writes when the disk has less free space than this.
    pub free_bytes_min: u64,
    /// Connections that read (and hold snapshots), and connections that commit.
    pub postgres: PostgresOptions,
    /// Makes the ids of batches repeatable, for simulations; `None` takes them from the operating system.
    pub id_seed: Option<u64>,
}

/// How the PostgreSQL engine works.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// Connections for reads and snapshots.
    pub read_connections: usize,
    /// Groups of batches in flight at once, each on a connection of its own. Few lanes make large groups, which cost
    /// less; more of them pay off for a server with many cores, or far away.
    pub commit_lanes: usize,
    /// How long one statement may take.
    pub statement_timeout: Duration,
    /// How long a connection attempt may take.
    pub connect_timeout: Duration,
    /// How long reads and commits wait for a database that is away before they fail.
    pub patience: Duration,
    /// How long a snapshot may be held.
    pub snapshot_timeout: Duration,
    /// PEM file with the authorities that may sign the server's certificate; `None` trusts the system's.
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
    /// The cache as the embedded engine counts it, which is by the bytes of what is cached. Measured with values of 2 KB, what the allocator
    /// rounds up and the cache's own lists take half as much again.
    #[must_use]
    pub fn engine_cache_bytes(&self) -> u64 {
        self.cache_bytes / 4 * 3
    }
}
