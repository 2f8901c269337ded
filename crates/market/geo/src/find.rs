//! Ranks the places that an address may mean.

use std::cmp::Reverse;

use smallvec::SmallVec;

use crate::address::{each_run, is_too_common, parts};
use crate::index::{NameKind, hash, hash_of_stems};
use crate::limits::{AMBIGUOUS_POINTS, CANDIDATES_MAX, NAMESAKES_MAX, SUBURB_DISTANCE_KM_MAX};
use crate::places::{Place, Places};
use crate::regions::Area;

/// The location of the seller. It decides only what the address leaves open.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints<'h> {
    /// A code of two letters.
    pub country: Option<&'h str>,
    /// A code of a first-order division as in [`Place::region`]; requires `country`.
    pub region: Option<&'h str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate<'p> {
    pub place: Place<'p>,
    /// Confidence from 0 to 1000.
    pub points: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found<'p> {
    pub best: Candidate<'p>,
    pub second: Option<Candidate<'p>>,
}

impl Found<'_> {
    /// Whether both candidates are equally likely by the address and the hints.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        self.second.is_some_and(|second| self.best.points - second.points < AMBIGUOUS_POINTS)
    }
}

const POINTS_NAME: i32 = 400;
const POINTS_OTHER: i32 = 380;
const POINTS_STEM: i32 = 340;
/// For each earlier part of the address.
const COST_LATER: i32 = 20;
/// The name fills its whole part of the address.
const POINTS_WHOLE: i32 = 80;
const POINTS_CALLED_CITY: i32 = 40;
/// For each further word of a name.
const POINTS_WORD: i32 = 30;
const POINTS_REGION: i32 = 160;
const POINTS_COUNTRY: i32 = 120;
const POINTS_HINT: i32 = 70;
/// The place is outside the region or country of the address.
const COST_ELSEWHERE: i32 = 250;
/// For each power of ten of the population above a thousand.
const POINTS_POPULATION: f32 = 50.0;

#[derive(Clone, Copy)]
struct Hit {
    place: u32,
    points: i32,
    part: u8,
    is_whole: bool,
}

impl Places {
    /// The most likely place of an address and the next one. Names may be in Russian, English or
    /// the local language, in any grammatical case, with streets, regions and countries around
    /// them. Among namesakes the region and country of the address decide, then the hints, then the
    /// population.
    #[must_use]
    pub fn find(&self, address: &str, hints: Hints<'_>) -> Option<Found<'_>> {
        let candidates = self.candidates(address, hints);
        let mut candidates = candidates.into_iter();
        Some(Found { best: candidates.next()?, second: candidates.next() })
    }

    /// The places that an address may mean, the most likely first, at most [`CANDIDATES_MAX`].
    #[must_use]
    pub fn candidates(&self, address: &str, hints: Hints<'_>) -> Vec<Candidate<'_>> {
        let mut named: SmallVec<[Hit; 32]> = SmallVec::new();
        let mut areas: SmallVec<[Area; 8]> = SmallVec::new();
        for (number, part) in parts(address).iter().enumerate() {
            let mut taken: SmallVec<[*const crate::text::Word; 8]> = SmallVec::new();
            each_run(part, |run| {
                let before = areas.len();
                self.regions.each_called(run.words, |area| areas.push(area));
                let is_area = areas.len() > before;
                // Words of a longer name do not count as names.
                if run.words.iter().any(|word| taken.contains(&std::ptr::from_ref(word)))
                    || is_too_common(run.words)
                {
                    return;
                }
                let is_named = self.collect(&run, number as u8, &mut named);
                if is_named || (is_area && run.words.len() > 1) {
                    taken.extend(run.words.iter().map(std::ptr::from_ref));
                }
            });
        }
        for hit in &mut named {
            hit.points += self.points_of_areas(hit.place, &areas) + self.points_of_hints(hit.place, hints);
        }
        self.rank(&mut named)
    }

    /// Adds the places that a run of words names; returns whether there are any.
    fn collect(&self, run: &crate::address::Run<'_>, part: u8, hits: &mut SmallVec<[Hit; 32]>) -> bool {
        let mut named = self.names.called(hash(run.words));
        if named.is_empty() && run.words.iter().any(|word| !word.text.is_ascii()) {
            named = self.names.called(hash_of_stems(run.words));
        }
        for (place, kind) in named.iter().take(NAMESAKES_MAX) {
            let mut points = match kind {
                NameKind::Name => POINTS_NAME,
                NameKind::Other => POINTS_OTHER,
                NameKind::Stem => POINTS_STEM,
            };
            points += if run.is_whole { POINTS_WHOLE } else { 0 };
            points += if run.is_called_city { POINTS_CALLED_CITY } else { 0 };
            points -= COST_LATER * i32::from(part.min(3));
            points += POINTS_WORD * (run.words.len() as i32 - 1);
            let people = self.data[*place as usize].population.max(1_000) as f32;
            points += (POINTS_POPULATION * (people / 1_000.0).log10()) as i32;
            hits.push(Hit { place: *place, points, part, is_whole: run.is_whole });
        }
        !named.is_empty()
    }

    /// The points of a place for the countries and regions in the address.
    fn points_of_areas(&self, place: u32, areas: &[Area]) -> i32 {
        let data = &self.data[place as usize];
        let division = &self.divisions[usize::from(data.division)].1;
        let mut best = 0;
        let mut is_in_other_region = false;
        for area in areas {
            let (country, code) = self.regions.codes(*area);
            if country != data.country {
                continue;
            }
            match area {
                Area::Country(_) => best = best.max(POINTS_COUNTRY),
                Area::Region(_) if *code == **division => best = best.max(POINTS_REGION),
                Area::Region(_) => is_in_other_region = true,
            }
        }
        match best {
            0 if areas.is_empty() => 0,
            POINTS_REGION => POINTS_REGION,
            best => best - if best == 0 || is_in_other_region { COST_ELSEWHERE } else { 0 },
        }
    }

    fn points_of_hints(&self, place: u32, hints: Hints<'_>) -> i32 {
        let data = &self.data[place as usize];
        if hints.country.is_none_or(|country| country.as_bytes() != data.country) {
            return 0;
        }
        let division = &self.divisions[usize::from(data.division)].1;
        POINTS_HINT + if hints.region == Some(&**division) { POINTS_HINT } else { 0 }
    }

    fn rank(&self, hits: &mut SmallVec<[Hit; 32]>) -> Vec<Candidate<'_>> {
        hits.sort_unstable_by_key(|hit| (Reverse(hit.points), hit.place));
        if let Some(suburb) = self.suburb(hits) {
            hits[..=suburb].rotate_right(1);
            let first = hits[1].points;
            hits[0].points = first;
        }
        let mut found: Vec<Candidate<'_>> = Vec::new();
        let best_part = hits.first().map(|hit| hit.part);
        for hit in hits.iter() {
            let is_known = found.iter().any(|other| other.place.number == hit.place);
            // A place of another part is no competitor: it may be the name of a street.
            if !is_known && Some(hit.part) == best_part {
                let points = hit.points.clamp(0, 1000) as u16;
                found.push(Candidate { place: self.at(hit.place), points });
            }
            if found.len() == CANDIDATES_MAX {
                break;
            }
        }
        found
    }

    /// "Москва, Зеленоград": a smaller place near the best one with a part of its own is preferred.
    fn suburb(&self, hits: &[Hit]) -> Option<usize> {
        let best = hits.first().filter(|best| best.is_whole)?;
        let city = self.at(best.place);
        hits.iter().position(|hit| {
            let place = self.at(hit.place);
            hit.part != best.part
                && hit.is_whole
                && hit.place != best.place
                && place.population() < city.population()
                && place.point().distance_km(city.point()) <= SUBURB_DISTANCE_KM_MAX
        })
    }
}
