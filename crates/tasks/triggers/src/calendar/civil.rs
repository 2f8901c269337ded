//! Weeks, months and years from days since 1970-01-01. Own arithmetic, because it must also hold
//! beyond the year 9999.

use jiff::civil::Weekday;

/// Beyond every representable year; keeps the arithmetic from overflowing.
const YEAR_LIMIT: i64 = 100_000;
/// Days from 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;
/// Days in 400 years, after which the Gregorian calendar repeats.
pub(super) const DAYS_OF_400_YEARS: i64 = 146_097;

/// The week of a day; week 0 contains 1970-01-01, a Thursday.
pub(super) fn week_of(day: i64, start: Weekday) -> i64 {
    (day + into_first_week(start)).div_euclid(7)
}

pub(super) fn first_of_week(week: i64, start: Weekday) -> i64 {
    week.clamp(-60 * YEAR_LIMIT, 60 * YEAR_LIMIT) * 7 - into_first_week(start)
}

fn into_first_week(start: Weekday) -> i64 {
    i64::from(3 - start.to_monday_zero_offset()).rem_euclid(7)
}

/// The month of a day; 0 is January 1970.
pub(super) fn month_of(day: i64) -> i64 {
    let (year, month) = year_and_month(day);
    (year - 1970) * 12 + month - 1
}

pub(super) fn first_of_month(month: i64) -> i64 {
    let month = month.clamp(-12 * YEAR_LIMIT, 12 * YEAR_LIMIT);
    first_day(1970 + month.div_euclid(12), month.rem_euclid(12) + 1)
}

/// The year of a day; 0 is 1970.
pub(super) fn year_of(day: i64) -> i64 {
    year_and_month(day).0 - 1970
}

pub(super) fn first_of_year(year: i64) -> i64 {
    first_day(1970 + year.clamp(-YEAR_LIMIT, YEAR_LIMIT), 1)
}

/// Years count from March in eras of 400 years, so that the leap day is their last day.
fn year_and_month(day: i64) -> (i64, i64) {
    let day = day + DAYS_TO_1970;
    let day_of_era = day.rem_euclid(DAYS_OF_400_YEARS);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let year = day.div_euclid(DAYS_OF_400_YEARS) * 400 + year_of_era;
    if month_from_march < 10 { (year, month_from_march + 3) } else { (year + 1, month_from_march - 9) }
}

fn first_day(year: i64, month: i64) -> i64 {
    let (year, month_from_march) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * month_from_march + 2) / 5;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    year.div_euclid(400) * DAYS_OF_400_YEARS + day_of_era - DAYS_TO_1970
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    const STARTS: [Weekday; 3] = [Weekday::Monday, Weekday::Saturday, Weekday::Sunday];

    proptest! {
        #[test]
        fn months_and_weeks_are_those_of_the_calendar(day in -4_371_000_i64..2_932_000, start in 0_usize..3) {
            let shown = date(1970, 1, 1).checked_add(jiff::Span::new().days(day)).unwrap();
            let months = (i64::from(shown.year()) - 1970) * 12 + i64::from(shown.month()) - 1;
            prop_assert_eq!(month_of(day), months);
            prop_assert_eq!(year_of(day), i64::from(shown.year()) - 1970);
            prop_assert_eq!(first_of_month(months), day - i64::from(shown.day()) + 1);
            prop_assert_eq!(first_of_year(year_of(day)), day - i64::from(shown.day_of_year()) + 1);
            let start = STARTS[start];
            let first = first_of_week(week_of(day, start), start);
            prop_assert_eq!(i64::from(shown.weekday().since(start)), day - first);
        }
    }
}
