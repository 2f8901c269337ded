//! Validation of settings: ranges of numbers, forms of addresses, and dependencies between
//! settings.

use toml::Value;

use super::{Config, Error, KafkaSecurity};

const RANGES: &[(&str, i64, i64)] = &[
    ("store.cache_mb", 8, 1_048_576),
    ("store.group_max", 1, 10_000),
    ("store.group_wait_us", 0, 1_000_000),
    ("store.free_mb_min", 1, 1_048_576),
    ("store.postgres.pool_max", 1, 1_000),
    ("store.postgres.commit_lanes", 1, 64),
    ("store.postgres.connect_timeout_ms", 100, 600_000),
    ("store.postgres.statement_timeout_ms", 100, 3_600_000),
    ("store.postgres.patience_ms", 0, 3_600_000),
    ("topics.retention_hours", 0, 876_000),
    ("topics.retention_mb", 0, 4_294_967_295),
    ("offers.shards", 1, 4_096),
    ("offers.topic_partitions", 1, 1_024),
    ("offers.exposure_days", 1, 3_650),
    ("offers.archive_removed_days", 0, 3_650),
    ("offers.archive_expired_days", 0, 3_650),
    ("offers.archive_sold_days", 0, 3_650),
    ("offers.archive_banned_days", 0, 3_650),
    ("offers.history_days", 1, 36_500),
    ("offers.drafts_days", 1, 3_650),
    ("offers.idempotency_hours", 1, 720),
    ("moderation.topic_partitions", 1, 1_024),
    ("feeds.shards", 1, 4_096),
    ("feeds.topic_partitions", 1, 1_024),
    ("feeds.loads_kept", 1, 10_000),
    ("feeds.batches_ahead", 1, 1_000),
    ("feeds.upload_mb_max", 1, 1_024),
    ("feeds.geocoder_interval_ms", 0, 60_000),
    ("tasks.topic_partitions", 1, 1_024),
    ("tasks.lease_ms", 1_000, 600_000),
    ("limits.request_bytes_max", 1_024, 1_073_741_824),
    ("limits.concurrent_requests_max", 1, 1_000_000),
    ("limits.request_timeout_s", 1, 86_400),
    ("limits.connections_max", 1, 1_000_000),
    ("limits.drain_notice_s", 0, 3_600),
    ("limits.drain_timeout_s", 0, 3_600),
];

fn range(key: &str) -> Option<(i64, i64)> {
    let (ranges, name) = match key.strip_prefix("access.") {
        Some(name) => (access::Config::RANGES, name),
        None => (RANGES, key),
    };
    ranges.iter().find(|(known, _, _)| *known == name).map(|(_, min, max)| (*min, *max))
}

/// URL prefixes that each key accepts, and their form in error messages.
const STORE_URLS: &[(&str, &str)] = &[
    ("fjall:", "fjall:DIR"),
    ("postgres://", "postgres://..."),
    ("postgresql://", ""),
    ("memory:", "memory:"),
];
const TOPICS_URLS: &[(&str, &str)] = &[("kafka://", "kafka://host:port,..."), ("store", "store")];
const FILES_URLS: &[(&str, &str)] = &[("file:", "file:DIR"), ("s3://", "s3://bucket/prefix")];

/// Returns the reason if a value of the right type is invalid.
pub(super) fn complaint(key: &str, value: &Value) -> Option<String> {
    if let Value::Integer(number) = value {
        let (min, max) = range(key)?;
        return (*number < min || *number > max).then(|| format!("{number} is not between {min} and {max}"));
    }
    let text = value.as_str().unwrap_or_default();
    match key {
        "store.url" => wrong_url(key, text, STORE_URLS),
        "topics.url" => wrong_url(key, text, TOPICS_URLS),
        "files.url" => wrong_url(key, text, FILES_URLS),
        "data_dir" | "feeds.spool_dir" | "tasks.runs_dir" if text.is_empty() => {
            Some("an empty path".to_owned())
        }
        "roles" if value.as_array().is_some_and(Vec::is_empty) => {
            Some("empty: a process without a role does nothing".to_owned())
        }
        "log.level" => text
            .parse::<tracing_subscriber::filter::Targets>()
            .is_err()
            .then(|| format!("\"{text}\" is no level: error, warn, info, debug, trace, or info,torg=debug")),
        _ => None,
    }
}

fn wrong_url(key: &str, url: &str, forms: &[(&str, &str)]) -> Option<String> {
    let fits = forms.iter().any(|(start, _)| match url.strip_prefix(start) {
        // A folder or a host must follow, except where the word alone is the URL.
        Some(rest) => !rest.is_empty() || matches!(*start, "memory:" | "store"),
        None => false,
    });
    let known: Vec<&str> = forms.iter().map(|(_, shown)| *shown).filter(|shown| !shown.is_empty()).collect();
    (!fits).then(|| format!("\"{}\" is none of {}", super::secret::masked(key, url), known.join(", ")))
}

/// Checks settings that depend on each other.
pub(super) fn check_together(config: &Config) -> Result<(), Error> {
    let Config { kafka, store, topics, .. } = config;
    let postgres = &store.postgres;
    let half = |cert: &std::path::Path, key: &std::path::Path| {
        cert.as_os_str().is_empty() != key.as_os_str().is_empty()
    };
    if half(&postgres.tls_cert_file, &postgres.tls_key_file) {
        return Err(Error::Together {
            key: "store.postgres.tls_key_file",
            why: "a client certificate needs both its certificate and its key".into(),
        });
    }
    if half(&kafka.tls_cert_file, &kafka.tls_key_file) {
        return Err(Error::Together {
            key: "kafka.tls_key_file",
            why: "a client certificate needs both its certificate and its key".into(),
        });
    }
    let sasl = matches!(kafka.security, KafkaSecurity::SaslPlaintext | KafkaSecurity::SaslTls);
    if topics.url.scheme() == "kafka" && sasl && kafka.sasl_user.is_empty() {
        return Err(Error::Together { key: "kafka.sasl_user", why: "SASL needs a user".into() });
    }
    if topics.url.scheme() == "kafka" && sasl && kafka.sasl_password.is_empty() {
        return Err(Error::Together { key: "kafka.sasl_password", why: "SASL needs a password".into() });
    }
    config.feeds.rules()?;
    config.access.validate().map_err(access_error)?;
    config.tls.is_on().map_err(access_error)?;
    Ok(())
}

fn access_error(error: access::Error) -> Error {
    match error {
        access::Error::Setting { key, why } => Error::Together { key, why: why.into() },
        error => Error::Together { key: "access", why: error.to_string().into() },
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys;
    use super::*;

    #[test]
    fn every_number_has_a_range_and_every_default_is_in_order() {
        for (key, value) in keys::leaves(&keys::defaults()) {
            assert_eq!(complaint(&key, &value), None, "{key}");
            if value.is_integer() {
                assert!(range(&key).is_some(), "{key} has no range");
            }
        }
        assert_eq!(check_together(&Config::default()), Ok(()));
    }

    #[test]
    fn a_url_of_an_unknown_kind_is_refused_without_showing_its_password() {
        let why = complaint("store.url", &Value::from("mysql://root:hush@host/db")).unwrap();
        assert!(why.contains("mysql://root:***@host/db") && why.contains("fjall:DIR"), "{why}");
        assert!(complaint("store.url", &Value::from("fjall:")).is_some());
        assert_eq!(complaint("store.url", &Value::from("memory:")), None);
    }
}
