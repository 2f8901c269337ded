//! Calendar chunks of a time zone.

mod civil;
mod offsets;
mod track;
mod tracks;
mod zones;

use std::fmt;
use std::sync::Arc;

use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::error::{Error, Result};
use crate::limits::DAY_OFFSET_LIMIT;
use crate::trigger::Scale;
use tracks::Tracks;

pub use zones::{find_zone, zone_names};

/// Divides time into the minutes, hours, days, weeks, months and years of a time zone. Cheap to
/// clone; calendars with the same zone and day offset share what they computed.
///
/// Every chunk has an index: one more than the index of the chunk before it. The calendar counts
/// chunks; it never divides durations. `index(b) - index(a)` is the number of chunks that begin
/// after `a` and up to `b`. Compare indices only within one calendar and scale.
///
/// Where a chunk begins:
///
/// 1. When the local clock first shows its beginning. A day begins at the day offset (by default
///    midnight), a week with the configured weekday, a month with its first day, an hour at minute
///    zero. Chunks of minutes count from the beginning of the day.
/// 2. **The clock jumps forward** over a beginning: the chunk begins at that moment and is shorter.
///    A chunk that is skipped entirely does not exist: there is no hour from 2 to 3 on the day when
///    summer time begins, and there was no 2011-12-30 in Apia.
/// 3. **The clock goes back by less than a chunk**: the current chunk is longer. A day then has 25
///    hours, and with a change of half an hour (Lord Howe) an hour has 90 minutes.
/// 4. **The clock goes back by a chunk or more**: what it shows again is another chunk. The
///    repeated hour is two hours with two indices.
#[derive(Clone)]
pub struct Calendar {
    zone: TimeZone,
    week_start: Weekday,
    day_offset: SignedDuration,
    tracks: Arc<Tracks>,
}

impl Calendar {
    /// The day offset moves where a day begins, and with it weeks, months and years: with 6 hours a
    /// day begins at 06:00 local time, with -2 hours at 22:00 of the evening before. It is whole
    /// minutes and less than a day.
    pub fn new(zone: TimeZone, week_start: Weekday, day_offset: SignedDuration) -> Result<Self> {
        let seconds = day_offset.as_secs();
        if day_offset.abs() >= DAY_OFFSET_LIMIT || day_offset.subsec_nanos() != 0 || seconds % 60 != 0 {
            return Err(Error::DayOffset { offset: day_offset });
        }
        let tracks = tracks::of(&zone, seconds);
        Ok(Self { zone, week_start, day_offset, tracks })
    }

    /// Days from midnight and weeks from Monday, in a zone of the IANA database.
    pub fn of_zone(name: &str) -> Result<Self> {
        Self::new(find_zone(name)?, Weekday::Monday, SignedDuration::ZERO)
    }

    #[must_use]
    pub const fn zone(&self) -> &TimeZone {
        &self.zone
    }

    #[must_use]
    pub const fn week_start(&self) -> Weekday {
        self.week_start
    }

    #[must_use]
    pub const fn day_offset(&self) -> SignedDuration {
        self.day_offset
    }

    #[must_use]
    pub fn index(&self, at: Timestamp, scale: Scale) -> i64 {
        let second = floor_second(at);
        match scale {
            Scale::Minutes(minutes) => self.tracks.minutes(minutes).index(second),
            Scale::Hour => self.tracks.hours().index(second),
            Scale::Day => self.tracks.days().index(second),
            Scale::Week => civil::week_of(self.tracks.dates().index(second), self.week_start),
            Scale::Month => civil::month_of(self.tracks.dates().index(second)),
            Scale::Year => civil::year_of(self.tracks.dates().index(second)),
        }
    }

    /// The first moment of a chunk. Saturates at the range of [`Timestamp`] (years -9999 to 9999).
    #[must_use]
    pub fn start_of(&self, index: i64, scale: Scale) -> Timestamp {
        let second = self.start_second(index, scale);
        Timestamp::from_second(second).unwrap_or(if second < 0 { Timestamp::MIN } else { Timestamp::MAX })
    }

    /// The first moment of the next chunk; `None` beyond the range of [`Timestamp`].
    #[must_use]
    pub fn next_border(&self, at: Timestamp, scale: Scale) -> Option<Timestamp> {
        self.border(self.index(at, scale).checked_add(1)?, scale)
    }

    /// The first moment of a chunk, if it is representable.
    pub(crate) fn border(&self, index: i64, scale: Scale) -> Option<Timestamp> {
        Timestamp::from_second(self.start_second(index, scale)).ok()
    }

    fn start_second(&self, index: i64, scale: Scale) -> i64 {
        match scale {
            Scale::Minutes(minutes) => self.tracks.minutes(minutes).start_of(index),
            Scale::Hour => self.tracks.hours().start_of(index),
            Scale::Day => self.tracks.days().start_of(index),
            Scale::Week => self.tracks.dates().start_of(civil::first_of_week(index, self.week_start)),
            Scale::Month => self.tracks.dates().start_of(civil::first_of_month(index)),
            Scale::Year => self.tracks.dates().start_of(civil::first_of_year(index)),
        }
    }
}

/// UTC, weeks from Monday, days from midnight.
impl Default for Calendar {
    fn default() -> Self {
        let zone = TimeZone::UTC;
        let tracks = tracks::of(&zone, 0);
        Self { zone, week_start: Weekday::Monday, day_offset: SignedDuration::ZERO, tracks }
    }
}

impl PartialEq for Calendar {
    fn eq(&self, other: &Self) -> bool {
        (&self.zone, self.week_start, self.day_offset) == (&other.zone, other.week_start, other.day_offset)
    }
}

impl Eq for Calendar {}

impl fmt::Debug for Calendar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Calendar")
            .field("zone", &self.zone)
            .field("week_start", &self.week_start)
            .field("day_offset", &self.day_offset)
            .finish_non_exhaustive()
    }
}

/// Whole seconds since 1970, rounded down: every chunk begins at a whole second.
fn floor_second(at: Timestamp) -> i64 {
    at.as_second() - i64::from(at.subsec_nanosecond() < 0)
}
