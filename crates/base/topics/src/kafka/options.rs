//! How to reach Kafka.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use rdkafka::ClientConfig;

use crate::limits::{KAFKA_FETCHED_KIB_MAX, KAFKA_UNSENT_MESSAGES_MAX, TOPIC_NAME_BYTES_MAX};
use crate::{Error, Result};

const SCHEME: &str = "kafka://";
/// Kafka's own limit for the name of a topic.
const KAFKA_NAME_BYTES_MAX: usize = 249;
/// Kafka's default for the largest batch; the client's own default lies a little below our largest message.
const BATCH_BYTES_MAX: &str = "1048588";

/// How a user proves who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// The password itself: only over TLS.
    Plain,
    /// A challenge with SHA-256.
    ScramSha256,
    /// A challenge with SHA-512.
    ScramSha512,
}

impl Mechanism {
    /// Kafka's name for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::ScramSha256 => "SCRAM-SHA-256",
            Self::ScramSha512 => "SCRAM-SHA-512",
        }
    }

    /// The mechanism of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Plain, Self::ScramSha256, Self::ScramSha512].into_iter().find(|m| m.name() == name)
    }
}

/// A user of Kafka.
#[derive(Clone, PartialEq, Eq)]
pub struct Sasl {
    /// How the user proves who they are.
    pub mechanism: Mechanism,
    /// The user's name.
    pub user: String,
    /// The user's password. It is never printed.
    pub password: String,
}

impl fmt::Debug for Sasl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sasl")
            .field("mechanism", &self.mechanism)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// An encrypted connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// PEM file with the authorities that may sign the brokers' certificates; `None` trusts the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM files with the client's certificate and key, for brokers that ask for one.
    pub client_files: Option<(PathBuf, PathBuf)>,
}

/// How to reach Kafka, and how to behave towards it.
#[derive(Clone, Debug)]
pub struct KafkaOptions {
    /// Some of the brokers, as `HOST:PORT`; the others are learnt from them.
    pub brokers: Vec<String>,
    /// Put before the name of every topic, for clusters that are shared with others. [`list`](crate::Topics::list)
    /// shows only topics that have it.
    pub prefix: String,
    /// The name under which Kafka's logs, quotas and rights know this program, also as the name of its consumer group.
    pub client_id: String,
    /// Encrypts connections.
    pub tls: Option<Tls>,
    /// Logs in.
    pub sasl: Option<Sasl>,
    /// Copies of each new topic; `None` leaves it to the brokers.
    pub replication: Option<u16>,
    /// `none`, `lz4`, `zstd`, `snappy` or `gzip`.
    pub compression: String,
    /// How long a message waits for others that can go with it.
    pub linger: Duration,
    /// How long opening waits for the first answer.
    pub connect_timeout: Duration,
    /// How long reads and appends wait for brokers that are away before they fail.
    pub patience: Duration,
    /// Any other settings of librdkafka, by name; they win over those made from the fields above.
    pub settings: BTreeMap<String, String>,
}

impl Default for KafkaOptions {
    fn default() -> Self {
        Self {
            brokers: Vec::new(),
            prefix: String::new(),
            client_id: "torg".to_owned(),
            tls: None,
            sasl: None,
            replication: None,
            compression: "lz4".to_owned(),
            linger: Duration::from_millis(2),
            connect_timeout: Duration::from_secs(10),
            patience: Duration::from_secs(30),
            settings: BTreeMap::new(),
        }
    }
}

impl KafkaOptions {
    /// The same options with the brokers of an address `kafka://HOST:PORT,HOST:PORT`.
    pub fn at(mut self, url: &str) -> Result<Self> {
        // Whatever is before an '@' may be a password that was put there by mistake.
        let shown = || match url.rsplit_once('@') {
            Some((_, rest)) => format!("{SCHEME}...@{rest}"),
            None => url.to_owned(),
        };
        let bad = |reason| Err(Error::BadUrl { url: shown(), reason });
        let Some(brokers) = url.strip_prefix(SCHEME) else {
            return bad("it is neither `store` nor kafka://");
        };
        if brokers.contains('@') {
            return bad("user and password have settings of their own");
        }
        if brokers.contains(['/', '?', '#', ' ']) {
            return bad("nothing may follow the brokers");
        }
        self.brokers = brokers.split(',').map(str::to_owned).collect();
        let has_port = |broker: &String| {
            broker
                .rsplit_once(':')
                .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
        };
        if self.brokers.iter().all(has_port) { Ok(self) } else { bad("every broker needs a host and a port") }
    }

    pub(super) fn validate(&self) -> Result<()> {
        let bad = |detail: &str| Err(Error::BadSetting { detail: detail.to_owned() });
        if self.brokers.is_empty() {
            return bad("no brokers are given");
        }
        if self.prefix.len() + TOPIC_NAME_BYTES_MAX > KAFKA_NAME_BYTES_MAX {
            return bad("the prefix of topics is too long");
        }
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        if !self.prefix.bytes().all(allowed) {
            return bad("the prefix of topics may have letters, digits, '.', '_' and '-' only");
        }
        Ok(())
    }

    /// What every client needs.
    fn client(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", self.brokers.join(","))
            .set("client.id", &self.client_id)
            .set(
                "socket.connection.setup.timeout.ms",
                millis(self.connect_timeout.max(Duration::from_secs(1))),
            )
            .set("socket.keepalive.enable", "true")
            .set("reconnect.backoff.ms", "50")
            .set("reconnect.backoff.max.ms", "1000")
            .set("log.connection.close", "false")
            .set("security.protocol", self.protocol());
        if let Some(tls) = &self.tls {
            // OpenSSL is built in and knows no folder of certificates: they are looked for in the usual places.
            let ca = tls.ca_file.as_ref().map_or_else(|| "probe".into(), |file| file.display().to_string());
            config.set("ssl.ca.location", ca);
            if let Some((certificate, key)) = &tls.client_files {
                config.set("ssl.certificate.location", certificate.display().to_string());
                config.set("ssl.key.location", key.display().to_string());
            }
        }
        if let Some(sasl) = &self.sasl {
            config.set("sasl.mechanism", sasl.mechanism.name());
            config.set("sasl.username", &sasl.user).set("sasl.password", &sasl.password);
        }
        config
    }

    fn protocol(&self) -> &'static str {
        match (&self.tls, &self.sasl) {
            (None, None) => "plaintext",
            (Some(_), None) => "ssl",
            (None, Some(_)) => "sasl_plaintext",
            (Some(_), Some(_)) => "sasl_ssl",
        }
    }

    fn with_settings(&self, mut config: ClientConfig) -> ClientConfig {
        for (name, value) in &self.settings {
            config.set(name, value);
        }
        config
    }

    pub(super) fn admin(&self) -> ClientConfig {
        self.with_settings(self.client())
    }

    pub(super) fn producer(&self) -> ClientConfig {
        let mut config = self.client();
        config
            .set("enable.idempotence", "true")
            .set("acks", "all")
            .set("compression.type", &self.compression)
            .set("linger.ms", millis(self.linger))
            .set("message.max.bytes", BATCH_BYTES_MAX)
            .set("message.timeout.ms", millis(self.patience.max(Duration::from_secs(1))))
            .set("queue.buffering.max.messages", KAFKA_UNSENT_MESSAGES_MAX.to_string());
        self.with_settings(config)
    }

    /// The group never joins nor commits anything; the library only wants it named.
    pub(super) fn consumer(&self) -> ClientConfig {
        let mut config = self.client();
        config
            .set("group.id", &self.client_id)
            .set("enable.auto.commit", "false")
            .set("enable.auto.offset.store", "false")
            .set("enable.partition.eof", "true")
            .set("auto.offset.reset", "error")
            .set("allow.auto.create.topics", "false")
            .set("queued.max.messages.kbytes", KAFKA_FETCHED_KIB_MAX.to_string())
            .set("fetch.queue.backoff.ms", "20")
            // A cursor that is moved waits for the answer to the question that is under way.
            .set("fetch.wait.max.ms", "100");
        self.with_settings(config)
    }
}

fn millis(duration: Duration) -> String {
    duration.as_millis().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_brokers_with_ports() {
        let options = KafkaOptions::default().at("kafka://a:9092,b.example:9093").unwrap();
        assert_eq!(options.brokers, ["a:9092", "b.example:9093"]);
        assert_eq!(KafkaOptions::default().at("kafka://[::1]:9092").unwrap().brokers, ["[::1]:9092"]);
    }

    #[test]
    fn a_wrong_address_is_refused_with_its_reason() {
        for url in [
            "",
            "kafka",
            "kafka://",
            "kafka://a",
            "kafka://a:",
            "kafka://:9092",
            "kafka://a:b",
            "kafka://a:99999",
            "kafka://a:1,",
            "kafka://a:1/topic",
            "kafka://a:1?x",
            "http://a:1",
            "Store",
        ] {
            let error = KafkaOptions::default().at(url).expect_err(url);
            assert!(matches!(error, Error::BadUrl { .. }), "{url}: {error}");
            assert!(error.hint().is_some());
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let error = KafkaOptions::default().at("kafka://me:secret@a:1").unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
        let password = "secret".to_owned();
        let sasl = Sasl { mechanism: Mechanism::Plain, user: "me".to_owned(), password };
        let options = KafkaOptions { sasl: Some(sasl), ..KafkaOptions::default() };
        assert!(!format!("{options:?}").contains("secret"));
    }

    #[test]
    fn mechanisms_are_known_by_kafkas_names() {
        for mechanism in [Mechanism::Plain, Mechanism::ScramSha256, Mechanism::ScramSha512] {
            assert_eq!(Mechanism::from_name(mechanism.name()), Some(mechanism));
        }
        assert_eq!(Mechanism::from_name("GSSAPI"), None);
    }
}
