//! Growth in other chunks than days.

use jiff::civil::Weekday;
use triggers::{Check, Scale};

use super::case::{Section, grown, section};

pub(super) fn sections() -> Vec<Section> {
    let mut all = hours();
    all.extend(minutes());
    all.extend(weeks());
    all.extend(months());
    all
}

fn grew(scale: Scale, by: Option<u32>) -> Check {
    Check::ChunkDelta { scale, by }
}

fn hours() -> Vec<Section> {
    let none = "not yet: 1 calendar hour more is needed";
    let new_hour = section(
        grew(Scale::Hour, None),
        "America/New_York",
        vec![
            grown("at the border", "2021-04-25 10:59:59", "2021-04-25 11:00:00").fires("1 calendar hour"),
            grown("one second before it", "2021-04-25 10:00:00", "2021-04-25 10:59:59")
                .waits("0 calendar hours", none),
            grown("where the clock is put forward", "2021-03-14 01:59:59", "2021-03-14 03:00:00")
                .fires("1 calendar hour"),
            grown("where it is put back", "2021-11-07 01:59:59-04:00", "2021-11-07 01:00:00-05:00")
                .fires("1 calendar hour"),
            grown("within the first of both", "2021-11-07 01:00:00-04:00", "2021-11-07 01:59:59-04:00")
                .waits("0 calendar hours", none),
            grown("within the second", "2021-11-07 01:00:00-05:00", "2021-11-07 01:59:59-05:00")
                .waits("0 calendar hours", none),
            grown("the second ends", "2021-11-07 01:59:59-05:00", "2021-11-07 02:00:00")
                .fires("1 calendar hour"),
            grown("an odd offset from UTC", "2021-04-25T05:14:59Z", "2021-04-25T05:15:00Z")
                .zone("Asia/Kathmandu")
                .fires("1 calendar hour"),
            grown("half an hour is repeated", "2021-04-04 01:15:00+11:00", "2021-04-04 01:45:00+10:30")
                .zone("Australia/Lord_Howe")
                .waits("0 calendar hours", none),
            grown("and the hour of 90 minutes ends", "2021-04-04 01:59:59+10:30", "2021-04-04 02:00:00")
                .zone("Australia/Lord_Howe")
                .fires("1 calendar hour"),
            grown("half an hour is skipped", "2021-10-03 01:59:59", "2021-10-03 02:30:00")
                .zone("Australia/Lord_Howe")
                .fires("1 calendar hour"),
            grown("within the hour of 30 minutes", "2021-10-03 02:30:00", "2021-10-03 02:59:59")
                .zone("Australia/Lord_Howe")
                .waits("0 calendar hours", none),
            grown("hours do not follow the day offset", "2021-04-25 10:59:59", "2021-04-25 11:00:00")
                .days_from("30m")
                .fires("1 calendar hour"),
        ],
    );
    let two_hours = section(
        grew(Scale::Hour, Some(2)),
        "America/New_York",
        vec![
            grown("the skipped hour is not counted", "2021-03-14 01:30:00", "2021-03-14 03:59:59")
                .waits("1 calendar hour", "not yet: 1 calendar hour more is needed"),
            grown("one hour later", "2021-03-14 01:30:00", "2021-03-14 04:00:00").fires("2 calendar hours"),
            grown("the repeated hour is counted twice", "2021-11-07 00:59:59", "2021-11-07 01:00:00-05:00")
                .fires("2 calendar hours"),
            grown("a whole day of 25 hours", "2021-11-07 00:00:00", "2021-11-08 00:00:00")
                .fires("25 calendar hours"),
            grown("a whole day of 23 hours", "2021-03-14 00:00:00", "2021-03-15 00:00:00")
                .fires("23 calendar hours"),
            grown("25 hours of Moscow", "2014-10-26 00:00:00", "2014-10-27 00:00:00")
                .zone("Europe/Moscow")
                .fires("25 calendar hours"),
        ],
    );
    vec![new_hour, two_hours]
}

fn minutes() -> Vec<Section> {
    let none = "not yet: 1 chunk of 30m more is needed";
    let half_hour = section(
        grew(Scale::Minutes(30), None),
        "Europe/Moscow",
        vec![
            grown("within a chunk", "2021-04-25 01:30:00", "2021-04-25 01:42:13")
                .waits("0 chunks of 30m", none),
            grown("at the border", "2021-04-25 01:29:59", "2021-04-25 01:30:00").fires("1 chunk of 30m"),
            grown("counted from the beginning of the day", "2021-04-25 01:39:59", "2021-04-25 01:40:00")
                .days_from("10m")
                .fires("1 chunk of 30m"),
            grown("and so half past is no border", "2021-04-25 01:29:59", "2021-04-25 01:30:00")
                .days_from("10m")
                .waits("0 chunks of 30m", none),
            grown("half an hour is repeated", "2021-04-04 01:30:00+11:00", "2021-04-04 01:30:00+10:30")
                .zone("Australia/Lord_Howe")
                .fires("1 chunk of 30m"),
            grown("half an hour is skipped", "2021-10-03 01:59:59", "2021-10-03 02:30:00")
                .zone("Australia/Lord_Howe")
                .fires("1 chunk of 30m"),
            grown("local time counts", "2021-04-25T18:14:59Z", "2021-04-25T18:15:00Z")
                .zone("Asia/Kathmandu")
                .fires("1 chunk of 30m"),
        ],
    );
    let none = "not yet: 1 chunk of 6h more is needed";
    let quarter = section(
        grew(Scale::Minutes(360), None),
        "America/New_York",
        vec![
            grown("seven hours, as the clock is put back", "2021-11-07 00:00:00", "2021-11-07 05:59:59")
                .waits("0 chunks of 6h", none),
            grown("its end", "2021-11-07 05:59:59", "2021-11-07 06:00:00").fires("1 chunk of 6h"),
            grown("five hours, as it is put forward", "2021-03-14 00:00:00", "2021-03-14 06:00:00")
                .fires("1 chunk of 6h"),
            grown("four in a day of 25 hours", "2021-11-07 00:00:00", "2021-11-08 00:00:00")
                .fires("4 chunks of 6h"),
        ],
    );
    let none = "not yet: 1 chunk of 2h more is needed";
    let two_hours = section(
        grew(Scale::Minutes(120), None),
        "Europe/Berlin",
        vec![
            grown("half of it is repeated", "2021-10-31 02:00:00+02:00", "2021-10-31 02:00:00+01:00")
                .waits("0 chunks of 2h", none),
            grown("its end", "2021-10-31 03:59:59", "2021-10-31 04:00:00").fires("1 chunk of 2h"),
            grown("its beginning is skipped", "2021-03-28 01:59:59", "2021-03-28 03:00:00")
                .fires("1 chunk of 2h"),
        ],
    );
    vec![half_hour, quarter, two_hours]
}

fn weeks() -> Vec<Section> {
    let none = "not yet: 1 calendar week more is needed";
    let new_week = section(
        grew(Scale::Week, None),
        "Europe/Moscow",
        vec![
            grown("Sunday to Monday", "2021-04-25 23:59:59", "2021-04-26 00:00:00").fires("1 calendar week"),
            grown("Monday to Sunday", "2021-04-19 00:00:00", "2021-04-25 23:59:59")
                .waits("0 calendar weeks", none),
            grown("Saturday to Sunday", "2021-04-24 23:59:59", "2021-04-25 00:00:00")
                .weeks_from(Weekday::Sunday)
                .fires("1 calendar week"),
            grown("Sunday to Monday", "2021-04-25 23:59:59", "2021-04-26 00:00:00")
                .weeks_from(Weekday::Sunday)
                .waits("0 calendar weeks", none),
            grown("Friday to Saturday", "2021-04-23 23:59:59", "2021-04-24 00:00:00")
                .weeks_from(Weekday::Saturday)
                .fires("1 calendar week"),
            grown("Monday, before the day begins", "2021-04-25 12:00:00", "2021-04-26 05:59:59")
                .days_from("6h")
                .waits("0 calendar weeks", none),
            grown("Monday, as the day begins", "2021-04-25 12:00:00", "2021-04-26 06:00:00")
                .days_from("6h")
                .fires("1 calendar week"),
            grown("over the end of the year", "2021-12-31 12:00:00", "2022-01-02 23:59:59")
                .waits("0 calendar weeks", none),
            grown("with a skipped date", "2011-12-29 12:00:00", "2012-01-01 23:59:59")
                .zone("Pacific/Apia")
                .waits("0 calendar weeks", none),
            grown("in New York", "2021-11-08T04:59:59Z", "2021-11-08T05:00:00Z")
                .zone("America/New_York")
                .fires("1 calendar week"),
        ],
    );
    let two_weeks = section(
        grew(Scale::Week, Some(2)),
        "UTC",
        vec![
            grown("eight days that touch three weeks", "2021-04-25 12:00:00", "2021-05-03 00:00:00")
                .fires("2 calendar weeks"),
            grown("fourteen days that touch two weeks", "2021-04-19 00:00:00", "2021-05-02 23:59:59")
                .waits("1 calendar week", "not yet: 1 calendar week more is needed"),
        ],
    );
    vec![new_week, two_weeks]
}

fn months() -> Vec<Section> {
    let none = "not yet: 1 calendar month more is needed";
    let new_month = section(
        grew(Scale::Month, None),
        "Europe/Moscow",
        vec![
            grown("at the border", "2021-01-31 23:59:59", "2021-02-01 00:00:00").fires("1 calendar month"),
            grown("one second before it", "2021-02-01 00:00:00", "2021-02-28 23:59:59")
                .waits("0 calendar months", none),
            grown("the leap day", "2020-02-28 23:59:59", "2020-02-29 23:59:59")
                .waits("0 calendar months", none),
            grown("the day after it", "2020-02-29 23:59:59", "2020-03-01 00:00:00").fires("1 calendar month"),
            grown("over the end of the year", "2020-12-31 23:59:59", "2021-01-01 00:00:00")
                .fires("1 calendar month"),
            grown("the first, before the day begins", "2021-04-15 12:00:00", "2021-05-01 05:59:59")
                .days_from("6h")
                .waits("0 calendar months", none),
            grown("the first, as the day begins", "2021-04-15 12:00:00", "2021-05-01 06:00:00")
                .days_from("6h")
                .fires("1 calendar month"),
            grown("in New York", "2021-05-01T03:59:59Z", "2021-05-01T04:00:00Z")
                .zone("America/New_York")
                .fires("1 calendar month"),
        ],
    );
    let three_months = section(
        grew(Scale::Month, Some(3)),
        "UTC",
        vec![
            grown("two months and a day", "2021-01-31 00:00:00", "2021-04-01 00:00:00")
                .fires("3 calendar months"),
            grown("almost three months", "2021-01-01 00:00:00", "2021-03-31 23:59:59")
                .waits("2 calendar months", "not yet: 1 calendar month more is needed"),
        ],
    );
    let new_year = section(
        grew(Scale::Year, None),
        "Asia/Kathmandu",
        vec![
            grown("at the border", "2020-12-31 23:59:59", "2021-01-01 00:00:00").fires("1 calendar year"),
            grown("one second before it", "2021-01-01 00:00:00", "2021-12-31 23:59:59")
                .waits("0 calendar years", "not yet: 1 calendar year more is needed"),
            grown("before the day begins", "2020-06-01 00:00:00", "2021-01-01 05:59:59")
                .days_from("6h")
                .waits("0 calendar years", "not yet: 1 calendar year more is needed"),
        ],
    );
    vec![new_month, three_months, new_year]
}
