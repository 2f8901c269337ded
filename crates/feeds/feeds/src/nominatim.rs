//! A client of a Nominatim server, as a [`Geocoder`].
//!
//! An answer is mapped to a built-in place by its name and point. Answers are cached, failures are
//! not. Requests are spaced by [`NominatimOptions::interval`]; beyond [`REQUESTS_WAITING_MAX`]
//! waiting requests the geocoder is unavailable.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use fetch::{Client, Fetched, Limits, Request, Rules};
use geo::limits::{ADDRESS_CHARS_MAX, PLACE_DISTANCE_KM_MAX, SUBURB_DISTANCE_KM_MAX};
use geo::{Error, Geocoder, Hints, Located, Place, Places, Point, Result};
use serde::Deserialize;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::{Duration, Instant};
use url::Url;

const ANSWER_BYTES_MAX: u64 = 256 * 1024;
const ANSWER_TIME_MAX: Duration = Duration::from_secs(10);
/// The limit of the public server.
const REQUEST_INTERVAL: Duration = Duration::from_secs(1);
const REQUESTS_WAITING_MAX: usize = 64;
const CACHED_ANSWERS_MAX: usize = 10_000;
/// Hits that are requested; the seller's country decides between them.
const HITS_MAX: &str = "5";
/// The confidence of a hit of importance zero.
const POINTS_MIN: f64 = 500.0;
/// Added to the importance of hits in the seller's country.
const IMPORTANCE_OF_HINT: f64 = 0.2;

#[derive(Debug, Clone)]
pub struct NominatimOptions {
    /// The URL before `/search`. The operator chooses it, so private addresses are allowed.
    pub url: String,
    /// The public server requires a name that identifies the application.
    pub user_agent: String,
    /// The minimal time between two requests. A request that would wait longer than
    /// `answer_time_max` fails at once.
    pub interval: Duration,
    pub answer_time_max: Duration,
    /// Languages of names: `ru,en`.
    pub languages: String,
}

impl NominatimOptions {
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            user_agent: concat!("torg/", env!("CARGO_PKG_VERSION")).to_owned(),
            interval: REQUEST_INTERVAL,
            answer_time_max: ANSWER_TIME_MAX,
            languages: "ru,en".to_owned(),
        }
    }
}

pub struct Nominatim {
    places: Arc<Places>,
    client: Client,
    base: Url,
    options: NominatimOptions,
    next_request: Mutex<Instant>,
    waiting: Semaphore,
    /// By country hint and URL; cleared when full.
    cache: parking_lot::Mutex<BTreeMap<String, Option<Located>>>,
}

impl Nominatim {
    /// Fails if the URL is invalid; makes no request.
    pub fn new(options: NominatimOptions, places: Arc<Places>) -> Result<Self> {
        let invalid =
            |reason: &str| Error::GeocoderRefused(format!("its URL {:?} is invalid: {reason}", options.url));
        let base =
            Url::parse(options.url.trim_end_matches('/')).map_err(|error| invalid(&error.to_string()))?;
        let host = base.host_str().filter(|_| matches!(base.scheme(), "http" | "https"));
        let host = host.ok_or_else(|| invalid("it must begin with http:// or https://"))?;
        let rules = Rules {
            ports: Vec::new(),
            allow_hosts: vec![host.trim_matches(['[', ']']).to_owned()],
            allow_addresses: every_address(),
            user_agent: options.user_agent.clone(),
            limits: Limits {
                bytes_max: ANSWER_BYTES_MAX,
                unpacked_bytes_max: ANSWER_BYTES_MAX,
                connect_time_max: options.answer_time_max,
                first_byte_time_max: options.answer_time_max,
                total_time_max: options.answer_time_max,
                ..Limits::default()
            },
            ..Rules::default()
        };
        Ok(Self {
            places,
            client: Client::new(rules),
            base,
            next_request: Mutex::new(Instant::now()),
            waiting: Semaphore::new(REQUESTS_WAITING_MAX),
            cache: parking_lot::Mutex::default(),
            options,
        })
    }

    fn url(&self, verb: &str, parameters: &[(&str, &str)]) -> String {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{verb}", self.base.path().trim_end_matches('/')));
        url.query_pairs_mut()
            .append_pair("format", "jsonv2")
            .append_pair("addressdetails", "1")
            .append_pair("accept-language", &self.options.languages)
            .extend_pairs(parameters);
        url.to_string()
    }

    /// Waits for the next free slot and sends a request.
    async fn request(&self, url: String) -> Result<Vec<u8>> {
        let _waiting = self.waiting.try_acquire().map_err(|_| busy())?;
        tokio::time::sleep_until(self.reserve_slot().await?).await;
        match self.client.send(&Request::get(url)).await.map_err(fetch_error)? {
            Fetched::NotModified => Err(unreadable("not modified")),
            Fetched::Found(mut download) => {
                let mut bytes = Vec::new();
                while let Some(piece) = download.body.chunk().await.map_err(fetch_error)? {
                    bytes.extend_from_slice(&piece);
                }
                Ok(bytes)
            }
        }
    }

    async fn reserve_slot(&self) -> Result<Instant> {
        let mut next = self.next_request.lock().await;
        let now = Instant::now();
        let slot = (*next).max(now);
        if slot > now + self.options.answer_time_max {
            return Err(busy());
        }
        *next = slot + self.options.interval;
        Ok(slot)
    }

    async fn answer(
        &self,
        url: String,
        asked: Option<Point>,
        country: Option<&str>,
    ) -> Result<Option<Located>> {
        let key = format!("{} {url}", country.unwrap_or_default());
        if let Some(cached) = self.cache.lock().get(&key) {
            return Ok(cached.clone());
        }
        let bytes = self.request(url).await?;
        let located = read(&bytes, &self.places, asked, country)?;
        let mut cache = self.cache.lock();
        if cache.len() >= CACHED_ANSWERS_MAX {
            cache.clear();
        }
        cache.insert(key, located.clone());
        Ok(located)
    }
}

#[async_trait]
impl Geocoder for Nominatim {
    async fn find(&self, address: &str, hints: Hints<'_>) -> Result<Option<Located>> {
        let end = address.char_indices().nth(ADDRESS_CHARS_MAX).map_or(address.len(), |(end, _)| end);
        let address = address[..end].trim();
        if address.is_empty() {
            return Ok(None);
        }
        let url = self.url("search", &[("q", address), ("limit", HITS_MAX)]);
        self.answer(url, None, hints.country).await
    }

    async fn locate(&self, point: Point) -> Result<Option<Located>> {
        let latitude = format!("{:.5}", point.latitude);
        let longitude = format!("{:.5}", point.longitude);
        let url = self.url("reverse", &[("lat", &latitude), ("lon", &longitude), ("zoom", "10")]);
        self.answer(url, Some(point), None).await
    }
}

fn every_address() -> Vec<ipnet::IpNet> {
    let v4 = ipnet::IpNet::new_assert(std::net::Ipv4Addr::UNSPECIFIED.into(), 0);
    let v6 = ipnet::IpNet::new_assert(std::net::Ipv6Addr::UNSPECIFIED.into(), 0);
    vec![v4, v6]
}

fn busy() -> Error {
    Error::GeocoderUnavailable("too many requests are waiting".to_owned())
}

fn unreadable(error: impl std::fmt::Display) -> Error {
    Error::GeocoderUnavailable(format!("cannot read its answer: {error}"))
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn fetch_error(error: fetch::Error) -> Error {
    let text = error.to_string();
    if error.is_passing() { Error::GeocoderUnavailable(text) } else { Error::GeocoderRefused(text) }
}

#[derive(Deserialize)]
struct Hit {
    #[serde(default)]
    lat: String,
    #[serde(default)]
    lon: String,
    /// From 0 to 1, the server's rank.
    #[serde(default)]
    importance: f64,
    #[serde(default)]
    address: Address,
    #[serde(default)]
    error: Option<serde_json::Value>,
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

/// The place of the best hit, with a bonus for hits in the seller's country. With `asked` the
/// answer is a single hit, and the point stays the requested one.
fn read(
    bytes: &[u8],
    places: &Places,
    asked: Option<Point>,
    country: Option<&str>,
) -> Result<Option<Located>> {
    let hit = if asked.is_some() {
        Some(serde_json::from_slice::<Hit>(bytes).map_err(unreadable)?)
    } else {
        let is_home = |hit: &Hit| {
            hit.address
                .country_code
                .as_deref()
                .zip(country)
                .is_some_and(|(code, country)| code.eq_ignore_ascii_case(country))
        };
        let weight = |hit: &Hit| hit.importance + if is_home(hit) { IMPORTANCE_OF_HINT } else { 0.0 };
        let hits = serde_json::from_slice::<Vec<Hit>>(bytes).map_err(unreadable)?;
        // Among equals the first: the server ranks them.
        hits.into_iter().rev().max_by(|a, b| weight(a).total_cmp(&weight(b)))
    };
    let Some(hit) = hit.filter(|hit| hit.error.is_none()) else { return Ok(None) };
    let given = || Point::new(hit.lat.parse().ok()?, hit.lon.parse().ok()?);
    let point = asked.or_else(given).ok_or_else(|| unreadable("a hit without coordinates"))?;
    let points = (POINTS_MIN + (1000.0 - POINTS_MIN) * hit.importance.clamp(0.0, 1.0)) as u16;
    Ok(place_of(places, &hit.address, point).map(|place| Located::at(place, point, points)))
}

/// The place that the answer names if it is near the point; otherwise the place of the point.
fn place_of<'p>(places: &'p Places, address: &Address, point: Point) -> Option<Place<'p>> {
    let Address { city, town, municipality, village, state, country_code } = address;
    let name = [city, town, municipality, village].into_iter().find_map(Option::as_deref);
    let named = name.and_then(|name| {
        let text = format!("{name}, {}", state.as_deref().unwrap_or_default());
        let country = country_code.as_deref().unwrap_or_default().to_ascii_uppercase();
        let found = places.find(&text, Hints { country: Some(&country), region: None })?.best.place;
        (found.point().distance_km(point) <= SUBURB_DISTANCE_KM_MAX).then_some(found)
    });
    let located = || places.locate(point).filter(|(_, km)| *km <= PLACE_DISTANCE_KM_MAX);
    named.or_else(|| located().map(|(place, _)| place))
}
