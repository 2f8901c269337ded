//! Several conditions.

use jiff::SignedDuration;
use triggers::{Amount, Calendar, Check, Group, Known, Leaf, Scale, Trigger};

use super::case::{OF, WITH, moment, parameter, read};

const RATES: &str = "rates.loaded_to";

/// A trigger of several leaves against some values, in Moscow on 2021-04-25 at noon.
pub(crate) struct Joined {
    pub(crate) name: &'static str,
    pub(crate) trigger: Trigger,
    pub(crate) known: Known,
    /// The verdict as it is shown.
    pub(crate) verdict: &'static str,
    /// The earliest firing as it is shown.
    pub(crate) earliest: &'static str,
}

impl Joined {
    pub(crate) fn calendar() -> Calendar {
        Calendar::of_zone("Europe/Moscow").unwrap()
    }

    pub(crate) fn now() -> jiff::Timestamp {
        moment("2021-04-25 12:00:00", &Self::calendar())
    }
}

fn known(values: [(&str, &str, &str); 3]) -> Known {
    let calendar = Joined::calendar();
    let mut known = Known::default();
    for (name, last, current) in values {
        known.remembered.extend(read(last, &calendar).map(|value| (parameter(name), value)));
        known.current.extend(read(current, &calendar).map(|value| (parameter(name), value)));
    }
    known
}

fn new_day(name: &str) -> Leaf {
    Leaf { of: parameter(name), check: Check::ChunkDelta { scale: Scale::Day, by: None } }
}

fn fresh(name: &str) -> Leaf {
    Leaf { of: parameter(name), check: Check::Delay { within: SignedDuration::from_hours(3) } }
}

fn today(name: &str) -> Leaf {
    Leaf { of: parameter(name), check: Check::ChunkDelay { scale: Scale::Day, within: None } }
}

fn caught_up(name: &str, with: &str) -> Leaf {
    let within = Amount::Time(SignedDuration::from_hours(1));
    Leaf { of: parameter(name), check: Check::RefDelay { with: parameter(with), within } }
}

fn one(leaf: Leaf) -> Group {
    Group::Leaf(leaf)
}

const GROWN: (&str, &str, &str) = (OF, "2021-04-24 10:00:00", "2021-04-25 01:00:00");
const STILL: (&str, &str, &str) = (OF, "2021-04-24 10:00:00", "2021-04-24 11:00:00");

fn nothing(name: &str) -> (&str, &str, &str) {
    (name, "", "")
}

fn both() -> Trigger {
    Trigger::All(vec![one(new_day(OF)), one(fresh(RATES))])
}

fn nested_any() -> Trigger {
    Trigger::All(vec![one(new_day(OF)), Group::Of(vec![fresh(RATES), caught_up(OF, WITH)])])
}

fn nested_all() -> Trigger {
    Trigger::Any(vec![one(new_day(RATES)), Group::Of(vec![new_day(OF), caught_up(OF, WITH)])])
}

pub(crate) fn joined() -> Vec<Joined> {
    [plain(), nested(), special()].into_iter().flatten().collect()
}

fn plain() -> Vec<Joined> {
    vec![
        Joined {
            name: "`all`: both hold, one of them only for a while",
            trigger: both(),
            known: known([GROWN, (RATES, "", "2021-04-25 10:00:00"), nothing(WITH)]),
            verdict: "\
fires, until 2021-04-25 13:00
+ all[0]: sales.loaded_to came into a new day: holds
    current 2021-04-25 01:00, remembered 2021-04-24 10:00, difference 1 calendar day, needed a new day
+ all[1]: rates.loaded_to is at most 3h behind the time: holds
    current 2021-04-25 10:00, difference 2h, needed at most 3h, holds until 2021-04-25 13:00",
            earliest: "now",
        },
        Joined {
            name: "`all`: one does not hold, so the time alone changes nothing",
            trigger: both(),
            known: known([STILL, (RATES, "", "2021-04-25 10:00:00"), nothing(WITH)]),
            verdict: "\
does not fire
- all[0]: sales.loaded_to came into a new day: not yet: 1 calendar day more is needed
    current 2021-04-24 11:00, remembered 2021-04-24 10:00, difference 0 calendar days, needed a new day
+ all[1]: rates.loaded_to is at most 3h behind the time: holds
    current 2021-04-25 10:00, difference 2h, needed at most 3h, holds until 2021-04-25 13:00",
            earliest: "when sales.loaded_to reaches 2021-04-25 00:00",
        },
        Joined {
            name: "`all`: neither holds",
            trigger: both(),
            known: known([STILL, (RATES, "", "2021-04-25 08:00:00"), nothing(WITH)]),
            verdict: "\
does not fire
- all[0]: sales.loaded_to came into a new day: not yet: 1 calendar day more is needed
    current 2021-04-24 11:00, remembered 2021-04-24 10:00, difference 0 calendar days, needed a new day
- all[1]: rates.loaded_to is at most 3h behind the time: too far behind, by 1h
    current 2021-04-25 08:00, difference 4h, needed at most 3h",
            earliest: "when sales.loaded_to reaches 2021-04-25 00:00 and rates.loaded_to reaches 2021-04-25 09:00 \
(this rises with the time)",
        },
    ]
}

fn nested() -> Vec<Joined> {
    vec![
        Joined {
            name: "`any` inside of `all`: one of the inner ones is enough",
            trigger: nested_any(),
            known: known([GROWN, nothing(RATES), (WITH, "", "2021-04-25 02:00:00")]),
            verdict: "\
fires
+ all[0]: sales.loaded_to came into a new day: holds
    current 2021-04-25 01:00, remembered 2021-04-24 10:00, difference 1 calendar day, needed a new day
- all[1].any[0]: rates.loaded_to is at most 3h behind the time: there is no value
    no current value, needed at most 3h
+ all[1].any[1]: sales.loaded_to is at most 1h behind orders.loaded_to: holds
    current 2021-04-25 01:00, orders.loaded_to 2021-04-25 02:00, difference 1h, needed at most 1h",
            earliest: "now",
        },
        Joined {
            name: "`any` inside of `all`: none of the inner ones holds",
            trigger: nested_any(),
            known: known([GROWN, nothing(RATES), (WITH, "", "2021-04-25 03:00:00")]),
            verdict: "\
does not fire
+ all[0]: sales.loaded_to came into a new day: holds
    current 2021-04-25 01:00, remembered 2021-04-24 10:00, difference 1 calendar day, needed a new day
- all[1].any[0]: rates.loaded_to is at most 3h behind the time: there is no value
    no current value, needed at most 3h
- all[1].any[1]: sales.loaded_to is at most 1h behind orders.loaded_to: too far behind, by 1h
    current 2021-04-25 01:00, orders.loaded_to 2021-04-25 03:00, difference 2h, needed at most 1h",
            earliest: "when rates.loaded_to reaches 2021-04-25 09:00 (this rises with the time) or \
sales.loaded_to reaches 2021-04-25 02:00",
        },
        Joined {
            name: "`all` inside of `any`: it was moved back, and nothing else holds",
            trigger: nested_all(),
            known: known([
                (OF, "2021-04-24 10:00:00", "2021-04-23 10:00:00"),
                nothing(RATES),
                (WITH, "", "2021-04-23 10:00:00"),
            ]),
            verdict: "\
does not fire
- any[0]: rates.loaded_to came into a new day: there is no value
    no current value, nothing remembered, needed a new day
- any[1].all[0]: sales.loaded_to came into a new day: regressed: 1d below what is remembered
    current 2021-04-23 10:00, remembered 2021-04-24 10:00, difference -1d, needed a new day
+ any[1].all[1]: sales.loaded_to is at most 1h behind orders.loaded_to: holds
    current 2021-04-23 10:00, orders.loaded_to 2021-04-23 10:00, difference 0s, needed at most 1h",
            earliest: "when rates.loaded_to gets a value or sales.loaded_to reaches 2021-04-25 00:00",
        },
        Joined {
            name: "`all` inside of `any`: the other one holds, for the first time",
            trigger: nested_all(),
            known: known([STILL, (RATES, "", "2021-04-20 10:00:00"), nothing(WITH)]),
            verdict: "\
fires
+ any[0]: rates.loaded_to came into a new day: holds, as nothing is remembered yet
    current 2021-04-20 10:00, nothing remembered, needed a new day
- any[1].all[0]: sales.loaded_to came into a new day: not yet: 1 calendar day more is needed
    current 2021-04-24 11:00, remembered 2021-04-24 10:00, difference 0 calendar days, needed a new day
- any[1].all[1]: sales.loaded_to is at most 1h behind orders.loaded_to: there is no value to compare with
    current 2021-04-24 11:00, needed at most 1h",
            earliest: "now",
        },
    ]
}

fn special() -> Vec<Joined> {
    vec![
        Joined {
            name: "`all`: the value is ahead, so the time alone makes it fire",
            trigger: Trigger::All(vec![one(new_day(OF)), one(today(RATES))]),
            known: known([GROWN, (RATES, "", "2021-04-26 10:00:00"), nothing(WITH)]),
            verdict: "\
does not fire, but by the time alone at 2021-04-26 00:00
+ all[0]: sales.loaded_to came into a new day: holds
    current 2021-04-25 01:00, remembered 2021-04-24 10:00, difference 1 calendar day, needed a new day
- all[1]: rates.loaded_to is in the same day as the time: ahead, by 1 calendar day
    current 2021-04-26 10:00, difference -1 calendar day, needed the same day, holds from 2021-04-26 00:00",
            earliest: "at 2021-04-26 00:00, by the time alone",
        },
        Joined {
            name: "a number where a time is needed",
            trigger: both(),
            known: known([(OF, "", "7"), (RATES, "", "2021-04-25 10:00:00"), nothing(WITH)]),
            verdict: "\
does not fire
- all[0]: sales.loaded_to came into a new day: wrong kind: the value is a number, a time is needed
    current 7, nothing remembered, needed a new day
+ all[1]: rates.loaded_to is at most 3h behind the time: holds
    current 2021-04-25 10:00, difference 2h, needed at most 3h, holds until 2021-04-25 13:00",
            earliest: "never, until it is fixed: the value of sales.loaded_to is not a time",
        },
        Joined {
            name: "an aggregate of nothing",
            trigger: Trigger::All(vec![]),
            known: Known::default(),
            verdict: "does not fire",
            earliest: "never, until it is fixed: all of nothing, which never holds",
        },
    ]
}
