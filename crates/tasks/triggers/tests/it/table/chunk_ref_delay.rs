//! Delay behind another parameter in chunks.

use jiff::civil::Weekday;
use triggers::{Check, Scale};

use super::Chapter;
use super::case::{WITH, beside, parameter, section};

const ABOUT: &str = "As `RefDelay`, in whole chunks of the calendar. Without a difference both values have to be in the same chunk; \
with one a value ahead of the reference holds.";

pub(super) fn chapter() -> Chapter {
    let delay = |scale, within| Check::ChunkRefDelay { with: parameter(WITH), scale, within };
    let same_day = section(
        delay(Scale::Day, None),
        "Europe/Moscow",
        vec![
            beside("the same day", "2021-04-25 00:00:00", "2021-04-25 23:59:59").fires("0 calendar days"),
            beside("later on the same day", "2021-04-25 23:59:59", "2021-04-25 00:00:00")
                .fires("0 calendar days"),
            beside("the day before", "2021-04-24 23:59:59", "2021-04-25 00:00:00")
                .waits("1 calendar day", "too far behind, by 1 calendar day"),
            beside("the day after", "2021-04-26 00:00:00", "2021-04-25 23:59:59")
                .waits("-1 calendar day", "ahead, by 1 calendar day"),
            beside("no value", "", "2021-04-25 12:00:00").waits("", "there is no value"),
            beside("no reference", "2021-04-25 12:00:00", "").waits("", "there is no value to compare with"),
            beside("a number", "7", "2021-04-25 12:00:00")
                .waits("", "wrong kind: the value is a number, a time is needed"),
            beside("the reference is a number", "2021-04-25 12:00:00", "7")
                .waits("", "wrong kind: the value to compare with is a number, a time is needed"),
            beside("both are numbers", "7", "7")
                .waits("", "wrong kind: the value is a number, a time is needed"),
            beside("midnight of Moscow between", "2021-04-24T20:59:59Z", "2021-04-24T21:00:00Z")
                .waits("1 calendar day", "too far behind, by 1 calendar day"),
            beside("the same moments in UTC", "2021-04-24T20:59:59Z", "2021-04-24T21:00:00Z")
                .zone("UTC")
                .fires("0 calendar days"),
            beside("midnight between, as days begin at six", "2021-04-24 06:00:00", "2021-04-25 05:59:59")
                .days_from("6h")
                .fires("0 calendar days"),
            beside("a day of 25 hours", "2021-11-07 00:00:00", "2021-11-07 23:59:59")
                .zone("America/New_York")
                .fires("0 calendar days"),
            beside("a skipped date between", "2011-12-29 23:59:59", "2011-12-31 00:00:00")
                .zone("Pacific/Apia")
                .waits("1 calendar day", "too far behind, by 1 calendar day"),
        ],
    );
    let next_day = section(
        delay(Scale::Day, Some(1)),
        "Europe/Moscow",
        vec![
            beside("the day before", "2021-04-24 00:00:00", "2021-04-25 23:59:59").fires("1 calendar day"),
            beside("two days before", "2021-04-24 23:59:59", "2021-04-26 00:00:00")
                .waits("2 calendar days", "too far behind, by 1 calendar day"),
            beside("ahead", "2021-04-27 00:00:00", "2021-04-25 23:59:59").fires("-2 calendar days"),
        ],
    );
    let same_hour = section(
        delay(Scale::Hour, None),
        "America/New_York",
        vec![
            beside("the same hour", "2021-04-25 10:00:00", "2021-04-25 10:59:59").fires("0 calendar hours"),
            beside("the two of the repeated hour", "2021-11-07 01:30:00-04:00", "2021-11-07 01:30:00-05:00")
                .waits("1 calendar hour", "too far behind, by 1 calendar hour"),
        ],
    );
    let half_hour = section(
        delay(Scale::Minutes(30), None),
        "Australia/Lord_Howe",
        vec![
            beside(
                "the two of the repeated half hour",
                "2021-04-04 01:45:00+11:00",
                "2021-04-04 01:45:00+10:30",
            )
            .waits("1 chunk of 30m", "too far behind, by 1 chunk of 30m"),
        ],
    );
    let same_week = section(
        delay(Scale::Week, None),
        "Europe/Moscow",
        vec![
            beside("Monday and Sunday", "2021-04-19 00:00:00", "2021-04-25 23:59:59")
                .fires("0 calendar weeks"),
            beside("the same, with weeks from Sunday", "2021-04-19 00:00:00", "2021-04-25 23:59:59")
                .weeks_from(Weekday::Sunday)
                .waits("1 calendar week", "too far behind, by 1 calendar week"),
        ],
    );
    let month = section(
        delay(Scale::Month, Some(1)),
        "Asia/Kathmandu",
        vec![
            beside("the month before", "2021-03-01 00:00:00", "2021-04-30 23:59:59")
                .fires("1 calendar month"),
            beside("two months before", "2021-03-31 23:59:59", "2021-05-01 00:00:00")
                .waits("2 calendar months", "too far behind, by 1 calendar month"),
        ],
    );
    let year = section(
        delay(Scale::Year, None),
        "UTC",
        vec![
            beside("the same year", "2021-01-01 00:00:00", "2021-12-31 23:59:59").fires("0 calendar years"),
            beside("the next year", "2021-12-31 23:59:59", "2022-01-01 00:00:00")
                .waits("1 calendar year", "too far behind, by 1 calendar year"),
        ],
    );
    let sections = vec![same_day, next_day, same_hour, half_hour, same_week, month, year];
    Chapter { title: "ChunkRefDelay", about: ABOUT, sections }
}
