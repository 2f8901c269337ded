//! Options of the log in Kafka.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Error, Result};

const SCHEME: &str = "kafka://";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// The password in clear: only over TLS.
    Plain,
    /// A challenge with SHA-256.
    ScramSha256,
    /// A challenge with SHA-512.
    ScramSha512,
}

impl Mechanism {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::ScramSha256 => "SCRAM-SHA-256",
            Self::ScramSha512 => "SCRAM-SHA-512",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Plain, Self::ScramSha256, Self::ScramSha512].into_iter().find(|m| m.name() == name)
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct Sasl {
    pub mechanism: Mechanism,
    pub user: String,
    /// It is never printed.
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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// PEM file with the authorities of the brokers' certificates; `None` trusts those of the
    /// system.
    pub ca_file: Option<PathBuf>,
    /// PEM files with the client's certificate and key, for brokers that ask for one.
    pub client_files: Option<(PathBuf, PathBuf)>,
}

#[derive(Clone, Debug)]
pub struct KafkaOptions {
    /// Some brokers, as `HOST:PORT`; they tell the others.
    pub brokers: Vec<String>,
    /// A prefix of topic names, for clusters that are shared with others.
    /// [`list`](crate::Topics::list) returns only topics with the prefix.
    pub prefix: String,
    /// The name of this program in Kafka's logs, quotas and ACLs, and of its consumer group.
    pub client_id: String,
    pub tls: Option<Tls>,
    pub sasl: Option<Sasl>,
    /// Replicas of a new topic; `None` uses the default of the brokers.
    pub replication: Option<u16>,
    /// `none`, `lz4`, `zstd`, `snappy` or `gzip`.
    pub compression: String,
    /// How long a message waits for others to share a request.
    pub linger: Duration,
    pub connect_timeout: Duration,
    /// How long reads and appends retry while brokers are unavailable.
    pub patience: Duration,
    /// Other settings of librdkafka, by name; they override those of the fields above.
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
    /// Sets the brokers from an address `kafka://HOST:PORT,HOST:PORT`.
    pub fn at(mut self, url: &str) -> Result<Self> {
        // Anything before an '@' may be a password.
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
