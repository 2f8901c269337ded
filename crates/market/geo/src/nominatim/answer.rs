//! Reads an answer, and finds the built-in place that it means.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::find::Hints;
use crate::geocoder::Located;
use crate::limits::{PLACE_DISTANCE_KM_MAX, SUBURB_DISTANCE_KM_MAX};
use crate::places::{Place, Places};
use crate::tree::Point;

/// Below this importance, a number from 0 to 1 by which the server ranks, an answer is a guess.
const POINTS_LEAST: f64 = 500.0;

/// What the seller's country is worth: it decides between namesakes, not against what the address says.
const IMPORTANCE_OF_HINT: f64 = 0.2;

#[derive(Deserialize)]
struct Hit {
    #[serde(default)]
    lat: String,
    #[serde(default)]
    lon: String,
    #[serde(default)]
    importance: f64,
    #[serde(default)]
    address: Address,
    #[serde(default)]
    error: Option<serde_json::Value>,
}

impl Hit {
    fn is_in(&self, country: &str) -> bool {
        self.address.country_code.as_deref().is_some_and(|code| code.eq_ignore_ascii_case(country))
    }
}

#[derive(Deserialize, Default)]
struct Address {
    city: Option<String>,
    town: Option<String>,
    municipality: Option<String>,
    village: Option<String>,
    state: Option<String>,
    country_code: Option<String>,
}

/// The place of the best hit; one in the seller's country is a little better. With `asked` the answer is one hit and the point is kept as it
/// was asked for.
pub(super) fn read(
    bytes: &[u8],
    places: &Places,
    asked: Option<Point>,
    country: Option<&str>,
) -> Result<Option<Located>> {
    let bad = |error: serde_json::Error| Error::BadAnswer(error.to_string());
    let hit = if asked.is_some() {
        Some(serde_json::from_slice::<Hit>(bytes).map_err(bad)?)
    } else {
        let is_home = |hit: &Hit| country.is_some_and(|country| hit.is_in(country));
        let worth = |hit: &Hit| hit.importance + if is_home(hit) { IMPORTANCE_OF_HINT } else { 0.0 };
        let hits = serde_json::from_slice::<Vec<Hit>>(bytes).map_err(bad)?;
        // Of equal ones the first: the server has ranked them.
        hits.into_iter().rev().max_by(|a, b| worth(a).total_cmp(&worth(b)))
    };
    let Some(hit) = hit.filter(|hit| hit.error.is_none()) else { return Ok(None) };
    let point = match asked {
        Some(point) => point,
        None => point_of(&hit).ok_or_else(|| Error::BadAnswer("a hit without coordinates".to_owned()))?,
    };
    let importance = hit.importance.clamp(0.0, 1.0);
    let points = (POINTS_LEAST + (1000.0 - POINTS_LEAST) * importance) as u16;
    Ok(place_of(places, &hit.address, point).map(|place| Located::at(place, point, points)))
}

fn point_of(hit: &Hit) -> Option<Point> {
    Point::new(hit.lat.parse().ok()?, hit.lon.parse().ok()?)
}

/// The place that the answer names, if it is near the point; otherwise the one that the point belongs to.
fn place_of<'p>(places: &'p Places, address: &Address, point: Point) -> Option<Place<'p>> {
    let name = address
        .city
        .as_ref()
        .or(address.town.as_ref())
        .or(address.municipality.as_ref())
        .or(address.village.as_ref());
    let named = name.and_then(|name| {
        let text = format!("{name}, {}", address.state.as_deref().unwrap_or_default());
        let country = address.country_code.as_deref().unwrap_or_default().to_ascii_uppercase();
        let found = places.find(&text, Hints { country: Some(&country), region: None })?.best.place;
        (found.point().distance_km(point) <= SUBURB_DISTANCE_KM_MAX).then_some(found)
    });
    named.or_else(|| {
        places.locate(point).filter(|(_, km)| *km <= PLACE_DISTANCE_KM_MAX).map(|(place, _)| place)
    })
}
