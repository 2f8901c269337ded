//! Partitioned logs: in the store, or in Kafka.
//!
//! A topic has a fixed number of partitions. A [`Message`] goes to the partition of its key and stays there in the order
//! in which it was appended; its offset is its place. Consumers read a partition page by page from an offset, and keep how
//! far they are in the store, inside the commit that applies the messages: see [`Position`].
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
//! let places = topics.append("offers", vec![Message::new("offer-1", "a bicycle", now)]).await?;
//! let page = topics.read("offers", places[0].partition, 0, ReadLimit::default()).await?;
//! assert_eq!(page.messages[0].message.payload, "a bicycle");
//! assert_eq!(page.next, 1);
//! # Ok(()) }
//! ```
//!
//! What is promised, by both logs:
//! - An acknowledged message is durable, and every later read sees it.
//! - Messages of one key, appended by one caller, one call after the other, stay in order.
//! - A message that was not acknowledged may be in the log all the same after a crash, and in Kafka also after an error:
//!   appending is at least once. In the store an error means that the messages are not there.
//! - Reading and committing the offset with the effects is exactly once: [`Position::commit_into`].
//!
//! Where things are: [`Topics`] (`topics.rs`) checks and routes, a [`Log`] (`log.rs`) keeps: `in_store/` or `kafka/`.
//! Rows are laid out in `tables.rs` and written as bytes in `codec.rs`; consumers' offsets are in `offsets.rs`, every limit
//! in [`limits`], the suite that every log passes in `conformance/`.

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
pub use options::{KafkaOptions, Mechanism, Sasl, Tls};
pub use log::{Log, Placed, Trimmed};
pub use message::{Delivered, Message, Page, Place, ReadLimit, partition_of};
pub use offsets::{Lag, Position};
pub use spec::{Description, PartitionInfo, Retention, TopicSpec};
pub use tables::tables;
pub use topics::Topics;
