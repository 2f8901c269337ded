//! The built-in stages of offers; see `docs/builtin-stages.md`.
//!
//! - [`Expiry`]: expires offers at the end of their exposure; sellers are warned before
//!   ([`Events`]).
//! - [`Evolution`]: moves offers of earlier catalogues to the current one along a [`Lineage`] of
//!   migrations.
//! - [`TakePhotos`]: downloads linked photos with the crate `photos`.
//! - [`OrderPhotos`]: puts the best photo first, by a `photos::PhotoOrder`.
//! - [`VideoCheck`]: checks whether a linked video is available at its [`VideoHost`].
//! - [`PriceStage`]: predicts prices by a [`PriceModel`]; [`Prices`] collects those of active
//!   offers in the store.
//!
//! All of them: a visit has no effect but its answer, a second visit of the same offer changes
//! nothing, and each stage sets only fields of its own.

mod events;
mod evolution;
mod expiry;
pub mod limits;
mod order_photos;
mod patch;
mod price;
mod take_photos;
mod video;

pub use events::{EventKind, Events, OfferEvent, TopicEvents};
pub use evolution::{Evolution, Evolved, Lineage, LineageError};
pub use expiry::Expiry;
pub use order_photos::OrderPhotos;
pub use price::{
    GROUP as PRICE_GROUP, Prediction, PriceConfig, PriceError, PriceModel, PriceStage, Prices, price_tables,
};
pub use take_photos::{PhotosConfig, TakePhotos};
pub use video::{Ask, VideoCheck, VideoConfig, VideoHost};
