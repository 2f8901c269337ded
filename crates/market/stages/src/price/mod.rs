//! Predicted price: the price of similar offers.
//!
//! [`Prices`] keeps prices of active offers in groups (`book.rs`, `group.rs`) and follows the topic
//! of changes (`follow.rs`). The stage asks it, or any other [`PriceModel`], and changes an offer
//! only if the difference is relevant.

mod book;
mod follow;
mod group;
mod statistics;
mod tables;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use offers::StoredOffer;
use watcher::{Answer, Fields, Interest, Schedule, Stage, StageError, Subject, Time};
use wire::torg::offers::v1::predicted_price::Confidence;
use wire::torg::offers::v1::{Money, Offer, PredictedPrice, Status};

use crate::limits::{PRICE_AGAIN, PRICE_MOVE_MIN};
use crate::patch::{patch, share_of};

pub use book::Prices;
pub use follow::GROUP;
pub use tables::price_tables;

/// Prices of similar offers in millionths of a currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// The lower quartile.
    pub low: i64,
    /// The median.
    pub median: i64,
    /// The upper quartile.
    pub high: i64,
    /// An ISO 4217 code.
    pub currency: String,
    /// The number of offers.
    pub count: u32,
    pub confidence: Confidence,
    /// The fields that they have in common: `category`, `place`, `attributes.brand`, `condition`.
    pub basis: Vec<String>,
}

/// A failure of a prediction.
#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Topics(#[from] topics::Error),
    #[error("{place} is damaged: {detail}")]
    Damaged { place: String, detail: String },
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

#[async_trait]
pub trait PriceModel: Send + Sync {
    /// `None` without enough data. Has no side effects.
    async fn predict(&self, offer: &Offer) -> Result<Option<Prediction>, PriceError>;
}

/// Configuration of predictions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceConfig {
    /// The interval of predictions, extended by up to a quarter.
    pub again: Duration,
    /// A prediction is ignored if no amount moved by more than this part.
    pub move_min: f64,
}

impl Default for PriceConfig {
    fn default() -> Self {
        Self { again: PRICE_AGAIN, move_min: PRICE_MOVE_MIN }
    }
}

pub struct PriceStage {
    model: Arc<dyn PriceModel>,
    config: PriceConfig,
}

impl PriceStage {
    #[must_use]
    pub fn new(model: Arc<dyn PriceModel>, config: PriceConfig) -> Self {
        Self { model, config }
    }

    /// Whether a prediction differs enough from the one of the offer.
    fn differs(&self, known: Option<&PredictedPrice>, found: Option<&PredictedPrice>) -> bool {
        let (Some(known), Some(found)) = (known, found) else { return known.is_some() != found.is_some() };
        let has_moved = |before: &Money, after: &Money| {
            let moved = (after.micros - before.micros).unsigned_abs() as f64;
            before.currency != after.currency || moved > self.config.move_min * before.micros.max(0) as f64
        };
        let amounts = [(&known.low, &found.low), (&known.median, &found.median), (&known.high, &found.high)];
        known.confidence != found.confidence
            || known.basis != found.basis
            || amounts.into_iter().any(|(before, after)| has_moved(before, after))
    }

    fn next(&self, offer: &StoredOffer, now: Time) -> Time {
        now + self.config.again + (self.config.again / 4).mul_f64(share_of(&offer.offer.id))
    }
}

#[async_trait]
impl Stage<StoredOffer> for PriceStage {
    fn id(&self) -> &'static str {
        "price"
    }

    fn interest(&self) -> Interest {
        Interest::visit_on(Fields::of(["category", "attributes", "price", "place", "condition", "status"]))
            .reading(&Fields::of(["predicted_price"]))
    }

    fn visit_after_change(&self, offer: &StoredOffer, _now: Time) -> Schedule {
        if offer.status() == Status::Active { Schedule::Now } else { Schedule::No }
    }

    async fn should_process(&self, subject: &Subject<StoredOffer>) -> Result<Schedule, StageError> {
        Ok(self.visit_after_change(&subject.entity, subject.now))
    }

    async fn process(&self, subject: &Subject<StoredOffer>) -> Result<Answer<StoredOffer>, StageError> {
        let (offer, now) = (&subject.entity, subject.now);
        if offer.status() != Status::Active {
            return Ok(Answer::untouched());
        }
        let found = self.model.predict(&offer.offer).await;
        let found = found.map_err(|error| StageError::Passing(error.to_string()))?.map(kept);
        let next = self.next(offer, now);
        if !self.differs(offer.offer.predicted_price.as_option(), found.as_ref()) {
            return Ok(Answer::untouched().visit_at(next));
        }
        let mut predicted = offer.clone();
        predicted.offer.predicted_price = found.into();
        Ok(patch(["predicted_price"], predicted, now).visit_at(next))
    }
}

/// A prediction in the form of the offer.
fn kept(found: Prediction) -> PredictedPrice {
    let money = |micros| Some(Money { micros, currency: found.currency.clone(), ..Money::default() }).into();
    PredictedPrice {
        low: money(found.low),
        median: money(found.median),
        high: money(found.high),
        count: found.count,
        confidence: found.confidence.into(),
        basis: found.basis,
        ..PredictedPrice::default()
    }
}
