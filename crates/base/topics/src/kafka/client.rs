//! A client of Kafka: conversion of errors, blocking requests on other threads, and the thread that
//! serves events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rdkafka::client::ClientContext;
use rdkafka::config::{FromClientConfigAndContext, RDKafkaLogLevel};
use rdkafka::consumer::{BaseConsumer, ConsumerContext};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode as Code};
use tokio::time::Instant;

use crate::options::KafkaOptions;
use crate::{Error, Result};

/// How long the serving thread waits for an event before it checks whether it is still needed.
const SERVE_PAUSE: Duration = Duration::from_millis(200);
/// Time limit of one attempt; permanent errors are detected between attempts.
const ATTEMPT: Duration = Duration::from_secs(1);
const ATTEMPT_PAUSE: Duration = Duration::from_millis(100);

pub(super) type Consumer = BaseConsumer<Context>;

/// The last complaint of the client. It explains why brokers do not answer.
#[derive(Clone, Default)]
pub(super) struct Context {
    complaint: Arc<Mutex<Option<(Code, String)>>>,
}

impl Context {
    /// Whether there was a complaint since the last success.
    pub(super) fn is_worried(&self) -> bool {
        self.complaint.lock().is_some()
    }

    pub(super) fn is_well(&self) {
        *self.complaint.lock() = None;
    }

    /// A time-out is explained by the last complaint.
    pub(super) fn explain(&self, topic: &str, error: &KafkaError) -> Error {
        let code = error.rdkafka_error_code().unwrap_or(Code::Unknown);
        match class(code) {
            Class::Passing => match &*self.complaint.lock() {
                Some((code, reason)) if class(*code) == Class::Refused => {
                    Error::Refused { detail: one_line(reason) }
                }
                Some((_, reason)) => Error::Unavailable { detail: one_line(reason) },
                None => Error::Unavailable { detail: one_line(&code.to_string()) },
            },
            Class::Refused => Error::Refused { detail: one_line(&code.to_string()) },
            Class::UnknownTopic => Error::UnknownTopic { topic: topic.to_owned() },
            Class::Other => match error {
                KafkaError::ClientConfig(_, detail, name, _) => {
                    Error::BadSetting { detail: one_line(&format!("{name}: {detail}")) }
                }
                KafkaError::ClientCreation(detail) => Error::BadSetting { detail: one_line(detail) },
                _ => Error::Kafka { detail: one_line(&error.to_string()) },
            },
        }
    }
}

impl ClientContext for Context {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        match level {
            RDKafkaLogLevel::Emerg
            | RDKafkaLogLevel::Alert
            | RDKafkaLogLevel::Critical
            | RDKafkaLogLevel::Error
            // Its errors are connections that it will open again.
            | RDKafkaLogLevel::Warning => tracing::warn!(target: "kafka", facility, "{message}"),
            RDKafkaLogLevel::Notice | RDKafkaLogLevel::Info => {
                tracing::info!(target: "kafka", facility, "{message}");
            }
            RDKafkaLogLevel::Debug => tracing::debug!(target: "kafka", facility, "{message}"),
        }
    }

    fn error(&self, error: KafkaError, reason: &str) {
        let Some(code) = error.rdkafka_error_code() else { return };
        tracing::debug!(target: "kafka", %error, reason, "client error");
        let mut complaint = self.complaint.lock();
        // "All brokers are down" tells less than the reason before it.
        let vague = code == Code::AllBrokersDown;
        if !matches!(class(code), Class::Passing | Class::Refused) || (vague && complaint.is_some()) {
            return;
        }
        *complaint = Some((code, reason.to_owned()));
    }
}

impl ConsumerContext for Context {}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Temporary.
    Passing,
    /// A password, a certificate or a right must be changed.
    Refused,
    UnknownTopic,
    Other,
}

fn class(code: Code) -> Class {
    match code {
        Code::BrokerTransportFailure
        | Code::AllBrokersDown
        | Code::OperationTimedOut
        | Code::MessageTimedOut
        | Code::TimedOutQueue
        | Code::RequestTimedOut
        | Code::Resolve
        | Code::QueueFull
        | Code::WaitingForCoordinator
        | Code::InProgress
        | Code::PreviousInProgress
        | Code::Retry
        | Code::LeaderNotAvailable
        | Code::NotLeaderForPartition
        | Code::BrokerNotAvailable
        | Code::ReplicaNotAvailable
        | Code::NetworkException
        | Code::NotEnoughReplicas
        | Code::NotEnoughReplicasAfterAppend
        | Code::NotController
        | Code::KafkaStorageError
        | Code::FencedLeaderEpoch
        | Code::UnknownLeaderEpoch
        | Code::OffsetNotAvailable
        | Code::ThrottlingQuotaExceeded => Class::Passing,
        Code::Authentication
        | Code::SaslAuthenticationFailed
        | Code::UnsupportedSASLMechanism
        | Code::IllegalSASLState
        | Code::SSL
        | Code::TopicAuthorizationFailed
        | Code::GroupAuthorizationFailed
        | Code::ClusterAuthorizationFailed
        | Code::SecurityDisabled
        | Code::PolicyViolation => Class::Refused,
        Code::UnknownTopic | Code::UnknownTopicOrPartition | Code::UnknownPartition => Class::UnknownTopic,
        _ => Class::Other,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A consumer of the library, with the thread that serves its events. Closing a consumer is slow,
/// so the thread drops it last.
pub(super) struct Client {
    pub(super) consumer: Arc<Consumer>,
    pub(super) context: Context,
    stop: Arc<AtomicBool>,
}

impl Client {
    pub(super) fn start(options: &KafkaOptions) -> Result<Self> {
        let context = Context::default();
        let consumer = Consumer::from_config_and_context(&options.consumer(), context.clone())
            .map_err(|error| context.explain("", &error))?;
        let (consumer, stop) = (Arc::new(consumer), Arc::new(AtomicBool::new(false)));
        let (served, stopped) = (Arc::clone(&consumer), Arc::clone(&stop));
        let serve = move || {
            while !stopped.load(Ordering::Relaxed) {
                // Messages arrive in the queues of their partitions; here are only errors, which
                // the context has noted already.
                let _ = served.poll(SERVE_PAUSE);
            }
        };
        let thread = std::thread::Builder::new().name("kafka-client".to_owned()).spawn(serve);
        thread.map_err(|error| Error::Kafka { detail: format!("cannot start a thread: {error}") })?;
        Ok(Self { consumer, context, stop })
    }

    /// Repeats a request until the patience ends. `ask` blocks for at most the given time.
    pub(super) async fn ask<T, F>(&self, topic: &str, patience: Duration, ask: F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(&Consumer, Duration) -> KafkaResult<T> + Clone + Send + 'static,
    {
        let until = Instant::now() + patience;
        loop {
            let (consumer, ask) = (Arc::clone(&self.consumer), ask.clone());
            let left =
                until.saturating_duration_since(Instant::now()).clamp(Duration::from_millis(1), ATTEMPT);
            let error = match blocking(move || ask(&consumer, left)).await? {
                Ok(answer) => {
                    self.context.is_well();
                    return Ok(answer);
                }
                Err(error) => self.context.explain(topic, &error),
            };
            if !error.is_passing() || Instant::now() >= until {
                return Err(error);
            }
            tokio::time::sleep(ATTEMPT_PAUSE).await;
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Runs blocking work.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let stopped = |error| Error::Kafka { detail: format!("work was stopped: {error}") };
    tokio::task::spawn_blocking(work).await.map_err(stopped)
}
