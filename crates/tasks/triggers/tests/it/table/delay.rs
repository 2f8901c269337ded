//! Exact delay behind the time.

use jiff::SignedDuration;
use triggers::Check;

use super::Chapter;
use super::case::{late, section};

const ABOUT: &str = "The value is not far behind the time: `now - current <= within`. The difference is exact, and what is \
remembered does not matter. A value in the future holds. It may turn false as time passes, so a task with it may never fire and \
should be watched; and alone it would make its task run in a loop. *Changes* is the moment at which the time alone changes the \
verdict; of an exact delay it is the last moment at which it still holds.";

pub(super) fn chapter() -> Chapter {
    let within = |within| Check::Delay { within };
    let three_hours = section(
        within(SignedDuration::from_hours(3)),
        "Europe/Moscow",
        vec![
            late("behind by less", "2021-04-25 10:30:00", "2021-04-25 12:00:00")
                .fires("1h 30m")
                .until("2021-04-25 13:30"),
            late("exactly", "2021-04-25 09:00:00", "2021-04-25 12:00:00")
                .fires("3h")
                .until("2021-04-25 12:00"),
            late("one second before that", "2021-04-25 09:00:00", "2021-04-25 11:59:59")
                .fires("2h 59m 59s")
                .until("2021-04-25 12:00"),
            late("one second after that", "2021-04-25 09:00:00", "2021-04-25 12:00:01")
                .waits("3h 1s", "too far behind, by 1s"),
            late("far behind", "2021-04-24 12:00:00", "2021-04-25 12:00:00")
                .waits("1d", "too far behind, by 21h"),
            late("just now", "2021-04-25 12:00:00", "2021-04-25 12:00:00")
                .fires("0s")
                .until("2021-04-25 15:00"),
            late("in the future", "2021-04-25 13:00:00", "2021-04-25 12:00:00")
                .fires("-1h")
                .until("2021-04-25 16:00"),
            late("no value", "", "2021-04-25 12:00:00").waits("", "there is no value"),
            late("a number", "7", "2021-04-25 12:00:00")
                .waits("", "wrong kind: the value is a number, a time is needed"),
            late("it was moved back, which does not matter", "2021-04-25 10:30:00", "2021-04-25 12:00:00")
                .last("2021-04-25 11:00:00")
                .fires("1h 30m")
                .until("2021-04-25 13:30"),
            late("a number is remembered, likewise", "2021-04-25 10:30:00", "2021-04-25 12:00:00")
                .last("7")
                .fires("1h 30m")
                .until("2021-04-25 13:30"),
            late("the clock was put forward between", "2021-03-14 01:00:00", "2021-03-14 05:00:00")
                .zone("America/New_York")
                .fires("3h")
                .until("2021-03-14 05:00"),
            late("the clock was put back between", "2021-11-07 00:30:00", "2021-11-07 02:30:00")
                .zone("America/New_York")
                .fires("3h")
                .until("2021-11-07 02:30"),
            late("and one second later", "2021-11-07 00:30:00", "2021-11-07 02:30:01")
                .zone("America/New_York")
                .waits("3h 1s", "too far behind, by 1s"),
            late("it ends in the repeated hour", "2021-11-06 22:30:00", "2021-11-07 00:00:00")
                .zone("America/New_York")
                .fires("1h 30m")
                .until("2021-11-07 01:30-04"),
        ],
    );
    let nothing = section(
        within(SignedDuration::ZERO),
        "Asia/Kathmandu",
        vec![
            late("just now", "2021-04-25 12:00:00", "2021-04-25 12:00:00")
                .fires("0s")
                .until("2021-04-25 12:00"),
            late("one second later", "2021-04-25 12:00:00", "2021-04-25 12:00:01")
                .waits("1s", "too far behind, by 1s"),
        ],
    );
    Chapter { title: "Delay", about: ABOUT, sections: vec![three_hours, nothing] }
}
