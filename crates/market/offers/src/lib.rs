//! Offers: the ad store of a marketplace.
//!
//! An offer is an entity of the watcher ([`StoredOffer`]); whoever changes it, what follows is saved with the change: the rows of its seller's lists, counters,
//! the history, and what goes to the topic.
//!
//! Where things are:
//! - an offer: `id.rs`, `fields.rs` (by name), `status.rs` (the table of moves), `moves.rs` (what a move makes of an offer), `entity.rs` (what is saved with a change);
//! - what follows: `presets.rs` and `lists.rs` (the cabinet), `counters.rs`, `history.rs`;
//! - what callers hold: [`Offers`] (`offers.rs`), [`Call`] (`call.rs`: who, and idempotency keys), [`drafts`], [`cabinet`], `billing.rs`, `watch.rs`;
//! - many offers at once: [`BulkChanges`] (`bulk.rs`), and what is wrong with imported offers (`troubles.rs`);
//! - what goes on by itself: `moderation.rs` (the topic of opinions), [`chores`] (the archive, what is kept for a time only), `repair.rs` (counts that drifted);
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
pub use moderation::{GROUP as MODERATION_GROUP, Opinions, Unfit};
pub use moves::{Move, NotMoved};
pub use offers::{Offers, Parts, Target};
pub use repair::Drift;
pub use tables::tables;
pub use watch::{Begin, Stream, Told};
