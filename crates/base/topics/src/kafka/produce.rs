//! Appending to Kafka.


use parking_lot::Mutex;
use rdkafka::config::FromClientConfigAndContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::future_producer::Delivery;
use rdkafka::producer::{DeliveryFuture, FutureProducer, FutureRecord, Producer as _};
use tokio::time::Instant;

use crate::options::KafkaOptions;
use super::client::{Context, blocking};
use super::limits::QUEUE_PAUSE;
use crate::log::Placed;
use crate::message::{Message, Place};
use crate::{Error, Result};

type Idempotent = FutureProducer<Context>;

/// The idempotent producer. The library keeps the order of a partition, and sends again what was not acknowledged, without
/// doubling it, until the patience ends.
pub(super) struct Producer {
    options: KafkaOptions,
    context: Context,
    /// Replaced when the library gives one up: it can then no longer promise order and single copies.
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

    /// Appends to the topic of that full name. After an error, some messages may have been appended.
    pub(super) async fn append(&self, name: &str, messages: &[Placed]) -> Result<Vec<Place>> {
        let producer = self.current();
        let mut deliveries = Vec::with_capacity(messages.len());
        let mut failed = None;
        for placed in messages {
            match self.enqueue(&producer, name, placed).await {
                Ok(delivery) => deliveries.push(delivery),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        // All of them, also after a failure: when this answers, nothing of it is on its way any more.
        let mut places = Vec::with_capacity(messages.len());
        for delivery in deliveries {
            match delivery.await {
                Ok(Ok(Delivery { partition, offset, .. })) => {
                    places.push(Place { partition: partition.cast_unsigned(), offset });
                }
                Ok(Err((error, _))) => failed = failed.or(Some(error)),
                Err(_) => return Err(Error::Closed),
            }
        }
        match failed {
            None => {
                self.context.is_well();
                Ok(places)
            }
            Some(error) => Err(self.give_up(&producer, name, &error)),
        }
    }

    /// Hands one message to the library, waiting while its queue is full.
    async fn enqueue(
        &self,
        producer: &Idempotent,
        name: &str,
        placed: &Placed,
    ) -> Result<DeliveryFuture, KafkaError> {
        let until = Instant::now() + self.options.patience;
        loop {
            match producer.send_result(record(name, placed)) {
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
        tracing::error!(%code, reason, "the Kafka producer gave up, starting another");
        match create(&self.options, &self.context) {
            Ok(another) => *self.current.lock() = another,
            Err(error) => return error,
        }
        Error::Unavailable { detail: format!("the producer was started anew: {reason}") }
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

fn record<'a>(name: &'a str, placed: &'a Placed) -> FutureRecord<'a, [u8], [u8]> {
    let Message { key, headers, payload, time } = &placed.message;
    let mut record = FutureRecord::to(name)
        .partition(placed.partition.cast_signed())
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
