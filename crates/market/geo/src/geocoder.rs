//! Geocoding as a trait, so that a remote service can stand in for the built-in places.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::Result;
use crate::find::Hints;
use crate::places::{Place, Places};
use crate::tree::Point;

/// A place with a point.
#[derive(Debug, Clone, PartialEq)]
pub struct Located {
    /// Empty if only the point is known.
    pub place_id: String,
    pub name: String,
    /// A code of two letters; empty if unknown.
    pub country: String,
    /// The centre of the place unless a more precise point is known.
    pub point: Point,
    /// Confidence from 0 to 1000.
    pub points: u16,
    /// The id of another, equally likely place.
    pub or_else: Option<String>,
}

impl Located {
    #[must_use]
    pub fn at(place: Place<'_>, point: Point, points: u16) -> Self {
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

/// `Ok(None)` means that there is no such place and that a retry does not help. An error that [is
/// passing](crate::Error::is_passing) lets an offer go on without its place.
#[async_trait]
pub trait Geocoder: Send + Sync {
    async fn find(&self, address: &str, hints: Hints<'_>) -> Result<Option<Located>>;

    async fn locate(&self, point: Point) -> Result<Option<Located>>;
}

/// The built-in places as a geocoder: cities, no streets; never fails.
#[derive(Debug, Clone)]
pub struct Builtin {
    places: Arc<Places>,
}

impl Builtin {
    #[must_use]
    pub fn new(places: Arc<Places>) -> Self {
        Self { places }
    }

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
