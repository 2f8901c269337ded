//! One row of the table.

use jiff::civil::{DateTime, Weekday};
use jiff::{SignedDuration, Timestamp};
use triggers::{
    Calendar, Check, Known, Leaf, Parameter, Trigger, Value, Verdict, check, find_zone, parse_duration,
};

pub(crate) const OF: &str = "sales.loaded_to";
pub(crate) const WITH: &str = "orders.loaded_to";

/// Cases of one condition.
pub(crate) struct Section {
    pub(crate) leaf: Leaf,
    pub(crate) cases: Vec<Case>,
}

/// Values are written as the clock of the zone shows them, `2021-04-25 03:27:33`, with the offset
/// where it shows them twice, or as numbers; an empty text is no value.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) zone: &'static str,
    pub(crate) week_start: Weekday,
    pub(crate) day_offset: SignedDuration,
    pub(crate) last: &'static str,
    pub(crate) current: &'static str,
    pub(crate) reference: &'static str,
    pub(crate) now: &'static str,
    pub(crate) fires: bool,
    /// What is compared, as it is shown; empty if the check does not come so far.
    pub(crate) difference: &'static str,
    pub(crate) reason: &'static str,
    /// When the time alone changes the verdict; empty if it does not.
    pub(crate) next: &'static str,
}

pub(crate) fn parameter(name: &str) -> Parameter {
    name.parse().unwrap()
}

pub(crate) fn section(check: Check, zone: &'static str, cases: Vec<Case>) -> Section {
    let cases = cases.into_iter().map(|case| if case.zone.is_empty() { case.zone(zone) } else { case });
    Section { leaf: Leaf { of: parameter(OF), check }, cases: cases.collect() }
}

fn case(name: &'static str) -> Case {
    Case {
        name,
        zone: "",
        week_start: Weekday::Monday,
        day_offset: SignedDuration::ZERO,
        last: "",
        current: "",
        reference: "",
        now: "2030-01-01T00:00:00Z",
        fires: false,
        difference: "",
        reason: "",
        next: "",
    }
}

/// For growth: what is remembered, and what there is.
pub(crate) fn grown(name: &'static str, last: &'static str, current: &'static str) -> Case {
    Case { last, current, ..case(name) }
}

/// For delays: what there is, and the time.
pub(crate) fn late(name: &'static str, current: &'static str, now: &'static str) -> Case {
    Case { current, now, ..case(name) }
}

/// For delays behind another parameter: what there is, and the other one.
pub(crate) fn beside(name: &'static str, current: &'static str, reference: &'static str) -> Case {
    Case { current, reference, ..case(name) }
}

impl Case {
    pub(crate) fn zone(self, zone: &'static str) -> Self {
        Self { zone, ..self }
    }

    pub(crate) fn weeks_from(self, week_start: Weekday) -> Self {
        Self { week_start, ..self }
    }

    pub(crate) fn days_from(self, offset: &str) -> Self {
        let (sign, offset) = offset.strip_prefix('-').map_or((1, offset), |offset| (-1, offset));
        Self { day_offset: parse_duration(offset).unwrap() * sign, ..self }
    }

    pub(crate) fn last(self, last: &'static str) -> Self {
        Self { last, ..self }
    }

    pub(crate) fn fires(self, difference: &'static str) -> Self {
        Self { fires: true, difference, reason: "holds", ..self }
    }

    pub(crate) fn fires_first(self) -> Self {
        Self { fires: true, reason: "holds, as nothing is remembered yet", ..self }
    }

    pub(crate) fn waits(self, difference: &'static str, reason: &'static str) -> Self {
        Self { difference, reason, ..self }
    }

    /// The time alone changes the verdict then.
    pub(crate) fn until(self, next: &'static str) -> Self {
        Self { next, ..self }
    }

    pub(crate) fn calendar(&self) -> Calendar {
        Calendar::new(find_zone(self.zone).unwrap(), self.week_start, self.day_offset).unwrap()
    }

    pub(crate) fn known(&self) -> Known {
        let calendar = self.calendar();
        let value = |name, text| Some((parameter(name), read(text, &calendar)?));
        let current = [value(OF, self.current), value(WITH, self.reference)];
        let remembered = value(OF, self.last);
        Known {
            current: current.into_iter().flatten().collect(),
            remembered: remembered.into_iter().collect(),
        }
    }

    pub(crate) fn time(&self) -> Timestamp {
        moment(self.now, &self.calendar())
    }

    pub(crate) fn verdict(&self, leaf: &Leaf) -> Verdict {
        check(&Trigger::Leaf(leaf.clone()), &self.known(), self.time(), &self.calendar())
    }
}

pub(crate) fn read(text: &str, calendar: &Calendar) -> Option<Value> {
    match text.parse() {
        _ if text.is_empty() => None,
        Ok(number) => Some(Value::Number(number)),
        Err(_) => Some(Value::Time(moment(text, calendar))),
    }
}

/// A time with its offset, or one that the clock of the zone shows once.
pub(crate) fn moment(text: &str, calendar: &Calendar) -> Timestamp {
    text.parse().unwrap_or_else(|_| {
        let shown: DateTime = text.parse().unwrap();
        calendar.zone().to_ambiguous_timestamp(shown).unambiguous().unwrap()
    })
}
