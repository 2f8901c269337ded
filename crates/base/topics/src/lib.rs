//! Partitioned logs: in the store, or in Kafka.
//!
//! A topic has a fixed number of partitions. A [`Message`] goes to the partition of its key, where
//! messages keep the order in which they were appended; its offset is its number there. Consumers
//! read a partition in pages from an offset, and store their offset in the commit that applies the
//! messages: see [`Position`].
//!
//! ```
//! use std::sync::Arc;
//! use store::{Memory, Schema, Store, StoreOptions};
//! use topics::{Message, ReadLimit, TopicSpec, Topics};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = Schema::new(1, topics::tables())?;
//! let store = Store::over(Arc::new(Memory::new(schema)), &StoreOptions::default());
//! let topics = Topics::in_store(&store);
//! topics.create(&TopicSpec::new("offers", 4)).await?;
//!
//! let now = 1_700_000_000_000;
//! let ids = topics.append("offers", vec![Message::new("offer-1", "a bicycle", now)]).await?;
//! let page = topics.read("offers", ids[0].partition, 0, ReadLimit::default()).await?;
//! assert_eq!(page.messages[0].message.payload, "a bicycle");
//! assert_eq!(page.next, 1);
//! # Ok(()) }
//! ```
//!
//! Guarantees of both logs:
//! - An acknowledged message is durable, and every later read sees it.
//! - Messages of one key, appended by one caller, one call after the other, stay in order.
//! - A message that was not acknowledged may be in the log after a crash, and in Kafka also after
//!   an error: appending is at least once. In the store an error means that the messages are not in
//!   the log.
//! - Committing the offset together with the effects is exactly once: [`Position::commit_into`].
//!
//! Where things are: [`Topics`] (`topics.rs`) checks and routes, a [`Log`] (`log.rs`) stores:
//! `in_store/` or `kafka/`. Rows are defined in `tables.rs` and encoded in `codec.rs`; the offsets
//! of consumers are in `offsets.rs`, every limit in [`limits`], the suite that every log passes in
//! `conformance/`.
//!
//! The feature `kafka` compiles the log in Kafka, with librdkafka and OpenSSL.

mod codec;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod in_store;
#[cfg(feature = "kafka")]
mod kafka;
pub mod limits;
mod log;
mod message;
mod offsets;
mod options;
mod spec;
mod tables;
mod topics;

pub use error::{Error, Result};
pub use log::{Log, Routed, Trimmed};
pub use message::{Delivered, Message, MessageId, Page, ReadLimit, partition_of};
pub use offsets::{Lag, Position};
pub use options::{KafkaOptions, Mechanism, Sasl, Tls};
pub use spec::{Description, PartitionInfo, Retention, TopicSpec};
pub use tables::tables;
pub use topics::Topics;
