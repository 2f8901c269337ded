//! Random tasks. A run only sets parameters with larger numbers than its trigger's, so that there
//! are no cycles.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use rand::RngExt;
use rand::rngs::StdRng;
use triggers::{Amount, Check, Group, Leaf, Parameter, Scale, Trigger};

use crate::{Limits, Plan, Retry, SetTo};

pub(super) const PARAMETERS: usize = 8;

pub(super) fn parameter(number: usize) -> Parameter {
    // Moments have even numbers.
    let name = if number.is_multiple_of(2) { "loaded_to" } else { "rows" };
    Parameter { entity: format!("table{number}"), name: name.to_owned() }
}

pub(super) fn is_time(of: &Parameter) -> bool {
    of.name == "loaded_to"
}

pub(super) fn limits(dice: &mut StdRng) -> Limits {
    let pools = [("a".to_owned(), Some(dice.random_range(1..3))), ("b".to_owned(), None)];
    Limits { running: dice.random_range(1..5), pools: BTreeMap::from(pools) }
}

pub(super) fn plans(dice: &mut StdRng) -> Vec<Plan> {
    (0..dice.random_range(2..9)).map(|number| plan(dice, number)).collect()
}

pub(super) fn plan(dice: &mut StdRng, number: usize) -> Plan {
    let first = dice.random_range(0..PARAMETERS - 2);
    let last = dice.random_range(first + 1..PARAMETERS);
    let mut plan = Plan::new(&format!("task{number}"), trigger(dice, first, last));
    plan.priority = dice.random_range(0..3);
    plan.pool = [None, Some("a"), Some("b"), Some("unknown")][dice.random_range(0..4)].map(str::to_owned);
    for target in last..PARAMETERS {
        if dice.random_bool(0.3) {
            let source = plan.trigger.parameters().into_iter().next().cloned();
            let to = match source {
                Some(source) if is_time(&source) == is_time(&parameter(target)) => SetTo::Seen(source),
                _ if is_time(&parameter(target)) => SetTo::Now,
                _ => SetTo::Number(dice.random_range(0..20)),
            };
            if !plan.trigger.parameters().contains(&parameter(target)) {
                plan.sets.insert(parameter(target), to);
            }
        } else if dice.random_bool(0.2) {
            plan.produces.insert(parameter(target));
        }
    }
    plan.hold_back = SignedDuration::from_mins([0, 5, 20][dice.random_range(0..3)]);
    plan.retry = Retry {
        first: SignedDuration::from_secs(dice.random_range(1..60)),
        most: SignedDuration::from_mins(5),
        failing_after: 2,
        limit: [None, None, Some(2)][dice.random_range(0..3)],
    };
    plan.max_silence = dice.random_bool(0.4).then(|| SignedDuration::from_mins(dice.random_range(10..90)));
    plan.paused = dice.random_bool(0.1);
    plan
}

/// Every way to fire has a leaf that a success closes.
fn trigger(dice: &mut StdRng, first: usize, last: usize) -> Trigger {
    let any = |dice: &mut StdRng| {
        let of = dice.random_range(first..=last);
        leaf(dice, of, (first, last))
    };
    let delta = |dice: &mut StdRng| {
        let of = dice.random_range(first..=last);
        Leaf { of: parameter(of), check: delta(dice, of) }
    };
    match dice.random_range(0..5) {
        0 | 1 => Trigger::Leaf(delta(dice)),
        2 => Trigger::All(vec![Group::Leaf(delta(dice)), Group::Leaf(any(dice))]),
        3 => Trigger::All(vec![
            Group::Leaf(any(dice)),
            Group::Of(vec![delta(dice), delta(dice)]),
            Group::Of(vec![any(dice), any(dice)]),
        ]),
        _ => Trigger::Any(vec![Group::Leaf(delta(dice)), Group::Of(vec![any(dice), delta(dice)])]),
    }
}

fn scale(dice: &mut StdRng) -> Scale {
    [Scale::Minutes(15), Scale::Minutes(30), Scale::Hour][dice.random_range(0..3)]
}

fn minutes(dice: &mut StdRng, most: i64) -> SignedDuration {
    SignedDuration::from_mins(dice.random_range(1..most))
}

fn delta(dice: &mut StdRng, of: usize) -> Check {
    if !is_time(&parameter(of)) {
        return Check::Delta { by: Amount::Number(dice.random_range(1..4)) };
    }
    match dice.random_range(0..3) {
        0 => Check::Delta { by: Amount::Time(minutes(dice, 40)) },
        1 => Check::ChunkDelta { scale: scale(dice), by: None },
        _ => Check::ChunkDelta { scale: scale(dice), by: Some(dice.random_range(1..3)) },
    }
}

fn leaf(dice: &mut StdRng, of: usize, (first, last): (usize, usize)) -> Leaf {
    let with = (first..=last).find(|with| *with != of && with % 2 == of % 2);
    let within = [None, Some(0), Some(1)][dice.random_range(0..3)];
    let check = match (dice.random_range(0..4), with, is_time(&parameter(of))) {
        (0, Some(with), true) => {
            Check::RefDelay { with: parameter(with), within: Amount::Time(minutes(dice, 30)) }
        }
        (0, Some(with), false) => Check::RefDelay { with: parameter(with), within: Amount::Number(2) },
        (1, Some(with), true) => Check::ChunkRefDelay { with: parameter(with), scale: scale(dice), within },
        (2, _, true) => Check::Delay { within: minutes(dice, 40) },
        (3, _, true) => Check::ChunkDelay { scale: scale(dice), within },
        _ => delta(dice, of),
    };
    Leaf { of: parameter(of), check }
}
