//! Triggers by definition: nanoseconds, UTC, division. Independent of the crate `triggers`.

use jiff::Timestamp;
use triggers::{Amount, Check, Group, Leaf, Parameter, Scale, Trigger, Value};

use crate::Seen;

/// Nanoseconds or ones; `None` for the wrong kind.
fn number(value: Option<&Value>, time: bool) -> Option<i128> {
    match value? {
        Value::Time(at) => time.then(|| at.as_nanosecond()),
        Value::Number(number) => (!time).then_some(i128::from(*number)),
    }
}

fn amount(amount: Amount) -> (i128, bool) {
    match amount {
        Amount::Time(time) => (time.as_nanos(), true),
        Amount::Number(number) => (i128::from(number), false),
    }
}

/// The chunks of the model.
fn chunk(moment: i128, scale: Scale) -> i128 {
    let seconds = match scale {
        Scale::Minutes(minutes) => i128::from(minutes) * 60,
        Scale::Hour => 3600,
        Scale::Day => 86_400,
        other => panic!("the model has no {other:?}"),
    };
    moment.div_euclid(seconds * 1_000_000_000)
}

pub(super) fn leaf_holds(leaf: &Leaf, current: &Seen, remembered: &Seen, now: Timestamp) -> bool {
    let value = |of: &Parameter, time| number(current.get(of), time);
    let delta = |time: bool, enough: &dyn Fn(i128, i128) -> bool| {
        let Some(current) = value(&leaf.of, time) else { return false };
        match remembered.get(&leaf.of) {
            None => true,
            Some(last) => {
                number(Some(last), time).is_some_and(|last| current >= last && enough(last, current))
            }
        }
    };
    let both = |with: &Parameter, time| Some((value(&leaf.of, time)?, value(with, time)?));
    match &leaf.check {
        Check::Delta { by } => {
            let (by, time) = amount(*by);
            delta(time, &|last, current| current - last >= by)
        }
        Check::ChunkDelta { scale, by } => delta(true, &|last, current| {
            chunk(current, *scale) - chunk(last, *scale) >= i128::from(by.unwrap_or(1))
        }),
        Check::Delay { within } => {
            value(&leaf.of, true).is_some_and(|current| now.as_nanosecond() - current <= within.as_nanos())
        }
        Check::ChunkDelay { scale, within } => value(&leaf.of, true).is_some_and(|current| {
            let behind = chunk(now.as_nanosecond(), *scale) - chunk(current, *scale);
            within.map_or(behind == 0, |within| behind <= i128::from(within))
        }),
        Check::RefDelay { with, within } => {
            let (within, time) = amount(*within);
            both(with, time).is_some_and(|(current, reference)| reference - current <= within)
        }
        Check::ChunkRefDelay { with, scale, within } => {
            both(with, true).is_some_and(|(current, reference)| {
                let behind = chunk(reference, *scale) - chunk(current, *scale);
                within.map_or(behind == 0, |within| behind <= i128::from(within))
            })
        }
    }
}

/// Combines what the leaves say.
pub(super) fn joined(trigger: &Trigger, holds: &dyn Fn(&Leaf) -> bool) -> bool {
    match trigger {
        Trigger::Leaf(leaf) => holds(leaf),
        Trigger::All(groups) => groups.iter().all(|group| match group {
            Group::Leaf(leaf) => holds(leaf),
            Group::Of(leaves) => leaves.iter().any(holds),
        }),
        Trigger::Any(groups) => groups.iter().any(|group| match group {
            Group::Leaf(leaf) => holds(leaf),
            Group::Of(leaves) => leaves.iter().all(holds),
        }),
    }
}

pub(super) fn fires(trigger: &Trigger, current: &Seen, remembered: &Seen, now: Timestamp) -> bool {
    joined(trigger, &|leaf| leaf_holds(leaf, current, remembered, now))
}
