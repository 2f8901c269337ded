//! The stages of offers that Torg brings along. `docs/builtin-stages.md` says what each looks at, sets, and waits for.
//!
//! - [`Expiry`]: an offer expires when it was shown long enough; its seller is warned before ([`Events`]).
//! - [`Evolution`]: an offer of an earlier catalogue is moved to the present one, along a [`Lineage`] of catalogues and migrations.
//! - [`TakePhotos`]: photos that sellers link to are taken, by the crate `photos`.
//! - [`OrderPhotos`]: the best photo is shown first, by a `photos::PhotoOrder`.
//! - [`VideoCheck`]: whether a linked video can be seen, by asking its [`VideoHost`].
//! - [`PriceStage`]: what such offers cost, by a [`PriceModel`]; [`Prices`] is one that keeps what live offers cost in the store.
//!
//! What all of them promise: a visit changes nothing but what it answers, a second visit of the same offer changes nothing, and each sets only its own fields, so that none
//! of them undoes what another did.

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
