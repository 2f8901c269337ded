//! Exact delay behind another parameter.

use jiff::SignedDuration;
use triggers::{Amount, Check};

use super::Chapter;
use super::case::{WITH, beside, parameter, section};

const ABOUT: &str = "The value is not far behind another one: `reference - current <= within`. The difference is exact, and neither \
the time nor what is remembered matters. A value ahead of the reference holds. It works for times and for numbers. It may never \
hold, so a task with it should be watched; and alone it would make its task run in a loop.";

pub(super) fn chapter() -> Chapter {
    let within = |within| Check::RefDelay { with: parameter(WITH), within };
    let hour = section(
        within(Amount::Time(SignedDuration::from_hours(1))),
        "Europe/Moscow",
        vec![
            beside("equal", "2021-04-25 12:00:00", "2021-04-25 12:00:00").fires("0s"),
            beside("exactly", "2021-04-25 12:00:00", "2021-04-25 13:00:00").fires("1h"),
            beside("one second less", "2021-04-25 12:00:00", "2021-04-25 12:59:59").fires("59m 59s"),
            beside("one second more", "2021-04-25 12:00:00", "2021-04-25 13:00:01")
                .waits("1h 1s", "too far behind, by 1s"),
            beside("ahead", "2021-04-25 12:00:00", "2021-04-25 07:00:00").fires("-5h"),
            beside("no value", "", "2021-04-25 12:00:00").waits("", "there is no value"),
            beside("no reference", "2021-04-25 12:00:00", "").waits("", "there is no value to compare with"),
            beside("neither", "", "").waits("", "there is no value"),
            beside("a number", "7", "2021-04-25 12:00:00")
                .waits("", "wrong kind: the value is a number, a time is needed"),
            beside("the reference is a number", "2021-04-25 12:00:00", "7")
                .waits("", "wrong kind: the value to compare with is a number, a time is needed"),
            beside("it was moved back, which does not matter", "2021-04-25 12:00:00", "2021-04-25 12:30:00")
                .last("2021-04-25 12:20:00")
                .fires("30m"),
            beside("the clock was put forward between", "2021-03-14 01:30:00", "2021-03-14 03:30:00")
                .zone("America/New_York")
                .fires("1h"),
            beside("the clock was put back between", "2021-11-07 00:30:00", "2021-11-07 01:30:00-05:00")
                .zone("America/New_York")
                .waits("2h", "too far behind, by 1h"),
            beside("a date was skipped between", "2011-12-29 23:30:00", "2011-12-31 00:30:00")
                .zone("Pacific/Apia")
                .fires("1h"),
        ],
    );
    let number = section(
        within(Amount::Number(10)),
        "UTC",
        vec![
            beside("exactly", "90", "100").fires("10"),
            beside("one more", "89", "100").waits("11", "too far behind, by 1"),
            beside("ahead", "105", "100").fires("-5"),
            beside("as far behind as can be", "-9223372036854775808", "9223372036854775807")
                .waits("18446744073709551615", "too far behind, by 18446744073709551605"),
            beside("two kinds", "90", "2021-04-25 12:00:00")
                .waits("", "wrong kind: the value to compare with is a time, a number is needed"),
            beside("both are times", "2021-04-25 12:00:00", "2021-04-25 12:00:00")
                .waits("", "wrong kind: the value is a time, a number is needed"),
        ],
    );
    Chapter { title: "RefDelay", about: ABOUT, sections: vec![hour, number] }
}
