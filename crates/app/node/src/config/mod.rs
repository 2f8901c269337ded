//! What can be configured, with its defaults.
//!
//! The structs below are the whole list: their serialised form names every key, so the file, the
//! `TORG_...` environment variables and `torg config` cannot drift apart. A setting that is off by
//! default is an empty string, never an absent key. Sizes and times carry their unit in their name.

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
    /// Where HTTP and RPC are served.
    pub listen: SocketAddr,
    /// The folder of everything embedded: the store and the files, unless their URLs say otherwise.
    pub data_dir: PathBuf,
    /// Which parts this process runs.
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
    /// Who may call.
    pub access: access::Config,
    pub tls: access::TlsConfig,
}

/// A part of Torg that a process runs.
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

/// Where rows live and how they are committed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// `fjall:DIR`, `postgres://...` or `memory:`. By default `fjall:` with the folder `store` in
    /// `data_dir`.
    pub url: Url,
    /// Memory for cached blocks of the embedded engine.
    pub cache_mb: u32,
    /// What an acknowledged commit survives.
    pub durability: Durability,
    /// Batches committed together at most.
    pub group_max: u32,
    /// How long a group that is not full waits for more batches.
    pub group_wait_us: u32,
    /// The embedded engine refuses writes when the disk has less free space than this.
    pub free_mb_min: u32,
    pub postgres: Postgres,
}

/// What an acknowledged commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// A power cut: the write reached the disk.
    Fsync,
    /// The end of the process: the write reached the operating system.
    Os,
}

/// The PostgreSQL engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Postgres {
    /// Connections for reads.
    pub pool_max: u32,
    /// Groups committed at the same time, each on a connection of its own.
    pub commit_lanes: u32,
    pub connect_timeout_ms: u32,
    pub statement_timeout_ms: u32,
    /// How long reads and commits wait for a database that is away before they fail.
    pub patience_ms: u32,
    /// Authorities to trust instead of the system's, PEM.
    pub tls_ca_file: PathBuf,
    /// The client's certificate, PEM.
    pub tls_cert_file: PathBuf,
    /// The client's private key, PEM.
    pub tls_key_file: PathBuf,
}

/// Where messages go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topics {
    /// `store`, or `kafka://host:port,host:port`.
    pub url: Url,
    /// What `torg topic create` gives a new topic: messages older than this are removed; 0 keeps
    /// them for ever.
    pub retention_hours: u32,
    /// The same by size: a topic's oldest messages are removed above this, an equal share for each
    /// of its partitions; 0: no limit.
    pub retention_mb: u32,
}

/// How to talk to Kafka, when `topics.url` says so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kafka {
    pub security: KafkaSecurity,
    /// Put before the name of every topic, for clusters that are shared with others.
    pub topic_prefix: String,
    /// Authorities to trust instead of the system's, PEM.
    pub tls_ca_file: PathBuf,
    /// The client's certificate, PEM.
    pub tls_cert_file: PathBuf,
    /// The client's private key, PEM.
    pub tls_key_file: PathBuf,
    pub sasl_mechanism: SaslMechanism,
    pub sasl_user: String,
    pub sasl_password: Secret,
}

/// How a connection to a broker is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KafkaSecurity {
    Plaintext,
    Tls,
    SaslPlaintext,
    SaslTls,
}

/// How a client proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SaslMechanism {
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
pub struct Files {
    /// `file:DIR` or `s3://bucket/prefix`. By default `file:` with the folder `files` in
    /// `data_dir`.
    pub url: Url,
}

/// The ad store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offers {
    /// Parts that offers are divided into, each served by one process at a time. Chosen once for a
    /// store.
    pub shards: u32,
    /// The topic that hears of every change.
    pub topic: String,
    /// Partitions of that topic, when it is made.
    pub topic_partitions: u32,
    /// A folder of catalogue files; the built-in catalogue if left out.
    pub catalogue_dir: PathBuf,
    /// A folder with the earlier versions of that catalogue and the migrations from each to the
    /// next: offers are moved along them. Without one they stay of their version.
    pub catalogue_past_dir: PathBuf,
    /// How long an offer is shown before it expires.
    pub exposure_days: u32,
    /// How long offers stay in the active tables once they are removed, expired, sold or banned.
    pub archive_removed_days: u32,
    pub archive_expired_days: u32,
    pub archive_sold_days: u32,
    pub archive_banned_days: u32,
    /// How long the history of a change is kept.
    pub history_days: u32,
    /// How long a draft is kept that nobody changes.
    pub drafts_days: u32,
    /// How long an idempotency key is remembered.
    pub idempotency_hours: u32,
}

/// Where opinions about offers come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moderation {
    /// The topic of opinions; made if it is not there.
    pub topic: String,
    /// Where opinions go that cannot be applied, with the reason.
    pub dead_letter_topic: String,
    /// Partitions of these topics, when they are made.
    pub topic_partitions: u32,
}

/// What the process says about itself on stderr.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub format: LogFormat,
    /// A level, or levels by module: `info,torg=debug`.
    pub level: String,
}

/// The shape of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// `human` when stderr is a terminal, else `json`.
    Auto,
    Human,
    Json,
}

/// How much one process takes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The largest request body and the largest single message.
    pub request_bytes_max: u32,
    /// Calls served at the same time; further ones are refused. Health, reflection and metrics do
    /// not count.
    pub concurrent_requests_max: u32,
    /// The longest that a call may take, whatever its client asked for.
    pub request_timeout_s: u32,
    /// Open connections; further ones wait to be accepted.
    pub connections_max: u32,
    /// After a stop signal: how long `/readyz` says no while calls are still accepted, so that
    /// balancers notice.
    pub drain_notice_s: u32,
    /// After that: how long running calls may take to end.
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
