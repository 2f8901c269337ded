//! The tracks of a zone, built on first use and shared by all calendars with that zone and day
//! offset.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use jiff::tz::TimeZone;

use super::offsets::{Stretch, stretches};
use super::track::{Count, Track};
use crate::limits::{DAY_MINUTES, DAY_SECONDS};

const DIVISORS: [u16; 36] = [
    1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24, 30, 32, 36, 40, 45, 48, 60, 72, 80, 90, 96, 120, 144,
    160, 180, 240, 288, 360, 480, 720, 1440,
];

#[derive(Debug)]
pub(super) struct Tracks {
    zone: TimeZone,
    day_offset: i64,
    stretches: OnceLock<Arc<[Stretch]>>,
    minutes: [OnceLock<Track>; DIVISORS.len()],
    hours: OnceLock<Track>,
    dates: OnceLock<Track>,
}

impl Tracks {
    fn new(zone: TimeZone, day_offset: i64) -> Self {
        let minutes = [const { OnceLock::new() }; DIVISORS.len()];
        let (stretches, hours, dates) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { zone, day_offset, stretches, minutes, hours, dates }
    }

    fn track(&self, length: i64, phase: i64, count: Count) -> Track {
        let stretches = self.stretches.get_or_init(|| stretches(&self.zone));
        Track::new(Arc::clone(stretches), length, phase, count)
    }

    /// Chunks of minutes; if they do not divide a day, of the next smaller divisor.
    pub(super) fn minutes(&self, minutes: u16) -> &Track {
        let place = DIVISORS.partition_point(|divisor| *divisor <= minutes).saturating_sub(1);
        let length = i64::from(DIVISORS[place]) * 60;
        self.minutes[place].get_or_init(|| self.track(length, self.day_offset, Count::Chunks))
    }

    pub(super) fn hours(&self) -> &Track {
        self.hours.get_or_init(|| self.track(3600, 0, Count::Chunks))
    }

    pub(super) fn days(&self) -> &Track {
        self.minutes(DAY_MINUTES)
    }

    /// Days by their dates, counted from 1970-01-01.
    pub(super) fn dates(&self) -> &Track {
        self.dates.get_or_init(|| self.track(DAY_SECONDS, self.day_offset, Count::Dates))
    }
}

type Shared = BTreeMap<(String, i64), Weak<Tracks>>;

/// The tracks of a zone and a day offset in seconds. They live as long as a calendar uses them.
pub(super) fn of(zone: &TimeZone, day_offset: i64) -> Arc<Tracks> {
    static SHARED: Mutex<Shared> = Mutex::new(BTreeMap::new());
    let make = || Arc::new(Tracks::new(zone.clone(), day_offset));
    let Some(name) = zone.iana_name() else { return make() };
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (name.to_owned(), day_offset);
    // A zone may carry a name of the database and other data: such zones are not shared.
    match shared.get(&key).and_then(Weak::upgrade) {
        Some(tracks) if tracks.zone == *zone => tracks,
        Some(_) => make(),
        None => {
            let tracks = make();
            shared.retain(|_, tracks| tracks.strong_count() > 0);
            shared.insert(key, Arc::downgrade(&tracks));
            tracks
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_divisors_are_all_there_are() {
        let all: Vec<u16> = (1..=DAY_MINUTES).filter(|n| DAY_MINUTES.is_multiple_of(*n)).collect();
        assert_eq!(all, DIVISORS);
    }

    #[test]
    fn calendars_of_one_zone_share_their_tracks() {
        let zone = super::super::find_zone("Europe/Moscow").unwrap();
        let first = of(&zone, 60);
        assert!(Arc::ptr_eq(&first, &of(&zone, 60)));
        assert!(!Arc::ptr_eq(&first, &of(&zone, 120)));
    }
}
