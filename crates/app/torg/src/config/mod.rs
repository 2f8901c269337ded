//! What can be configured, with its defaults.
//!
//! The structs below are the whole list: their serialised form names every key, so the file, the `TORG_...` environment
//! variables and `torg config` cannot drift apart. A setting that is off by default is an empty string, never an absent
//! key. Sizes and times carry their unit in their name.

mod bounds;
mod error;
mod feeds;
mod keys;
mod load;
mod print;
mod secret;
mod stages;
mod tasks;
#[cfg(test)]
mod tests;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub(crate) use error::Error;
pub(crate) use feeds::Feeds;
pub(crate) use load::{Effective, Flag, Sources, load};
pub(crate) use secret::{Secret, Url};
pub(crate) use stages::{BuiltInStage, Stages};
pub(crate) use tasks::Tasks;

/// The effective configuration of one process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// Where HTTP and RPC are served.
    pub(crate) listen: SocketAddr,
    /// The folder of everything embedded: the store and the files, unless their URLs say otherwise.
    pub(crate) data_dir: PathBuf,
    /// Which parts this process runs.
    pub(crate) roles: Vec<Role>,
    pub(crate) store: Store,
    pub(crate) topics: Topics,
    pub(crate) kafka: Kafka,
    pub(crate) files: Files,
    pub(crate) offers: Offers,
    pub(crate) moderation: Moderation,
    pub(crate) feeds: Feeds,
    pub(crate) stages: Stages,
    pub(crate) tasks: Tasks,
    pub(crate) log: Log,
    pub(crate) limits: Limits,
    /// Who may call.
    pub(crate) access: access::Config,
    pub(crate) tls: access::TlsConfig,
}

/// A part of Torg that a process may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    Api,
    Scheduler,
    Loader,
    Processor,
    Reactive,
    Console,
}

impl Role {
    pub(crate) const ALL: [Role; 6] =
        [Role::Api, Role::Scheduler, Role::Loader, Role::Processor, Role::Reactive, Role::Console];

    /// The name in the configuration.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Role::Api => "api",
            Role::Scheduler => "scheduler",
            Role::Loader => "loader",
            Role::Processor => "processor",
            Role::Reactive => "reactive",
            Role::Console => "console",
        }
    }
}

/// Where rows live and how they are committed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Store {
    /// `fjall:DIR`, `postgres://...` or `memory:`. By default `fjall:` with the folder `store` in `data_dir`.
    pub(crate) url: Url,
    /// Memory for cached blocks of the embedded engine.
    pub(crate) cache_mb: u32,
    /// What an acknowledged commit survives.
    pub(crate) durability: Durability,
    /// Batches committed together at most.
    pub(crate) group_max: u32,
    /// How long a group that is not full waits for more batches.
    pub(crate) group_wait_us: u32,
    /// The embedded engine refuses writes when the disk has less free space than this.
    pub(crate) free_mb_min: u32,
    pub(crate) postgres: Postgres,
}

/// What an acknowledged commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Durability {
    /// A power cut: the write reached the disk.
    Fsync,
    /// The end of the process: the write reached the operating system.
    Os,
}

/// The PostgreSQL engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Postgres {
    /// Connections for reads.
    pub(crate) pool_max: u32,
    /// Groups committed at the same time, each on a connection of its own.
    pub(crate) commit_lanes: u32,
    pub(crate) connect_timeout_ms: u32,
    pub(crate) statement_timeout_ms: u32,
    /// How long reads and commits wait for a database that is away before they fail.
    pub(crate) patience_ms: u32,
    /// Authorities to trust instead of the system's, PEM.
    pub(crate) tls_ca_file: PathBuf,
    /// The client's certificate, PEM.
    pub(crate) tls_cert_file: PathBuf,
    /// The client's private key, PEM.
    pub(crate) tls_key_file: PathBuf,
}

/// Where messages go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Topics {
    /// `store`, or `kafka://host:port,host:port`.
    pub(crate) url: Url,
    /// What `torg topic create` gives a new topic: messages older than this are removed; 0 keeps them for ever.
    pub(crate) retention_hours: u32,
    /// The same by size: a topic's oldest messages are removed above this, an equal share for each of its partitions; 0: no
    /// limit.
    pub(crate) retention_mb: u32,
}

/// How to talk to Kafka, when `topics.url` says so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kafka {
    pub(crate) security: KafkaSecurity,
    /// Put before the name of every topic, for clusters that are shared with others.
    pub(crate) topic_prefix: String,
    /// Authorities to trust instead of the system's, PEM.
    pub(crate) tls_ca_file: PathBuf,
    /// The client's certificate, PEM.
    pub(crate) tls_cert_file: PathBuf,
    /// The client's private key, PEM.
    pub(crate) tls_key_file: PathBuf,
    pub(crate) sasl_mechanism: SaslMechanism,
    pub(crate) sasl_user: String,
    pub(crate) sasl_password: Secret,
}

/// How a connection to a broker is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KafkaSecurity {
    Plaintext,
    Tls,
    SaslPlaintext,
    SaslTls,
}

/// How a client proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SaslMechanism {
    #[serde(rename = "plain")]
    Plain,
    #[serde(rename = "scram-sha-256")]
    ScramSha256,
    #[serde(rename = "scram-sha-512")]
    ScramSha512,
}

/// Where uploaded and archived files live.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Files {
    /// `file:DIR` or `s3://bucket/prefix`. By default `file:` with the folder `files` in `data_dir`.
    pub(crate) url: Url,
}

/// The ad store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Offers {
    /// Parts that offers are divided into, each served by one process at a time. Chosen once for a store.
    pub(crate) shards: u32,
    /// The topic that hears of every change.
    pub(crate) topic: String,
    /// Partitions of that topic, when it is made.
    pub(crate) topic_partitions: u32,
    /// A folder of catalogue files; the built-in catalogue if left out.
    pub(crate) catalogue_dir: PathBuf,
    /// A folder with the earlier versions of that catalogue and the migrations from each to the next: offers are moved along them. Without one they stay of their version.
    pub(crate) catalogue_past_dir: PathBuf,
    /// How long an offer is shown before it expires.
    pub(crate) exposure_days: u32,
    /// How long offers stay in the active tables once they are removed, expired, sold or banned.
    pub(crate) archive_removed_days: u32,
    pub(crate) archive_expired_days: u32,
    pub(crate) archive_sold_days: u32,
    pub(crate) archive_banned_days: u32,
    /// How long the history of a change is kept.
    pub(crate) history_days: u32,
    /// How long a draft is kept that nobody changes.
    pub(crate) drafts_days: u32,
    /// How long an idempotency key is remembered.
    pub(crate) idempotency_hours: u32,
}

/// Where opinions about offers come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Moderation {
    /// The topic of opinions; made if it is not there.
    pub(crate) topic: String,
    /// Where opinions go that cannot be applied, with the reason.
    pub(crate) dead_letter_topic: String,
    /// Partitions of these topics, when they are made.
    pub(crate) topic_partitions: u32,
}

/// What the process says about itself on stderr.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Log {
    pub(crate) format: LogFormat,
    /// A level, or levels by module: `info,torg=debug`.
    pub(crate) level: String,
}

/// The shape of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// `human` when stderr is a terminal, else `json`.
    Auto,
    Human,
    Json,
}

/// How much one process takes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    /// The largest request body and the largest single message.
    pub(crate) request_bytes_max: u32,
    /// Calls served at the same time; further ones are refused. Health, reflection and metrics do not count.
    pub(crate) concurrent_requests_max: u32,
    /// The longest that a call may take, whatever its client asked for.
    pub(crate) request_timeout_s: u32,
    /// Open connections; further ones wait to be accepted.
    pub(crate) connections_max: u32,
    /// After a stop signal: how long `/readyz` says no while calls are still accepted, so that balancers notice.
    pub(crate) drain_notice_s: u32,
    /// After that: how long running calls may take to end.
    pub(crate) drain_timeout_s: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            data_dir: PathBuf::from("./data"),
            roles: Role::ALL.to_vec(),
            store: Store {
                url: Url::from("fjall:./data/store"),
                cache_mb: 256,
                durability: Durability::Fsync,
                group_max: 128,
                group_wait_us: 0,
                free_mb_min: 256,
                postgres: Postgres::default(),
            },
            topics: Topics { url: Url::from("store"), retention_hours: 7 * 24, retention_mb: 0 },
            kafka: Kafka::default(),
            files: Files { url: Url::from("file:./data/files") },
            offers: Offers::default(),
            moderation: Moderation::default(),
            feeds: Feeds::default(),
            stages: Stages::default(),
            tasks: Tasks::default(),
            log: Log { format: LogFormat::Auto, level: "info".to_owned() },
            limits: Limits::default(),
            access: access::Config::default(),
            tls: access::TlsConfig::default(),
        }
    }
}

impl Default for Offers {
    fn default() -> Offers {
        Offers {
            shards: 64,
            topic: "offers".to_owned(),
            topic_partitions: 16,
            catalogue_dir: PathBuf::new(),
            catalogue_past_dir: PathBuf::new(),
            exposure_days: 180,
            archive_removed_days: 7,
            archive_expired_days: 60,
            archive_sold_days: 60,
            archive_banned_days: 180,
            history_days: 365,
            drafts_days: 90,
            idempotency_hours: 24,
        }
    }
}

impl Default for Moderation {
    fn default() -> Moderation {
        Moderation {
            topic: "moderation".to_owned(),
            dead_letter_topic: "moderation.dead".to_owned(),
            topic_partitions: 4,
        }
    }
}

impl Default for Postgres {
    fn default() -> Postgres {
        Postgres {
            pool_max: 16,
            commit_lanes: 2,
            connect_timeout_ms: 5_000,
            statement_timeout_ms: 30_000,
            patience_ms: 30_000,
            tls_ca_file: PathBuf::new(),
            tls_cert_file: PathBuf::new(),
            tls_key_file: PathBuf::new(),
        }
    }
}

impl Default for Kafka {
    fn default() -> Kafka {
        Kafka {
            security: KafkaSecurity::Plaintext,
            topic_prefix: String::new(),
            tls_ca_file: PathBuf::new(),
            tls_cert_file: PathBuf::new(),
            tls_key_file: PathBuf::new(),
            sasl_mechanism: SaslMechanism::ScramSha512,
            sasl_user: String::new(),
            sasl_password: Secret::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            request_bytes_max: 4 * 1024 * 1024,
            concurrent_requests_max: 1_024,
            request_timeout_s: 30,
            connections_max: 10_000,
            drain_notice_s: 0,
            drain_timeout_s: 20,
        }
    }
}
