//! Predicted price: what offers like this one cost.
//!
//! [`Prices`] keeps, in the store, what live offers cost, in groups of offers that are alike (`book.rs`, `group.rs`); it follows the topic of changes (`follow.rs`). The
//! stage asks it, or any other [`PriceModel`], and changes an offer only when that makes a difference.

mod book;
mod follow;
mod group;
mod statistics;
mod tables;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use offers::StoredOffer;
use watcher::{Answer, Fields, Interest, Stage, StageError, Subject, Time, Schedule};
use wire::torg::offers::v1::predicted_price::Confidence;
use wire::torg::offers::v1::{Money, Offer, PredictedPrice, Status};

use crate::limits::{PRICE_AGAIN, PRICE_MOVE_MIN};
use crate::patch::{patch, share_of};

pub use book::Prices;
pub use follow::GROUP;
pub use tables::price_tables;

/// What offers like one cost, in millionths of a currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// A quarter of them cost less.
    pub low: i64,
    /// Half of them cost less.
    pub median: i64,
    /// A quarter of them cost more.
    pub high: i64,
    /// Three letters of ISO 4217.
    pub currency: String,
    /// So many were looked at.
    pub count: u32,
    /// How far it can be trusted.
    pub confidence: Confidence,
    /// What they have in common with the offer: `category`, `place`, `attributes.brand`, `condition`.
    pub basis: Vec<String>,
}

/// Why nothing can be said about prices now.
#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The topic of changes cannot be read.
    #[error(transparent)]
    Topics(#[from] topics::Error),
    /// A row cannot be read.
    #[error("{place} is damaged: {detail}")]
    Damaged {
        /// The row.
        place: String,
        /// What is wrong.
        detail: String,
    },
    /// Another model failed.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

/// Predicts prices.
#[async_trait]
pub trait PriceModel: Send + Sync {
    /// What offers like this one cost; `None` if too little is known. It changes nothing.
    async fn predict(&self, offer: &Offer) -> Result<Option<Prediction>, PriceError>;
}

/// How often prices are predicted, and when a prediction counts as another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceConfig {
    /// How often the price of an offer is predicted anew, and up to a quarter later.
    pub again: Duration,
    /// A prediction whose amounts all moved by this part or less stays as it was.
    pub move_min: f64,
}

impl Default for PriceConfig {
    fn default() -> Self {
        Self { again: PRICE_AGAIN, move_min: PRICE_MOVE_MIN }
    }
}

/// Sets `predicted_price` of active offers.
pub struct PriceStage {
    model: Arc<dyn PriceModel>,
    config: PriceConfig,
}

impl PriceStage {
    /// Predicts by this model.
    #[must_use]
    pub fn new(model: Arc<dyn PriceModel>, config: PriceConfig) -> Self {
        Self { model, config }
    }

    /// Whether a prediction says something else than what an offer has.
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

/// A prediction as an offer keeps it.
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
