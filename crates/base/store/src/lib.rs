//! Ordered tables with atomic batches, over an embedded engine, PostgreSQL or memory.
//!
//! There are no interactive transactions. Code reads rows with their versions, computes, and
//! commits one [`Batch`]: checks that must still hold, and puts, deletes and adds that are applied
//! if they do, all or nothing. A [`Conflict`](Outcome::Conflict) is normal: read again, compute
//! again.
//!
//! ```
//! use store::{Batch, Memory, Outcome, Read, Schema, Store, StoreOptions, Table};
//!
//! static OFFERS: Table<(u32, String)> = Table::versioned("offers", &["shard", "id"]).large();
//! static COUNTS: Table<(u32, String)> = Table::counters("counts", &["shard", "name"]);
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> store::Result<()> {
//! let schema = Schema::new(1, [OFFERS.def(), COUNTS.def()])?;
//! let store = Store::over(std::sync::Arc::new(Memory::new(schema)), &StoreOptions::default());
//!
//! let mut batch = Batch::new();
//! batch.check_absent(OFFERS.key((7, "a1"))).put(OFFERS.key((7, "a1")), 1, "a bicycle").add(COUNTS.key((7, "active")), 1);
//! assert_eq!(store.commit(batch.clone()).await?, Outcome::Applied);
//! assert!(!store.commit(batch).await?.is_applied(), "the offer exists now");
//! assert_eq!(store.amount(&COUNTS.key((7, "active"))).await?, 1);
//! # Ok(()) }
//! ```
//!
//! What is promised:
//! - A batch is applied as a whole or not at all, also across a crash.
//! - An acknowledged batch is durable (see [`Durability`]), and every later read sees it.
//! - The outcome of a commit is never left open: see [`Store::commit`].
//! - [`Store::snapshot`] sees all tables at one moment.
//!
//! Where things are: [`Table`] and [`Key`] (`table.rs`, `key.rs`), [`Batch`] (`batch.rs`), [`Scan`]
//! (`scan.rs`), the committer that groups batches (`committer.rs`) and the rule that decides them
//! (`group.rs`), the contract of engines ([`engine`]), the engines (`memory/`, `embedded/`,
//! `postgres/`), every limit ([`limits`]), and the suite that every engine passes (`conformance/`).
//!
//! The features `fjall` and `postgres` compile the engines beside memory.

mod batch;
mod committer;
#[cfg(feature = "conformance")]
pub mod conformance;
mod copy;
#[cfg(feature = "fjall")]
mod embedded;
pub mod engine;
mod error;
mod failing;
mod group;
mod hints;
mod key;
pub mod limits;
mod memory;
mod open;
mod options;
#[cfg(feature = "postgres")]
mod postgres;
mod row;
mod scan;
mod store;
mod table;

pub use batch::{Batch, BatchId, Write};
pub use committer::Outcome;
pub use copy::{CopyProgress, copy};
#[cfg(feature = "fjall")]
pub use embedded::{Fjall, panic_becomes_error};
pub use engine::Read;
pub use error::{Error, Result};
pub use hints::{Hint, Hints};
pub use key::{IntoColumn, Key, KeyColumn, KeyTuple, KeyValue, PrefixOf};
pub use memory::{FaultCounts, Faults, Faulty, Memory};
pub use open::{StoreUrl, masked_url};
pub use options::{Durability, PostgresOptions, StoreOptions};
#[cfg(feature = "postgres")]
pub use postgres::Postgres;
pub use row::Row;
pub use scan::{Page, Scan};
pub use store::{Snapshot, Store};
pub use table::{ColumnType, Kind, Placement, Schema, Table, TableDef};
