//! Growth in days.

use triggers::{Check, Scale};

use super::Chapter;
use super::case::{Case, Section, grown, section};

const ABOUT: &str = "As `Delta`, in whole chunks of the calendar: how many chunks begin after what is remembered and up to the \
current value. Without a difference it is enough that the value came into a later chunk. Values are times. As with `Delta`, a value \
that was moved back does not fire, even within its chunk, and with nothing remembered it fires at once.";

const NONE: &str = "not yet: 1 calendar day more is needed";

pub(super) fn chapter() -> Chapter {
    Chapter { title: "ChunkDelta", about: ABOUT, sections: vec![two_days(), new_day()] }
}

fn days(by: Option<u32>) -> Check {
    Check::ChunkDelta { scale: Scale::Day, by }
}

fn two_days() -> Section {
    section(
        days(Some(2)),
        "Europe/Moscow",
        vec![
            grown("two dates later, though less than two days", "2021-04-23 03:51:16", "2021-04-25 03:27:33")
                .fires("2 calendar days"),
            grown("almost two days, but one date later", "2021-04-23 00:00:00", "2021-04-24 23:59:59")
                .waits("1 calendar day", "not yet: 1 calendar day more is needed"),
            grown("a day and a second, but two dates later", "2021-04-23 23:59:59", "2021-04-25 00:00:00")
                .fires("2 calendar days"),
            grown("nothing remembered", "", "2021-04-25 03:27:33").fires_first(),
            grown("no value", "2021-04-23 03:51:16", "").waits("", "there is no value"),
            grown("moved back within the day", "2021-04-25 03:00:00", "2021-04-25 02:00:00")
                .waits("-1h", "regressed: 1h below what is remembered"),
            grown("a number", "", "7").waits("", "wrong kind: the value is a number, a time is needed"),
            grown("a number is remembered", "7", "2021-04-25 03:27:33")
                .waits("", "wrong kind: what is remembered is a number, a time is needed"),
            grown("a date that was skipped is not counted", "2011-12-29 12:00:00", "2011-12-31 12:00:00")
                .zone("Pacific/Apia")
                .waits("1 calendar day", "not yet: 1 calendar day more is needed"),
            grown("and one date later", "2011-12-29 12:00:00", "2012-01-01 00:00:00")
                .zone("Pacific/Apia")
                .fires("2 calendar days"),
        ],
    )
}

fn new_day() -> Section {
    let cases = [at_midnight(), with_day_offset()].concat();
    section(days(None), "Europe/Moscow", cases)
}

fn at_midnight() -> Vec<Case> {
    vec![
        grown("over midnight", "2021-04-24 23:59:59", "2021-04-25 00:00:00").fires("1 calendar day"),
        grown("up to one second before it", "2021-04-24 00:00:00", "2021-04-24 23:59:59")
            .waits("0 calendar days", NONE),
        grown("one second after it", "2021-04-24 23:59:59", "2021-04-25 00:00:01").fires("1 calendar day"),
        grown("a week later", "2021-04-18 12:00:00", "2021-04-25 12:00:00").fires("7 calendar days"),
        grown("over midnight of Moscow", "2021-04-24T20:59:59Z", "2021-04-24T21:00:00Z")
            .fires("1 calendar day"),
        grown("the same moments in UTC", "2021-04-24T20:59:59Z", "2021-04-24T21:00:00Z")
            .zone("UTC")
            .waits("0 calendar days", NONE),
        grown("over midnight of Kathmandu", "2021-04-24T18:14:59Z", "2021-04-24T18:15:00Z")
            .zone("Asia/Kathmandu")
            .fires("1 calendar day"),
        grown("over midnight of New York", "2021-04-25T03:59:59Z", "2021-04-25T04:00:00Z")
            .zone("America/New_York")
            .fires("1 calendar day"),
        grown("a whole day of 23 hours", "2021-03-14 00:00:00", "2021-03-14 23:59:59")
            .zone("America/New_York")
            .waits("0 calendar days", NONE),
        grown("the day after it", "2021-03-14 23:59:59", "2021-03-15 00:00:00")
            .zone("America/New_York")
            .fires("1 calendar day"),
        grown("a whole day of 25 hours", "2021-11-07 00:00:00", "2021-11-07 23:59:59")
            .zone("America/New_York")
            .waits("0 calendar days", NONE),
        grown("the day after it", "2021-11-07 23:59:59", "2021-11-08 00:00:00")
            .zone("America/New_York")
            .fires("1 calendar day"),
        grown("over a date that was skipped", "2011-12-29 23:59:59", "2011-12-31 00:00:00")
            .zone("Pacific/Apia")
            .fires("1 calendar day"),
        grown("a day whose midnight is skipped", "2018-11-03 23:59:59", "2018-11-04 01:00:00")
            .zone("America/Sao_Paulo")
            .fires("1 calendar day"),
        grown("the clock is put back at midnight", "2018-02-17 23:59:59-02:00", "2018-02-17 23:00:00-03:00")
            .zone("America/Sao_Paulo")
            .waits("0 calendar days", NONE),
        grown(
            "a minute after midnight it is put back",
            "2006-10-29 00:00:30-02:30",
            "2006-10-28 23:01:00-03:30",
        )
        .zone("America/St_Johns")
        .waits("0 calendar days", NONE),
        grown("and midnight comes again", "2006-10-28 23:59:59-03:30", "2006-10-29 00:00:00-03:30")
            .zone("America/St_Johns")
            .waits("0 calendar days", NONE),
    ]
}

fn with_day_offset() -> Vec<Case> {
    vec![
        grown("over the beginning of the day", "2021-04-25 05:59:59", "2021-04-25 06:00:00")
            .days_from("6h")
            .fires("1 calendar day"),
        grown("over midnight", "2021-04-24 06:00:00", "2021-04-25 05:59:59")
            .days_from("6h")
            .waits("0 calendar days", NONE),
        grown("it begins in the evening before", "2021-04-24 21:59:59", "2021-04-24 22:00:00")
            .days_from("-2h")
            .fires("1 calendar day"),
        grown("and goes on over midnight", "2021-04-24 22:00:00", "2021-04-25 21:59:59")
            .days_from("-2h")
            .waits("0 calendar days", NONE),
        grown("its beginning is skipped", "2021-03-28 01:59:59", "2021-03-28 03:00:00")
            .zone("Europe/Berlin")
            .days_from("2h")
            .fires("1 calendar day"),
        grown("its beginning comes", "2021-10-31 01:59:59", "2021-10-31 02:00:00+02:00")
            .zone("Europe/Berlin")
            .days_from("2h")
            .fires("1 calendar day"),
        grown("and comes again", "2021-10-31 02:00:00+02:00", "2021-10-31 02:00:00+01:00")
            .zone("Europe/Berlin")
            .days_from("2h")
            .waits("0 calendar days", NONE),
    ]
}
