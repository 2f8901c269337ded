//! A geocoder of the Nominatim kind, asked over HTTP.

mod answer;
mod kept;

use std::sync::Arc;

use async_trait::async_trait;
use fetch::{Client, Fetched, Limits, Request, Rules};
use tokio::sync::{Mutex, Semaphore};
use tokio::time::{Duration, Instant};
use url::Url;

use crate::error::{Error, Result};
use crate::find::Hints;
use crate::geocoder::{Geocoder, Located};
use crate::limits::{ANSWER_BYTES_MAX, ANSWER_TIME_MAX, QUESTION_INTERVAL, QUESTIONS_WAITING_MAX};
use crate::places::Places;
use crate::tree::Point;

use kept::Kept;

/// Hits that are asked for: of several, the seller's country decides.
const HITS_MAX: &str = "5";

/// How a server of the Nominatim kind is asked.
#[derive(Debug, Clone)]
pub struct NominatimOptions {
    /// Its address, before `/search`. The operator chose it, so it may be private.
    pub url: String,
    /// How we name ourselves; the public service wants to know whom to write to.
    pub user_agent: String,
    /// The least time between two questions. What waits longer than `answer_time_max` for its turn fails for the moment.
    pub interval: Duration,
    /// The longest time for one answer.
    pub answer_time_max: Duration,
    /// In which languages names are wanted: `ru,en`.
    pub languages: String,
}

impl NominatimOptions {
    /// The defaults for a server: one question a second.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            user_agent: concat!("torg/", env!("CARGO_PKG_VERSION")).to_owned(),
            interval: QUESTION_INTERVAL,
            answer_time_max: ANSWER_TIME_MAX,
            languages: "ru,en".to_owned(),
        }
    }
}

/// Asks a server of the Nominatim kind, and gives its answers the ids of the built-in places. Answers are kept, so that an address is
/// asked once; failures are not.
pub struct Nominatim {
    places: Arc<Places>,
    client: Client,
    base: Url,
    options: NominatimOptions,
    /// When the next question may be asked.
    next: Mutex<Instant>,
    waiting: Semaphore,
    kept: Kept,
}

impl Nominatim {
    /// A geocoder; nothing is asked yet.
    pub fn new(options: NominatimOptions, places: Arc<Places>) -> Result<Self> {
        let bad = |what: &str| Error::BadUrl { url: options.url.clone(), what: what.to_owned() };
        let base = Url::parse(options.url.trim_end_matches('/')).map_err(|error| bad(&error.to_string()))?;
        let host = base.host_str().filter(|_| matches!(base.scheme(), "http" | "https"));
        let host = host.ok_or_else(|| bad("give one that begins with http:// or https://"))?;
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
            next: Mutex::new(Instant::now()),
            waiting: Semaphore::new(QUESTIONS_WAITING_MAX),
            kept: Kept::default(),
            options,
        })
    }

    /// The URL of a question.
    fn question(&self, verb: &str, parameters: &[(&str, &str)]) -> String {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{verb}", self.base.path().trim_end_matches('/')));
        url.query_pairs_mut()
            .append_pair("format", "jsonv2")
            .append_pair("addressdetails", "1")
            .append_pair("accept-language", &self.options.languages)
            .extend_pairs(parameters);
        url.to_string()
    }

    /// Waits for its turn, asks, and reads the whole answer.
    async fn ask(&self, url: String) -> Result<Vec<u8>> {
        let _place = self.waiting.try_acquire().map_err(|_| Error::Busy(QUESTIONS_WAITING_MAX))?;
        let turn = self.turn().await?;
        tokio::time::sleep_until(turn).await;
        match self.client.send(&Request::get(url)).await? {
            Fetched::NotModified => Err(Error::BadAnswer("not modified".to_owned())),
            Fetched::Found(mut download) => {
                let mut bytes = Vec::new();
                while let Some(piece) = download.body.chunk().await? {
                    bytes.extend_from_slice(&piece);
                }
                Ok(bytes)
            }
        }
    }

    /// Takes the next turn, unless that is too far away.
    async fn turn(&self) -> Result<Instant> {
        let mut next = self.next.lock().await;
        let turn = (*next).max(Instant::now());
        if turn > Instant::now() + self.options.answer_time_max {
            return Err(Error::Busy(QUESTIONS_WAITING_MAX));
        }
        *next = turn + self.options.interval;
        Ok(turn)
    }

    async fn answer(
        &self,
        url: String,
        asked: Option<Point>,
        country: Option<&str>,
    ) -> Result<Option<Located>> {
        let key = format!("{} {url}", country.unwrap_or_default());
        if let Some(known) = self.kept.get(&key) {
            return Ok(known);
        }
        let bytes = self.ask(url).await?;
        let located = answer::read(&bytes, &self.places, asked, country)?;
        self.kept.put(key, located.clone());
        Ok(located)
    }
}

#[async_trait]
impl Geocoder for Nominatim {
    async fn find(&self, address: &str, hints: Hints<'_>) -> Result<Option<Located>> {
        let address = text::head(address, crate::limits::ADDRESS_CHARS_MAX).trim();
        if address.is_empty() {
            return Ok(None);
        }
        let parameters = [("q", address), ("limit", HITS_MAX)];
        self.answer(self.question("search", &parameters), None, hints.country).await
    }

    async fn locate(&self, point: Point) -> Result<Option<Located>> {
        let (latitude, longitude) = (format!("{:.5}", point.latitude), format!("{:.5}", point.longitude));
        let parameters = [("lat", latitude.as_str()), ("lon", longitude.as_str()), ("zoom", "10")];
        self.answer(self.question("reverse", &parameters), Some(point), None).await
    }
}

/// The address is the operator's: no address is forbidden to it.
fn every_address() -> Vec<ipnet::IpNet> {
    let v4 = ipnet::IpNet::new_assert(std::net::Ipv4Addr::UNSPECIFIED.into(), 0);
    let v6 = ipnet::IpNet::new_assert(std::net::Ipv6Addr::UNSPECIFIED.into(), 0);
    vec![v4, v6]
}
