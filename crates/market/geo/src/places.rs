//! The known places with their names and coordinates.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::error::{Error, Result};
use crate::index::{Names, NamesBuilder};
use crate::limits::{DATA_BYTES_MAX, PLACE_DISTANCE_KM_MAX};
use crate::regions::Regions;
use crate::tree::{Point, Tree};

const PLACES: &[u8] = include_bytes!("../data/places.tsv.gz");
/// Names that are missing in the `GeoNames` data.
const OWN_NAMES: &str = include_str!("../data/names.tsv");

/// The radius of a city by the square root of its population: 16 km for ten million, 5 km for one.
const REACH_KM: f64 = 0.005;
const REACH_KM_MAX: f64 = 25.0;

/// Must be shown wherever the places are shown or shipped.
pub const ATTRIBUTION: &str = "Places: GeoNames (https://www.geonames.org), CC BY 4.0";

#[derive(Debug)]
pub(crate) struct PlaceData {
    pub(crate) id: u32,
    pub(crate) population: u32,
    pub(crate) latitude: f32,
    pub(crate) longitude: f32,
    name: (u32, u32),
    pub(crate) country: [u8; 2],
    /// An index into [`Places::divisions`].
    pub(crate) division: u16,
}

/// An immutable set of places, indexed by name and by coordinates.
#[derive(Debug)]
pub struct Places {
    pub(crate) data: Vec<PlaceData>,
    texts: String,
    /// First-order divisions by country and code.
    pub(crate) divisions: Vec<([u8; 2], Box<str>)>,
    pub(crate) names: Names,
    pub(crate) regions: Regions,
    pub(crate) tree: Tree,
}

impl Places {
    /// The built-in places of `GeoNames` ([`ATTRIBUTION`]). Every call unpacks and indexes them:
    /// keep the result.
    pub fn builtin() -> Result<Self> {
        let mut text = String::new();
        GzDecoder::new(PLACES)
            .take(DATA_BYTES_MAX)
            .read_to_string(&mut text)
            .map_err(|error| Error::Data { line: 0, what: error.to_string() })?;
        Self::read_with(&text, OWN_NAMES)
    }

    /// Reads tab-separated lines of `id, name, country, first-order division, latitude, longitude,
    /// population, other names` (the last separated by `|`), sorted by id.
    pub fn read(text: &str) -> Result<Self> {
        Self::read_with(text, "")
    }

    fn read_with(text: &str, own_names: &str) -> Result<Self> {
        let mut data = Vec::new();
        let mut texts = String::new();
        let mut divisions: Vec<([u8; 2], Box<str>)> = Vec::new();
        let mut known = std::collections::BTreeMap::new();
        let mut names = NamesBuilder::default();
        for (number, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let line = Line::read(line)
                .ok_or_else(|| Error::Data { line: number + 1, what: "not a place".to_owned() })?;
            let key = (line.country, line.division);
            let division = *known.entry(key).or_insert_with(|| {
                divisions.push((line.country, line.division.into()));
                divisions.len() as u16 - 1
            });
            let place = data.len() as u32;
            if data.last().is_some_and(|last: &PlaceData| last.id >= line.id) {
                let what = "places are not sorted by id".to_owned();
                return Err(Error::Data { line: number + 1, what });
            }
            names.add(place, line.name, true);
            for other in line.others.split('|') {
                names.add(place, other, false);
            }
            let start = texts.len() as u32;
            texts.push_str(line.name);
            data.push(PlaceData {
                id: line.id,
                population: line.population,
                latitude: line.latitude,
                longitude: line.longitude,
                name: (start, texts.len() as u32),
                country: line.country,
                division,
            });
        }
        for line in own_names.lines().filter(|line| !line.starts_with('#')) {
            let (id, others) = line.split_once('\t').unwrap_or_default();
            let number = data.binary_search_by_key(&id.parse().ok(), |place: &PlaceData| Some(place.id));
            let place = number.map_err(|_| Error::Data { line: 0, what: format!("no place {id}") })? as u32;
            others.split('|').for_each(|other| names.add(place, other, false));
        }
        data.shrink_to_fit();
        texts.shrink_to_fit();
        let tree = Tree::new(data.iter().map(|place| (place.latitude, place.longitude)));
        Ok(Self { regions: Regions::builtin()?, names: names.build(), tree, data, texts, divisions })
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.data.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// A place by its `GeoNames` id as text.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<Place<'_>> {
        let id: u32 = id.parse().ok()?;
        let number = self.data.binary_search_by_key(&id, |place| place.id).ok()?;
        Some(self.at(number as u32))
    }

    /// The nearest place and its distance in km. It may be a district of a city: see
    /// [`locate`](Self::locate).
    #[must_use]
    pub fn nearest(&self, point: Point) -> Option<(Place<'_>, f64)> {
        self.tree.nearest(point).map(|(number, km)| (self.at(number), km))
    }

    /// The place of a point and the distance of its centre: the largest city whose radius covers
    /// the point, so that an address and its coordinates have the same place; otherwise the nearest
    /// place within [`PLACE_DISTANCE_KM_MAX`].
    #[must_use]
    pub fn locate(&self, point: Point) -> Option<(Place<'_>, f64)> {
        let mut city: Option<(u32, f64)> = None;
        self.tree.each_within(point, REACH_KM_MAX, |number, km| {
            let population = self.data[number as usize].population;
            let reaches = km <= REACH_KM * f64::from(population).sqrt();
            let is_larger = city.is_none_or(|(other, _)| self.data[other as usize].population < population);
            if reaches && is_larger {
                city = Some((number, km));
            }
        });
        match city {
            Some((number, km)) => Some((self.at(number), km)),
            None => self.nearest(point).filter(|(_, km)| *km <= PLACE_DISTANCE_KM_MAX),
        }
    }

    /// All places in the order of their ids.
    pub fn all(&self) -> impl Iterator<Item = Place<'_>> {
        (0..self.data.len() as u32).map(|number| self.at(number))
    }

    /// An estimate of the memory in use.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.data.len() * size_of::<PlaceData>()
            + self.texts.len()
            + self.names.memory_bytes()
            + self.tree.memory_bytes()
            + self.divisions.len() * 32
    }

    pub(crate) fn at(&self, number: u32) -> Place<'_> {
        Place { places: self, number }
    }
}

struct Line<'t> {
    id: u32,
    name: &'t str,
    country: [u8; 2],
    division: &'t str,
    latitude: f32,
    longitude: f32,
    population: u32,
    others: &'t str,
}

impl<'t> Line<'t> {
    fn read(line: &'t str) -> Option<Self> {
        let mut fields = line.split('\t');
        let line = Self {
            id: fields.next()?.parse().ok()?,
            name: fields.next()?,
            country: fields.next()?.as_bytes().try_into().ok()?,
            division: fields.next()?,
            latitude: fields.next()?.parse().ok()?,
            longitude: fields.next()?.parse().ok()?,
            population: fields.next()?.parse().ok()?,
            others: fields.next().unwrap_or_default(),
        };
        let is_on_earth = line.latitude.abs() <= 90.0 && line.longitude.abs() <= 180.0;
        is_on_earth.then_some(line)
    }
}

#[derive(Clone, Copy)]
pub struct Place<'p> {
    places: &'p Places,
    pub(crate) number: u32,
}

impl PartialEq for Place<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.places, other.places) && self.number == other.number
    }
}

impl Eq for Place<'_> {}

impl std::fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({}-{})", self.id(), self.name(), self.country(), self.region())
    }
}

impl<'p> Place<'p> {
    fn data(self) -> &'p PlaceData {
        &self.places.data[self.number as usize]
    }

    /// The `GeoNames` id as text.
    #[must_use]
    pub fn id(self) -> String {
        self.data().id.to_string()
    }

    /// Usually in English.
    #[must_use]
    pub fn name(self) -> &'p str {
        let (start, end) = self.data().name;
        &self.places.texts[start as usize..end as usize]
    }

    /// A code of two letters.
    #[must_use]
    pub fn country(self) -> &'p str {
        std::str::from_utf8(&self.data().country).unwrap_or_default()
    }

    /// The code of the first-order division: a state, an oblast.
    #[must_use]
    pub fn region(self) -> &'p str {
        &self.places.divisions[usize::from(self.data().division)].1
    }

    /// In English or Russian (`ru`).
    #[must_use]
    pub fn region_name(self, language: &str) -> Option<&'p str> {
        self.places.regions.region_name(self.country(), self.region(), language)
    }

    /// In English or Russian (`ru`).
    #[must_use]
    pub fn country_name(self, language: &str) -> Option<&'p str> {
        self.places.regions.country_name(self.country(), language)
    }

    #[must_use]
    pub fn point(self) -> crate::Point {
        let data = self.data();
        crate::Point { latitude: f64::from(data.latitude), longitude: f64::from(data.longitude) }
    }

    #[must_use]
    pub fn population(self) -> u32 {
        self.data().population
    }
}
