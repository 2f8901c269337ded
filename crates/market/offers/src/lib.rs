//! The ad store of a marketplace.
//!
//! An offer is an entity of the watcher ([`StoredOffer`]). All rows that follow from a change of an
//! offer are saved in the same commit: the lists of its seller, counters, history, and the outbox
//! of the topic.
//!
//! Where things are:
//! - an offer: `id.rs`, `fields.rs`, `status.rs` (the table of moves), `moves.rs`, `row.rs` (its
//!   encoding with internal state), `entity.rs` (the rows of a change), `validation.rs`,
//!   `masks.rs`;
//! - rows of a change: `presets.rs` and `lists.rs` (the cabinet), `counters.rs`, `history.rs`;
//! - the API: [`Offers`] (`offers.rs`), [`Call`] (`call.rs`: callers and idempotency keys),
//!   [`drafts`], [`cabinet`], `billing.rs`, `watch.rs`;
//! - many offers at once: [`BulkChanges`] (`bulk.rs`), and what is wrong with imported offers
//!   (`troubles.rs`);
//! - background work: `moderation.rs` (the topic of opinions), [`chores`] (`archive.rs`, expiry of
//!   old rows, `repair.rs`);
//! - rows and limits: `tables.rs`, [`Config`], [`limits`].

mod archive;
mod billing;
mod bulk;
pub mod cabinet;
mod call;
pub mod chores;
mod config;
mod counters;
pub mod drafts;
mod entity;
mod error;
pub mod fields;
mod history;
mod id;
pub mod limits;
mod lists;
pub mod masks;
mod moderation;
mod moves;
mod offers;
pub mod presets;
mod repair;
mod row;
pub mod status;
mod tables;
pub mod time;
mod troubles;
pub mod validation;
mod watch;

pub use bulk::{BulkChange, BulkChanges, Renewal};
pub use call::{Call, Request};
pub use config::Config;
pub use entity::StoredOffer;
pub use error::{Error, Result};
pub use id::{OfferId, WrongId};
pub use moderation::{GROUP as MODERATION_GROUP, OpinionError, OpinionTopics};
pub use moves::{Move, NotMoved};
pub use offers::{Dependencies, Offers, Target};
pub use repair::Drift;
pub use tables::tables;
pub use watch::{WatchEvent, WatchFrom, WatchStream};
