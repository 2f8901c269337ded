//! Geocoding as a service that may be elsewhere.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::Result;
use crate::find::Hints;
use crate::places::{Place, Places};
use crate::tree::Point;

/// Where something is.
#[derive(Debug, Clone, PartialEq)]
pub struct Located {
    /// The stable id of the place; empty if only the point is known.
    pub place_id: String,
    /// The place's name.
    pub name: String,
    /// The country's code of two letters; empty if it is not known.
    pub country: String,
    /// The point itself, if it is known more precisely than by its place; otherwise the middle of the place.
    pub point: Point,
    /// How sure, from 0 to 1000.
    pub points: u16,
    /// The id of another place that is as likely.
    pub or_else: Option<String>,
}

impl Located {
    pub(crate) fn at(place: Place<'_>, point: Point, points: u16) -> Self {
        Self {
            place_id: place.id(),
            name: place.name().to_owned(),
            country: place.country().to_owned(),
            point,
            points,
            or_else: None,
        }
    }
}

/// Finds places. `Ok(None)`: there is none, and asking again does not help. An error that
/// [is passing](crate::Error::is_passing) lets an offer go on without its place.
#[async_trait]
pub trait Geocoder: Send + Sync {
    /// The place that an address means.
    async fn find(&self, address: &str, hints: Hints<'_>) -> Result<Option<Located>>;

    /// The place that a point belongs to.
    async fn locate(&self, point: Point) -> Result<Option<Located>>;
}

/// The built-in places as a geocoder: it knows cities, not streets, and never fails.
#[derive(Debug, Clone)]
pub struct Builtin {
    places: Arc<Places>,
}

impl Builtin {
    /// A geocoder over these places.
    #[must_use]
    pub fn new(places: Arc<Places>) -> Self {
        Self { places }
    }

    /// The place that an address means, without waiting.
    #[must_use]
    pub fn find_now(&self, address: &str, hints: Hints<'_>) -> Option<Located> {
        let found = self.places.find(address, hints)?;
        let place = found.best.place;
        let mut located = Located::at(place, place.point(), found.best.points);
        if let (true, Some(second)) = (found.is_ambiguous(), found.second) {
            located.or_else = Some(second.place.id());
        }
        Some(located)
    }

    /// The place that a point belongs to, without waiting.
    #[must_use]
    pub fn locate_now(&self, point: Point) -> Option<Located> {
        let (place, km) = self.places.locate(point)?;
        let points = 1000 - (km * 4.0).min(600.0) as u16;
        Some(Located::at(place, point, points))
    }
}

#[async_trait]
impl Geocoder for Builtin {
    async fn find(&self, address: &str, hints: Hints<'_>) -> Result<Option<Located>> {
        Ok(self.find_now(address, hints))
    }

    async fn locate(&self, point: Point) -> Result<Option<Located>> {
        Ok(self.locate_now(point))
    }
}
