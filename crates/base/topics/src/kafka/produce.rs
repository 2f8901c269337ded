//! Appends to Kafka.

use parking_lot::Mutex;
use rdkafka::config::FromClientConfigAndContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::future_producer::Delivery;
use rdkafka::producer::{DeliveryFuture, FutureProducer, FutureRecord, Producer as _};
use tokio::time::Instant;

use super::client::{Context, blocking};
use super::limits::QUEUE_PAUSE;
use crate::log::Routed;
use crate::message::{Message, MessageId};
use crate::options::KafkaOptions;
use crate::{Error, Result};

type Idempotent = FutureProducer<Context>;

/// The idempotent producer. The library keeps the order of a partition, and resends what was not
/// acknowledged, without duplicates, until its patience ends.
pub(super) struct Producer {
    options: KafkaOptions,
    context: Context,
    /// Replaced after a fatal error of the library: then it no longer guarantees order and single
    /// copies.
    current: Mutex<Idempotent>,
}

impl Producer {
    pub(super) fn start(options: &KafkaOptions) -> Result<Self> {
        let context = Context::default();
        let current = Mutex::new(create(options, &context)?);
        Ok(Self { options: options.clone(), context, current })
    }

    fn current(&self) -> Idempotent {
        self.current.lock().clone()
    }

    /// `name` is the full name of the topic. After an error some messages may have been appended.
    pub(super) async fn append(&self, name: &str, messages: &[Routed]) -> Result<Vec<MessageId>> {
        let producer = self.current();
        let mut deliveries = Vec::with_capacity(messages.len());
        let mut failed = None;
        for routed in messages {
            match self.enqueue(&producer, name, routed).await {
                Ok(delivery) => deliveries.push(delivery),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        // Await all of them, also after a failure: nothing is in flight afterwards.
        let mut ids = Vec::with_capacity(messages.len());
        for delivery in deliveries {
            match delivery.await {
                Ok(Ok(Delivery { partition, offset, .. })) => {
                    ids.push(MessageId { partition: partition.cast_unsigned(), offset });
                }
                Ok(Err((error, _))) => failed = failed.or(Some(error)),
                Err(_) => return Err(Error::Closed),
            }
        }
        match failed {
            None => {
                self.context.is_well();
                Ok(ids)
            }
            Some(error) => Err(self.give_up(&producer, name, &error)),
        }
    }

    /// Sends one message, waiting while the queue of the library is full.
    async fn enqueue(
        &self,
        producer: &Idempotent,
        name: &str,
        routed: &Routed,
    ) -> Result<DeliveryFuture, KafkaError> {
        let until = Instant::now() + self.options.patience;
        loop {
            match producer.send_result(record(name, routed)) {
                Ok(delivery) => return Ok(delivery),
                Err((error, _)) if is_full(&error) && Instant::now() < until => {}
                Err((error, _)) => return Err(error),
            }
            tokio::time::sleep(QUEUE_PAUSE).await;
        }
    }

    fn give_up(&self, producer: &Idempotent, name: &str, error: &KafkaError) -> Error {
        let Some((code, reason)) = producer.client().fatal_error() else {
            let topic = name.strip_prefix(&self.options.prefix).unwrap_or(name);
            return self.context.explain(topic, error);
        };
        tracing::error!(%code, reason, "the Kafka producer failed, starting another");
        match create(&self.options, &self.context) {
            Ok(another) => *self.current.lock() = another,
            Err(error) => return error,
        }
        Error::Unavailable { detail: format!("the producer was restarted: {reason}") }
    }

    pub(super) async fn close(&self) -> Result<()> {
        let (producer, patience) = (self.current(), self.options.patience);
        let flushed = blocking(move || producer.flush(patience)).await?;
        flushed.map_err(|error| self.context.explain("", &error))
    }
}

fn create(options: &KafkaOptions, context: &Context) -> Result<Idempotent> {
    Idempotent::from_config_and_context(&options.producer(), context.clone())
        .map_err(|error| context.explain("", &error))
}

fn is_full(error: &KafkaError) -> bool {
    error.rdkafka_error_code() == Some(Code::QueueFull)
}

fn record<'a>(name: &'a str, routed: &'a Routed) -> FutureRecord<'a, [u8], [u8]> {
    let Message { key, headers, payload, time } = &routed.message;
    let mut record = FutureRecord::to(name)
        .partition(routed.partition.cast_signed())
        .key(&**key)
        .payload(&**payload)
        .timestamp(*time);
    if !headers.is_empty() {
        let empty = OwnedHeaders::new_with_capacity(headers.len());
        let all = headers
            .iter()
            .fold(empty, |all, (name, value)| all.insert(Header { key: name, value: Some(&**value) }));
        record = record.headers(all);
    }
    record
}
