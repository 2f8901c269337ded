//! Delay behind the time in chunks.

use jiff::civil::Weekday;
use triggers::{Check, Scale};

use super::Chapter;
use super::case::{Section, late, section};

const ABOUT: &str = "As `Delay`, in whole chunks of the calendar. Without a difference the value has to be in the very chunk of the \
time: a value in a later chunk does not hold until the time comes there. With a difference a value in the future holds. It changes \
when a chunk begins.";

pub(super) fn chapter() -> Chapter {
    Chapter {
        title: "ChunkDelay",
        about: ABOUT,
        sections: [days(), hours(), longer()].into_iter().flatten().collect(),
    }
}

fn delay(scale: Scale, within: Option<u32>) -> Check {
    Check::ChunkDelay { scale, within }
}

fn days() -> Vec<Section> {
    let today = section(
        delay(Scale::Day, None),
        "Europe/Moscow",
        vec![
            late("the whole day", "2021-04-25 00:00:00", "2021-04-25 23:59:59")
                .fires("0 calendar days")
                .until("2021-04-26 00:00"),
            late("the day is over", "2021-04-25 23:59:59", "2021-04-26 00:00:00")
                .waits("1 calendar day", "too far behind, by 1 calendar day"),
            late("later today", "2021-04-25 20:00:00", "2021-04-25 12:00:00")
                .fires("0 calendar days")
                .until("2021-04-26 00:00"),
            late("tomorrow", "2021-04-26 00:00:00", "2021-04-25 23:59:59")
                .waits("-1 calendar day", "ahead, by 1 calendar day")
                .until("2021-04-26 00:00"),
            late("no value", "", "2021-04-25 12:00:00").waits("", "there is no value"),
            late("a number", "7", "2021-04-25 12:00:00")
                .waits("", "wrong kind: the value is a number, a time is needed"),
            late("before the day begins", "2021-04-24 06:00:00", "2021-04-25 05:59:59")
                .days_from("6h")
                .fires("0 calendar days")
                .until("2021-04-25 06:00"),
            late("as the day begins", "2021-04-24 06:00:00", "2021-04-25 06:00:00")
                .days_from("6h")
                .waits("1 calendar day", "too far behind, by 1 calendar day"),
            late("a day of 25 hours", "2021-11-07 00:00:00", "2021-11-07 23:59:59")
                .zone("America/New_York")
                .fires("0 calendar days")
                .until("2021-11-08 00:00"),
            late("a day whose midnight is skipped", "2018-11-03 12:00:00", "2018-11-03 23:59:59")
                .zone("America/Sao_Paulo")
                .fires("0 calendar days")
                .until("2018-11-04 01:00"),
            late("the day before a skipped date", "2011-12-29 12:00:00", "2011-12-29 23:59:59")
                .zone("Pacific/Apia")
                .fires("0 calendar days")
                .until("2011-12-31 00:00"),
        ],
    );
    let since_yesterday = section(
        delay(Scale::Day, Some(1)),
        "Europe/Moscow",
        vec![
            late("yesterday", "2021-04-24 00:00:00", "2021-04-25 23:59:59")
                .fires("1 calendar day")
                .until("2021-04-26 00:00"),
            late("the day before", "2021-04-24 23:59:59", "2021-04-26 00:00:00")
                .waits("2 calendar days", "too far behind, by 1 calendar day"),
            late("in the future", "2021-04-28 12:00:00", "2021-04-25 12:00:00")
                .fires("-3 calendar days")
                .until("2021-04-30 00:00"),
            late("a skipped date between", "2011-12-29 12:00:00", "2011-12-31 23:59:59")
                .zone("Pacific/Apia")
                .fires("1 calendar day")
                .until("2012-01-01 00:00"),
        ],
    );
    vec![today, since_yesterday]
}

fn hours() -> Vec<Section> {
    let this_hour = section(
        delay(Scale::Hour, None),
        "America/New_York",
        vec![
            late("up to its end", "2021-04-25 10:00:00", "2021-04-25 10:59:59")
                .fires("0 calendar hours")
                .until("2021-04-25 11:00"),
            late("the first of the repeated ones", "2021-11-07 01:15:00-04:00", "2021-11-07 01:59:59-04:00")
                .fires("0 calendar hours")
                .until("2021-11-07 01:00-05"),
            late("the second", "2021-11-07 01:15:00-04:00", "2021-11-07 01:15:00-05:00")
                .waits("1 calendar hour", "too far behind, by 1 calendar hour"),
            late("an hour of 90 minutes", "2021-04-04 01:00:00+11:00", "2021-04-04 01:59:59+10:30")
                .zone("Australia/Lord_Howe")
                .fires("0 calendar hours")
                .until("2021-04-04 02:00"),
        ],
    );
    let last_hour = section(
        delay(Scale::Hour, Some(1)),
        "America/New_York",
        vec![
            late("both of the repeated ones", "2021-11-07 01:15:00-04:00", "2021-11-07 01:59:59-05:00")
                .fires("1 calendar hour")
                .until("2021-11-07 02:00"),
            late("where the clock is put forward", "2021-03-14 01:00:00", "2021-03-14 03:59:59")
                .fires("1 calendar hour")
                .until("2021-03-14 04:00"),
        ],
    );
    let quarter = section(
        delay(Scale::Minutes(15), None),
        "Asia/Kathmandu",
        vec![
            late("up to its end", "2021-04-25 10:15:00", "2021-04-25 10:29:59")
                .fires("0 chunks of 15m")
                .until("2021-04-25 10:30"),
            late("at its end", "2021-04-25 10:15:00", "2021-04-25 10:30:00")
                .waits("1 chunk of 15m", "too far behind, by 1 chunk of 15m"),
        ],
    );
    vec![this_hour, last_hour, quarter]
}

fn longer() -> Vec<Section> {
    let this_week = section(
        delay(Scale::Week, None),
        "Europe/Moscow",
        vec![
            late("Sunday", "2021-04-19 00:00:00", "2021-04-25 23:59:59")
                .fires("0 calendar weeks")
                .until("2021-04-26 00:00"),
            late("Sunday, when weeks start with it", "2021-04-19 00:00:00", "2021-04-25 00:00:00")
                .weeks_from(Weekday::Sunday)
                .waits("1 calendar week", "too far behind, by 1 calendar week"),
        ],
    );
    let this_month = section(
        delay(Scale::Month, None),
        "Europe/Moscow",
        vec![
            late("its last second", "2021-02-01 00:00:00", "2021-02-28 23:59:59")
                .fires("0 calendar months")
                .until("2021-03-01 00:00"),
            late("the next one", "2021-02-28 23:59:59", "2021-03-01 00:00:00")
                .waits("1 calendar month", "too far behind, by 1 calendar month"),
        ],
    );
    let last_year = section(
        delay(Scale::Year, Some(1)),
        "UTC",
        vec![
            late("almost two years", "2020-01-01 00:00:00", "2021-12-31 23:59:59")
                .fires("1 calendar year")
                .until("2022-01-01 00:00"),
            late("a year and a second", "2020-12-31 23:59:59", "2022-01-01 00:00:00")
                .waits("2 calendar years", "too far behind, by 1 calendar year"),
        ],
    );
    vec![this_week, this_month, last_year]
}
