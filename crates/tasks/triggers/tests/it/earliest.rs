//! What a task waits for, told as a person would tell it.

use jiff::SignedDuration;
use triggers::{Amount, Calendar, Check, Group, Known, Leaf, Scale, Trigger, Value, earliest};

const NOW: &str = "2021-04-25T12:00:00Z";

fn hours(hours: i64) -> Amount {
    Amount::Time(SignedDuration::from_hours(hours))
}

fn leaf(of: &str, check: Check) -> Group {
    Group::Leaf(Leaf { of: of.parse().unwrap(), check })
}

fn new_day(of: &str) -> Group {
    leaf(of, Check::ChunkDelta { scale: Scale::Day, by: None })
}

fn grew(of: &str, by: Amount) -> Group {
    leaf(of, Check::Delta { by })
}

fn time(text: &str) -> Value {
    Value::Time(text.parse().unwrap())
}

fn known(remembered: &[(&str, Value)], current: &[(&str, Value)]) -> Known {
    let map = |values: &[(&str, Value)]| {
        values.iter().map(|(name, value)| (name.parse().unwrap(), *value)).collect()
    };
    Known { current: map(current), remembered: map(remembered) }
}

fn told(trigger: &Trigger, known: &Known) -> String {
    let calendar = Calendar::default();
    let earliest = earliest(trigger, known, NOW.parse().unwrap(), &calendar);
    calendar.show(&earliest).to_string()
}

#[test]
fn of_one_parameter_all_waits_for_the_later_value_and_any_for_the_earlier() {
    let at = time("2021-04-25T10:00:00Z");
    let known = known(&[("a.b", at)], &[("a.b", at)]);
    let both = || vec![new_day("a.b"), grew("a.b", hours(6))];
    assert_eq!(told(&Trigger::All(both()), &known), "when a.b reaches 2021-04-26 00:00");
    assert_eq!(told(&Trigger::Any(both()), &known), "when a.b reaches 2021-04-25 16:00");
}

#[test]
fn what_has_to_be_mended_is_left_out_if_there_is_another_way() {
    let at = time("2021-04-25T10:00:00Z");
    let known = known(&[("a.b", at)], &[("a.b", at), ("c.d", Value::Number(7))]);
    let ways = vec![new_day("c.d"), grew("a.b", hours(6))];
    assert_eq!(told(&Trigger::Any(ways.clone()), &known), "when a.b reaches 2021-04-25 16:00");
    assert_eq!(
        told(&Trigger::All(ways), &known),
        "never, until it is fixed: the value of c.d is not a time and a.b reaches 2021-04-25 16:00"
    );
}

#[test]
fn a_value_that_was_moved_back_has_to_come_back_at_least() {
    let known = known(&[("a.b", time("2021-04-25T10:00:00Z"))], &[("a.b", time("2021-04-25T09:00:00Z"))]);
    let nothing = Trigger::All(vec![grew("a.b", hours(0))]);
    assert_eq!(told(&nothing, &known), "when a.b reaches 2021-04-25 10:00");
    let nothing = Trigger::All(vec![grew("a.b", hours(-3))]);
    assert_eq!(told(&nothing, &known), "when a.b reaches 2021-04-25 10:00");
    let no_chunk = Check::ChunkDelta { scale: Scale::Day, by: Some(0) };
    assert_eq!(told(&Trigger::All(vec![leaf("a.b", no_chunk)]), &known), "when a.b reaches 2021-04-25 10:00");
}

#[test]
fn a_deleted_value_has_to_come_past_what_is_remembered() {
    let known = known(&[("a.b", time("2021-04-25T10:00:00Z"))], &[]);
    assert_eq!(told(&Trigger::All(vec![new_day("a.b")]), &known), "when a.b reaches 2021-04-26 00:00");
}

#[test]
fn a_value_ahead_of_another_waits_for_that_one() {
    let with = "c.d".parse().unwrap();
    let same_day = leaf("a.b", Check::ChunkRefDelay { with, scale: Scale::Day, within: None });
    let trigger = Trigger::All(vec![same_day]);
    let values = [("a.b", time("2021-04-25T10:00:00Z")), ("c.d", time("2021-04-23T10:00:00Z"))];
    assert_eq!(told(&trigger, &known(&[], &values)), "when c.d reaches 2021-04-25 00:00");
    assert_eq!(told(&trigger, &known(&[], &values[..1])), "when c.d gets a value");
}

#[test]
fn what_no_value_can_reach_is_told() {
    let most = Value::Number(i64::MAX);
    let trigger = Trigger::All(vec![grew("a.b", Amount::Number(1))]);
    assert_eq!(
        told(&trigger, &known(&[("a.b", most)], &[("a.b", most)])),
        "never, until it is fixed: a.b would have to reach what no value can be"
    );
}
