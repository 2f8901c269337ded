//! The UTC offsets of a zone and when they change.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::civil::DAYS_OF_400_YEARS;
use crate::limits::DAY_SECONDS;

/// 2100-01-01. From here on every zone follows a yearly rule: no zone of the database lists a
/// single later change.
pub(super) const RULE_FROM: i64 = 4_102_444_800;
/// 400 years. The Gregorian calendar repeats after them down to the weekday, and so do changes by a
/// yearly rule.
pub(super) const PERIOD: i64 = DAYS_OF_400_YEARS * DAY_SECONDS;
/// How far changes are listed: one period of the rule and a little more. Later moments are moved
/// back by whole periods.
const LISTED_TO: i64 = RULE_FROM + PERIOD + 366 * DAY_SECONDS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Its first second since 1970; `i64::MIN` for the first stretch.
    pub(super) from: i64,
    /// Seconds that the local clock is ahead of UTC.
    pub(super) offset: i64,
}

/// The stretches of a zone in order, at least one. Changes of the abbreviation alone are left out.
pub(super) fn stretches(zone: &TimeZone) -> Arc<[Stretch]> {
    let first = i64::from(zone.to_offset(Timestamp::MIN).seconds());
    let mut all = vec![Stretch { from: i64::MIN, offset: first }];
    for change in zone.following(Timestamp::MIN) {
        let next = Stretch { from: change.timestamp().as_second(), offset: change.offset().seconds().into() };
        if next.from > LISTED_TO {
            break;
        }
        if all.last().is_none_or(|last| last.offset != next.offset) {
            all.push(next);
        }
    }
    all.into()
}

pub(super) fn stretch_at(all: &[Stretch], second: i64) -> usize {
    all.partition_point(|stretch| stretch.from <= second).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::super::zones::{find_zone, zone_names};
    use super::*;

    #[test]
    fn the_clock_of_every_zone_is_the_one_of_the_database() {
        for name in zone_names() {
            let zone = find_zone(name).unwrap();
            let all = stretches(&zone);
            // Every two weeks and a bit from 1850 to 2150.
            for second in (-3_786_912_000_i64..5_680_281_600).step_by(1_300_007) {
                let expected = zone.to_offset(Timestamp::from_second(second).unwrap()).seconds();
                assert_eq!(all[stretch_at(&all, second)].offset, i64::from(expected), "{name} at {second}");
            }
        }
    }

    #[test]
    fn after_2100_the_clock_of_every_zone_repeats_in_400_years() {
        for name in zone_names() {
            let zone = find_zone(name).unwrap();
            for second in (RULE_FROM..RULE_FROM + 40 * 366 * DAY_SECONDS).step_by(700_001) {
                let offset = |second| zone.to_offset(Timestamp::from_second(second).unwrap());
                let periods = [1, 7, 15].map(|count| offset(second + count * PERIOD));
                assert_eq!(periods, [offset(second); 3], "{name} at {second}");
            }
        }
    }
}
