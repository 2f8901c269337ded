//! The configuration of a process and its defaults.
//!
//! The structs below are the complete list of settings. Their serialised form names every key, so
//! the file, the `TORG_...` environment variables and `torg config` cannot drift apart. A setting
//! that is off by default is an empty string, never an absent key. Sizes and times carry their unit
//! in their name.

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

pub use error::Error;
pub use feeds::Feeds;
pub use load::{Effective, Flag, Sources, load};
pub use secret::{Secret, Url};
pub use stages::{BuiltInStage, Stages};
pub use tasks::Tasks;

/// The effective configuration of one process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The address for HTTP and RPC.
    pub listen: SocketAddr,
    /// The folder of embedded data: the store and the files, unless their URLs name another place.
    pub data_dir: PathBuf,
    /// Which roles this process runs.
    pub roles: Vec<Role>,
    pub store: Store,
    pub topics: Topics,
    pub kafka: Kafka,
    pub files: Files,
    pub offers: Offers,
    pub moderation: Moderation,
    pub feeds: Feeds,
    pub stages: Stages,
    pub tasks: Tasks,
    pub log: Log,
    pub limits: Limits,
    pub access: access::Config,
    pub tls: access::TlsConfig,
}

/// A part of the system that a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Role {
    Api,
    Stages,
    Feeds,
    Tasks,
    Console,
}

impl Role {
    pub const ALL: [Role; 5] = [Role::Api, Role::Stages, Role::Feeds, Role::Tasks, Role::Console];

    /// The name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Role::Api => "api",
            Role::Stages => "stages",
            Role::Feeds => "feeds",
            Role::Tasks => "tasks",
            Role::Console => "console",
        }
    }
}

impl From<Role> for &'static str {
    fn from(role: Role) -> &'static str {
        role.name()
    }
}

impl TryFrom<String> for Role {
    type Error = String;

    fn try_from(name: String) -> Result<Role, String> {
        let renamed = match &*name {
            "scheduler" => Some(Role::Stages),
            "loader" | "processor" => Some(Role::Feeds),
            "reactive" => Some(Role::Tasks),
            _ => None,
        };
        if let Some(role) = renamed {
            return Err(format!("the role \"{name}\" is called \"{}\" now", role.name()));
        }
        Role::ALL.into_iter().find(|role| role.name() == name).ok_or_else(|| {
            let names = Role::ALL.map(Role::name).join(", ");
            format!("there is no role \"{name}\": choose of {names}")
        })
    }
}

/// Where data is stored and how it is committed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// `fjall:DIR`, `postgres://...` or `memory:`. Default: `fjall:` with the folder `store` in
    /// `data_dir`.
    pub url: Url,
    /// Block cache of the embedded engine.
    pub cache_mb: u32,
    /// What an acknowledged commit survives.
    pub durability: Durability,
    /// Maximum number of batches in one group commit.
    pub group_max: u32,
    /// How long a group that is not full waits for more batches.
    pub group_wait_us: u32,
    /// The embedded engine refuses writes when the disk has less free space than this.
    pub free_mb_min: u32,
    pub postgres: Postgres,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// A power failure: the write is on the disk.
    Fsync,
    /// A crash of the process: the operating system has the write.
    Os,
}

/// Settings of the PostgreSQL engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Postgres {
    /// Maximum number of connections for reads.
    pub pool_max: u32,
    /// Groups committed in parallel, each on its own connection.
    pub commit_lanes: u32,
    pub connect_timeout_ms: u32,
    pub statement_timeout_ms: u32,
    /// How long reads and commits wait for an unavailable database before they fail.
    pub patience_ms: u32,
    /// Certificate authorities (PEM) to trust instead of the system's.
    pub tls_ca_file: PathBuf,
    /// Client certificate, PEM.
    pub tls_cert_file: PathBuf,
    /// Private key of the client certificate, PEM.
    pub tls_key_file: PathBuf,
}

/// Where messages are stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topics {
    /// `store`, or `kafka://host:port,host:port`.
    pub url: Url,
    /// Default retention of topics created by `torg topic create`: older messages are deleted. 0:
    /// no limit.
    pub retention_hours: u32,
    /// Default size limit of such topics: the oldest messages above it are deleted. Each partition
    /// gets an equal share. 0: no limit.
    pub retention_mb: u32,
}

/// How to connect to Kafka, if `topics.url` names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kafka {
    pub security: KafkaSecurity,
    /// Prefix of every topic name, for clusters shared with other applications.
    pub topic_prefix: String,
    /// Certificate authorities (PEM) to trust instead of the system's.
    pub tls_ca_file: PathBuf,
    /// Client certificate, PEM.
    pub tls_cert_file: PathBuf,
    /// Private key of the client certificate, PEM.
    pub tls_key_file: PathBuf,
    pub sasl_mechanism: SaslMechanism,
    pub sasl_user: String,
    pub sasl_password: Secret,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KafkaSecurity {
    Plaintext,
    Tls,
    SaslPlaintext,
    SaslTls,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SaslMechanism {
    #[serde(rename = "plain")]
    Plain,
    #[serde(rename = "scram-sha-256")]
    ScramSha256,
    #[serde(rename = "scram-sha-512")]
    ScramSha512,
}

/// Where uploaded and archived files are stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// `file:DIR` or `s3://bucket/prefix`. Default: `file:` with the folder `files` in `data_dir`.
    pub url: Url,
}

/// The ad store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offers {
    /// Number of shards of offers. Each shard is served by one process at a time. Cannot be changed
    /// once the store exists.
    pub shards: u32,
    /// The topic that receives every change of an offer.
    pub topic: String,
    /// Number of partitions of that topic when it is created.
    pub topic_partitions: u32,
    /// A folder of catalogue files. Default: the built-in catalogue.
    pub catalogue_dir: PathBuf,
    /// A folder with earlier versions of that catalogue and the migrations between them. Offers are
    /// migrated along them; without it they keep their version.
    pub catalogue_past_dir: PathBuf,
    /// How long an offer is published before it expires.
    pub exposure_days: u32,
    /// How long offers stay in the active tables once they are removed, expired, sold or banned.
    pub archive_removed_days: u32,
    pub archive_expired_days: u32,
    pub archive_sold_days: u32,
    pub archive_banned_days: u32,
    /// How long changes stay in the history.
    pub history_days: u32,
    /// Drafts without a change for this long are deleted.
    pub drafts_days: u32,
    /// How long an idempotency key is remembered.
    pub idempotency_hours: u32,
}

/// Where moderation verdicts come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moderation {
    /// The topic of verdicts; created if missing.
    pub topic: String,
    /// The topic for verdicts that cannot be applied, with the reason.
    pub dead_letter_topic: String,
    /// Number of partitions of these topics when they are created.
    pub topic_partitions: u32,
}

/// Log lines on stderr.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub format: LogFormat,
    /// A level, or levels by module: `info,torg=debug`.
    pub level: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// `human` if stderr is a terminal, else `json`.
    Auto,
    Human,
    Json,
}

/// Limits of one process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Maximum size of a request body and of a single message.
    pub request_bytes_max: u32,
    /// Maximum number of concurrent calls; further ones are refused. Health, reflection and metrics
    /// do not count.
    pub concurrent_requests_max: u32,
    /// Upper bound of a call's deadline, whatever the client requests.
    pub request_timeout_s: u32,
    /// Maximum number of open connections; further ones wait to be accepted.
    pub connections_max: u32,
    /// After a stop signal: how long `/readyz` reports "not ready" while calls are still accepted,
    /// so that load balancers notice.
    pub drain_notice_s: u32,
    /// After that: how long running calls may take to finish.
    pub drain_timeout_s: u32,
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
