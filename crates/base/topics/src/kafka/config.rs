//! The settings of librdkafka.

use std::time::Duration;

use rdkafka::ClientConfig;

use super::limits::{FETCHED_KIB_MAX, UNSENT_MESSAGES_MAX};
use crate::limits::TOPIC_NAME_BYTES_MAX;
use crate::options::KafkaOptions;
use crate::{Error, Result};

/// Kafka's own limit for the name of a topic.
const KAFKA_NAME_BYTES_MAX: usize = 249;
/// Kafka's default for the largest batch; the client's own default is a little less than our
/// largest message.
const BATCH_BYTES_MAX: &str = "1048588";

impl KafkaOptions {
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
            // The built-in OpenSSL has no default folder of certificates: the usual folders are
            // searched.
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
            .set("queue.buffering.max.messages", UNSENT_MESSAGES_MAX.to_string());
        self.with_settings(config)
    }

    /// The group never joins nor commits; the library only requires a name.
    pub(super) fn consumer(&self) -> ClientConfig {
        let mut config = self.client();
        config
            .set("group.id", &self.client_id)
            .set("enable.auto.commit", "false")
            .set("enable.auto.offset.store", "false")
            .set("enable.partition.eof", "true")
            .set("auto.offset.reset", "error")
            .set("allow.auto.create.topics", "false")
            .set("queued.max.messages.kbytes", FETCHED_KIB_MAX.to_string())
            .set("fetch.queue.backoff.ms", "20")
            // A moved cursor waits for the pending fetch.
            .set("fetch.wait.max.ms", "100");
        self.with_settings(config)
    }
}

fn millis(duration: Duration) -> String {
    duration.as_millis().to_string()
}
