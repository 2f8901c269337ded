//! Offers: the ad store of a marketplace.
//!
//! An offer is an entity of the watcher ([`StoredOffer`]); whoever changes it, what follows is saved with the change: the rows of its seller's lists, counters,
//! the history, and what goes to the topic.
//!
//! Where things are:
//! - an offer: `id.rs`, `fields.rs` (by name), `status.rs` (the table of moves), `entity.rs` (what is saved with a change);
//! - what follows: `presets.rs` and `lists.rs` (the cabinet), `counters.rs`, `history.rs`;
//! - what callers hold: [`Offers`] (`offers.rs`), `cabinet.rs`;
//! - drafts: `drafts/`; rows and limits: `tables.rs`, [`limits`].

pub mod cabinet;
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
mod offers;
pub mod presets;
pub mod status;
mod tables;
pub mod time;
pub mod validation;

pub use entity::StoredOffer;
pub use error::{Error, Result};
pub use id::{OfferId, WrongId};
pub use offers::{FoundOffer, Move, Offers};
pub use tables::tables;
