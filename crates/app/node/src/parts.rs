//! Opens the parts of a process from its configuration.

use std::path::{Path, PathBuf};
use std::time::Duration;

use access::Clock;
use ctl::Ctl;
use store::{PostgresOptions, Schema, Store, StoreOptions, StoreUrl};
use topics::{KafkaOptions, Mechanism, Retention, Sasl, Tls, TopicSpec, Topics};

use crate::actions;
use crate::config::{self, Config, Durability, KafkaSecurity, SaslMechanism};
use terminal::errors::advised;

/// Must be raised when stored data changes its meaning. Programs with a lower version then refuse
/// the store.
const SCHEMA_VERSION: u32 = 1;
/// A copy reads the whole store from one snapshot, which may take days.
const COPY_SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(7 * 24 * 3600);

pub fn schema() -> store::Result<Schema> {
    let (topics, watcher) = (topics::tables().into_iter(), watcher::tables());
    Schema::new(
        SCHEMA_VERSION,
        topics
            .chain(access::tables())
            .chain(actions::tables())
            .chain(watcher)
            .chain(offers::tables())
            .chain(feeds::tables())
            .chain(remote_stages::tables())
            .chain(photos::tables())
            .chain(ctl::tables())
            .chain(tasks::tables())
            .chain(stages::price_tables()),
    )
}

/// Internal consumers, each with the topic that it reads.
pub fn consumers(config: &Config) -> Vec<(&'static str, String)> {
    let mut consumers = vec![
        (offers::MODERATION_GROUP, config.moderation.topic.clone()),
        (feeds::LOADS_GROUP, config.feeds.offers_topic.clone()),
        (feeds::RESULTS_GROUP, config.feeds.results_topic.clone()),
    ];
    if config.stages.built_in.contains(&config::BuiltInStage::Price) {
        consumers.push((stages::PRICE_GROUP, config.offers.topic.clone()));
    }
    consumers
}

/// Opens the values that tasks wait on. The store must have every table.
pub fn open_ctl(store: &Store) -> Ctl {
    Ctl::new(store.clone(), Clock::system(), ctl::Settings::default())
}

/// Opens or creates the configured store. Errors carry a hint.
pub async fn open_store(config: &Config) -> anyhow::Result<Store> {
    try_open_store(config, true).await.map_err(store_error)
}

/// Opens the configured store. Without `create` it must exist and is not changed.
pub async fn try_open_store(config: &Config, create: bool) -> store::Result<Store> {
    let url: StoreUrl = config.store.url.expose().parse()?;
    let options = StoreOptions { create, ..store_options(&config.store) };
    Store::open(&url, schema()?, &options).await
}

/// Opens a store to read all of it, with the tables it has.
pub async fn open_store_to_read(config: &Config, url: &str) -> anyhow::Result<Store> {
    let tables = Schema::new(SCHEMA_VERSION, []).map_err(store_error)?;
    open_whole_store(config, url, tables, false).await
}

/// Opens a store to fill it with a copy, and creates the tables of `schema`.
pub async fn open_store_to_fill(config: &Config, url: &str, schema: Schema) -> anyhow::Result<Store> {
    open_whole_store(config, url, schema, true).await
}

async fn open_whole_store(config: &Config, url: &str, schema: Schema, create: bool) -> anyhow::Result<Store> {
    let mut options = StoreOptions { create, ..store_options(&config.store) };
    options.postgres.snapshot_timeout = COPY_SNAPSHOT_TIMEOUT;
    let url: StoreUrl = url.parse().map_err(store_error)?;
    Store::open(&url, schema, &options).await.map_err(store_error)
}

pub async fn open_topics(config: &Config, store: &Store) -> anyhow::Result<Topics> {
    let kafka = kafka_options(&config.kafka);
    Topics::open(config.topics.url.expose(), store, kafka).await.map_err(topics_error)
}

/// Creates a topic unless it exists. An existing topic keeps its partitions and retention.
pub async fn ensure_topic(
    config: &Config,
    topics: &Topics,
    name: &str,
    partitions: u32,
) -> anyhow::Result<()> {
    let config::Topics { retention_hours, retention_mb, .. } = config.topics;
    match topics.partition_count(name).await {
        Err(topics::Error::UnknownTopic { .. }) => {
            let kept = retention(retention_hours, retention_mb, partitions);
            let topic = TopicSpec::new(name, partitions).retention(kept);
            topics.create(&topic).await.map_err(topics_error)
        }
        known => known.map(|_| ()).map_err(topics_error),
    }
}

/// Adds the hint, if the error has one.
pub fn store_error(error: store::Error) -> anyhow::Error {
    match error.hint() {
        Some(hint) => advised(error, hint),
        None => error.into(),
    }
}

/// Adds the hint, if the error has one.
pub fn topics_error(error: topics::Error) -> anyhow::Error {
    match error.hint() {
        Some(hint) => advised(error, hint),
        None => error.into(),
    }
}

fn store_options(config: &config::Store) -> StoreOptions {
    let millis = |ms: u32| Duration::from_millis(ms.into());
    let config::Store { postgres, .. } = config;
    StoreOptions {
        create: true,
        cache_bytes: u64::from(config.cache_mb) << 20,
        durability: match config.durability {
            Durability::Fsync => store::Durability::Fsync,
            Durability::Os => store::Durability::Os,
        },
        group_max: config.group_max as usize,
        group_wait: Duration::from_micros(config.group_wait_us.into()),
        free_bytes_min: u64::from(config.free_mb_min) << 20,
        postgres: PostgresOptions {
            read_connections: postgres.pool_max as usize,
            commit_lanes: postgres.commit_lanes as usize,
            statement_timeout: millis(postgres.statement_timeout_ms),
            connect_timeout: millis(postgres.connect_timeout_ms),
            patience: millis(postgres.patience_ms),
            tls_ca_file: file(&postgres.tls_ca_file),
            tls_client_files: file(&postgres.tls_cert_file).zip(file(&postgres.tls_key_file)),
            ..PostgresOptions::default()
        },
        ..StoreOptions::default()
    }
}

fn kafka_options(config: &config::Kafka) -> KafkaOptions {
    let tls = Tls {
        ca_file: file(&config.tls_ca_file),
        client_files: file(&config.tls_cert_file).zip(file(&config.tls_key_file)),
    };
    let sasl = Sasl {
        mechanism: match config.sasl_mechanism {
            SaslMechanism::Plain => Mechanism::Plain,
            SaslMechanism::ScramSha256 => Mechanism::ScramSha256,
            SaslMechanism::ScramSha512 => Mechanism::ScramSha512,
        },
        user: config.sasl_user.clone(),
        password: config.sasl_password.expose().to_owned(),
    };
    let (encrypted, logged_in) = match config.security {
        KafkaSecurity::Plaintext => (false, false),
        KafkaSecurity::Tls => (true, false),
        KafkaSecurity::SaslPlaintext => (false, true),
        KafkaSecurity::SaslTls => (true, true),
    };
    KafkaOptions {
        prefix: config.topic_prefix.clone(),
        tls: encrypted.then_some(tls),
        sasl: logged_in.then_some(sasl),
        ..KafkaOptions::default()
    }
}

/// An optional path; empty means unset.
fn file(path: &Path) -> Option<PathBuf> {
    (!path.as_os_str().is_empty()).then(|| path.to_owned())
}

/// The retention of a topic. The size limit is for all partitions together.
pub fn retention(hours: u32, megabytes: u32, partitions: u32) -> Retention {
    let share = (u64::from(megabytes) << 20) / u64::from(partitions.max(1));
    Retention {
        time: (hours > 0).then(|| Duration::from_secs(u64::from(hours) * 3600)),
        bytes: (megabytes > 0).then_some(share),
    }
}

/// A unique name of this process among those on the same store.
pub fn instance_name() -> String {
    let host = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    format!("{}-{}-{:08x}", host.trim(), std::process::id(), rand::random::<u32>())
}
