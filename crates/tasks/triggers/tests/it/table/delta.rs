//! Exact growth.

use jiff::SignedDuration;
use triggers::{Amount, Check};

use super::Chapter;
use super::case::{grown, section};

const ABOUT: &str = "The value has grown by so much since the last successful run: `current - remembered >= by`. \
The difference is exact: a day is 24 hours. It works for times and for numbers. As data grows it comes true for certain, and a \
successful run closes it, as the value that the check saw is remembered then. With nothing remembered it fires at once (a new task, \
or a parameter that is new in the trigger). If the value was moved back below what is remembered, it does not fire and says so.";

pub(super) fn chapter() -> Chapter {
    let hours = |hours| Check::Delta { by: Amount::Time(SignedDuration::from_hours(hours)) };
    let two_days = section(
        hours(48),
        "Europe/Moscow",
        vec![
            grown("two dates later, but less than two days", "2021-04-23 03:51:16", "2021-04-25 03:27:33")
                .waits("1d 23h 36m 17s", "not yet: 23m 43s more is needed"),
            grown("exactly two days later", "2021-04-23 03:51:16", "2021-04-25 03:51:16").fires("2d"),
            grown("one second before that", "2021-04-23 03:51:16", "2021-04-25 03:51:15")
                .waits("1d 23h 59m 59s", "not yet: 1s more is needed"),
            grown("one second after that", "2021-04-23 03:51:16", "2021-04-25 03:51:17").fires("2d 1s"),
            grown("much later", "2021-04-23 03:51:16", "2021-06-02 03:51:16").fires("40d"),
            grown("not moved", "2021-04-23 03:51:16", "2021-04-23 03:51:16")
                .waits("0s", "not yet: 2d more is needed"),
            grown("nothing remembered", "", "2021-04-25 03:27:33").fires_first(),
            grown("no value", "2021-04-23 03:51:16", "").waits("", "there is no value"),
            grown("neither", "", "").waits("", "there is no value"),
            grown("moved back", "2021-04-23 03:51:16", "2021-04-23 02:51:16")
                .waits("-1h", "regressed: 1h below what is remembered"),
            grown("moved back by far more than is asked for", "2021-04-23 03:51:16", "2021-04-13 03:51:16")
                .waits("-10d", "regressed: 10d below what is remembered"),
            grown("a number", "", "7").waits("", "wrong kind: the value is a number, a time is needed"),
            grown("a number is remembered", "7", "2021-04-25 03:27:33")
                .waits("", "wrong kind: what is remembered is a number, a time is needed"),
        ],
    );
    let day = section(
        hours(24),
        "America/New_York",
        vec![
            grown("noon to noon over a day of 23 hours", "2021-03-13 12:00:00", "2021-03-14 12:00:00")
                .waits("23h", "not yet: 1h more is needed"),
            grown("24 hours over it", "2021-03-13 12:00:00", "2021-03-14 13:00:00").fires("1d"),
            grown("noon to noon over a day of 25 hours", "2021-11-06 12:00:00", "2021-11-07 12:00:00")
                .fires("1d 1h"),
            grown("24 hours over it", "2021-11-06 12:00:00", "2021-11-07 11:00:00").fires("1d"),
            grown("noon to noon where a date was skipped", "2011-12-29 12:00:00", "2011-12-31 12:00:00")
                .zone("Pacific/Apia")
                .fires("1d"),
        ],
    );
    let hour = section(
        hours(1),
        "America/New_York",
        vec![
            grown(
                "the same time in the repeated hour",
                "2021-11-07 01:30:00-04:00",
                "2021-11-07 01:30:00-05:00",
            )
            .fires("1h"),
            grown("the clock is put back", "2021-11-07 01:59:59-04:00", "2021-11-07 01:00:00-05:00")
                .waits("1s", "not yet: 59m 59s more is needed"),
            grown("the clock is put forward", "2021-03-14 01:59:59", "2021-03-14 03:00:00")
                .waits("1s", "not yet: 59m 59s more is needed"),
        ],
    );
    let number = section(
        Check::Delta { by: Amount::Number(100) },
        "UTC",
        vec![
            grown("exactly", "5", "105").fires("100"),
            grown("one less", "5", "104").waits("99", "not yet: 1 more is needed"),
            grown("one more", "5", "106").fires("101"),
            grown("from below zero", "-50", "50").fires("100"),
            grown("from the least to the greatest", "-9223372036854775808", "9223372036854775807")
                .fires("18446744073709551615"),
            grown("nothing remembered", "", "0").fires_first(),
            grown("no value", "5", "").waits("", "there is no value"),
            grown("moved back", "5", "3").waits("-2", "regressed: 2 below what is remembered"),
            grown("a time", "", "2021-04-25 03:27:33")
                .waits("", "wrong kind: the value is a time, a number is needed"),
            grown("a time is remembered", "2021-04-25 03:27:33", "7")
                .waits("", "wrong kind: what is remembered is a time, a number is needed"),
        ],
    );
    Chapter { title: "Delta", about: ABOUT, sections: vec![two_days, day, hour, number] }
}
