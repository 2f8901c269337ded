//! What a task waits for.

use jiff::{SignedDuration, Timestamp};

use crate::calendar::Calendar;
use crate::check::fires;
use crate::leaf::evaluate;
use crate::next_change::next_change;
use crate::trigger::{Aggregate, Amount, Check, Group, Leaf, Trigger};
use crate::value::{Kind, Parameter, Value, Values};
use crate::verdict::{Operand, Reason};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Earliest {
    Now,
    /// At this moment, if no value changes before.
    At(Timestamp),
    When(Wait),
    /// Not before an operator fixes a value.
    Never(Wait),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    Reach {
        parameter: Parameter,
        /// The smallest value that is enough.
        value: Value,
        /// The required value grows with time: this is the current one.
        rising: bool,
    },
    /// A parameter needs a value; any is enough, or the required one is not known yet.
    Value(Parameter),
    Until(Timestamp),
    Fix {
        parameter: Parameter,
        operand: Operand,
        needed: Kind,
    },
    /// The required value is not representable.
    Beyond(Parameter),
    /// All of these, or one of these. An empty list can never happen.
    Of(Aggregate, Vec<Wait>),
}

/// The earliest that a task can fire, as far as it follows from what is known now.
#[must_use]
pub fn earliest(
    trigger: &Trigger,
    values: &(impl Values + ?Sized),
    now: Timestamp,
    calendar: &Calendar,
) -> Earliest {
    if fires(trigger, values, now, calendar) {
        return Earliest::Now;
    }
    if let Some(moment) = next_change(trigger, values, now, calendar) {
        return Earliest::At(moment);
    }
    let view = View { values, now, calendar };
    let (how, groups) = match trigger {
        Trigger::Leaf(leaf) => (Aggregate::All, &[Group::Leaf(leaf.clone())][..]),
        Trigger::All(groups) => (Aggregate::All, groups.as_slice()),
        Trigger::Any(groups) => (Aggregate::Any, groups.as_slice()),
    };
    let waits = groups.iter().map(|group| match group {
        Group::Leaf(leaf) => view.wait_of(leaf),
        Group::Of(leaves) => join(how.inner(), leaves.iter().map(|leaf| view.wait_of(leaf)).collect()),
    });
    // It does not fire, so there is something to wait for. An empty aggregate waits for the
    // impossible.
    let wait = join(how, waits.collect()).unwrap_or(Wait::Of(how, Vec::new()));
    if wait.is_possible() { Earliest::When(wait) } else { Earliest::Never(wait) }
}

/// Combines the waits of an aggregate's members; `None` stands for members that hold.
fn join(how: Aggregate, members: Vec<Option<Wait>>) -> Option<Wait> {
    if members.is_empty() {
        return Some(Wait::Of(how, Vec::new()));
    }
    let some_hold = members.iter().any(Option::is_none);
    let mut waits: Vec<Wait> = Vec::new();
    for wait in members.into_iter().flatten() {
        if !waits.iter_mut().any(|other| other.absorbs(&wait, how)) {
            waits.push(wait);
        }
    }
    if how == Aggregate::Any {
        if some_hold {
            return None;
        }
        if waits.iter().any(Wait::is_possible) {
            waits.retain(Wait::is_possible);
        }
    }
    if waits.len() > 1 { Some(Wait::Of(how, waits)) } else { waits.pop() }
}

impl Wait {
    fn is_possible(&self) -> bool {
        match self {
            Self::Fix { .. } | Self::Beyond(_) => false,
            Self::Of(Aggregate::All, waits) => !waits.is_empty() && waits.iter().all(Self::is_possible),
            Self::Of(Aggregate::Any, waits) => waits.iter().any(Self::is_possible),
            Self::Reach { .. } | Self::Value(_) | Self::Until(_) => true,
        }
    }

    /// Merges another wait of the same aggregate if both are for the same: the larger value for
    /// `all`, the smaller one for `any`.
    fn absorbs(&mut self, other: &Self, how: Aggregate) -> bool {
        let same = |a: &Self| match (a, other) {
            (
                Self::Reach { parameter, value, rising },
                Self::Reach { parameter: other, value: other_value, rising: other_rising },
            ) => parameter == other && value.kind() == other_value.kind() && rising == other_rising,
            (a, other) => a == other,
        };
        if !same(self) {
            return false;
        }
        if let (Self::Reach { value, .. }, Self::Reach { value: other, .. }) = (self, other) {
            *value = match how {
                Aggregate::All => (*value).max(*other),
                Aggregate::Any => (*value).min(*other),
            };
        }
        true
    }
}

struct View<'a, V: ?Sized> {
    values: &'a V,
    now: Timestamp,
    calendar: &'a Calendar,
}

impl<V: Values + ?Sized> View<'_, V> {
    fn wait_of(&self, leaf: &Leaf) -> Option<Wait> {
        let reason = evaluate(leaf, self.values, self.now, self.calendar).reason;
        let of = || leaf.of.clone();
        Some(match reason {
            Reason::Holds | Reason::FirstRun => return None,
            Reason::WrongKind { operand, needed, .. } => {
                let reference = leaf.reference().filter(|_| operand == Operand::Reference);
                Wait::Fix { parameter: reference.unwrap_or(&leaf.of).clone(), operand, needed }
            }
            Reason::NoReference => Wait::Value(leaf.reference().unwrap_or(&leaf.of).clone()),
            Reason::Upcoming { .. } => self.catch_up(leaf),
            Reason::NoValue if self.is_free(leaf) => Wait::Value(of()),
            Reason::NoValue
            | Reason::NotYet { .. }
            | Reason::TooFarBehind { .. }
            | Reason::Regressed { .. } => {
                let rising = leaf.check.is_time_dependent();
                match self.target(leaf) {
                    Some(value) => Wait::Reach { parameter: of(), value, rising },
                    None if leaf.check.is_delta() => Wait::Beyond(of()),
                    // The smallest value is below the representable range: any value is enough.
                    None => Wait::Value(of()),
                }
            }
        })
    }

    /// Whether, as long as there is no value, any value of the right kind is enough or the required
    /// one is unknown.
    fn is_free(&self, leaf: &Leaf) -> bool {
        let kind = leaf.check.kind();
        let known = match leaf.reference() {
            Some(with) => self.values.current(with),
            None if leaf.check.is_delta() => self.values.remembered(&leaf.of),
            None => Some(Value::Time(self.now)),
        };
        known.is_none_or(|known| known.kind() != kind)
    }

    fn catch_up(&self, leaf: &Leaf) -> Wait {
        let of = || leaf.of.clone();
        let start = match (self.values.current(&leaf.of), leaf.check.scale()) {
            (Some(Value::Time(current)), Some(scale)) => {
                self.calendar.start_of(self.calendar.index(current, scale), scale)
            }
            _ => return Wait::Beyond(of()),
        };
        match leaf.reference() {
            Some(with) => Wait::Reach { parameter: with.clone(), value: Value::Time(start), rising: false },
            None => Wait::Until(start),
        }
    }

    fn target(&self, leaf: &Leaf) -> Option<Value> {
        match &leaf.check {
            Check::Delta { by } => {
                let remembered = self.values.remembered(&leaf.of)?;
                shifted(remembered, *by).map(|value| value.max(remembered))
            }
            Check::Delay { within } => shifted(Value::Time(self.now), Amount::Time(within.checked_neg()?)),
            Check::RefDelay { with, within } => shifted(self.values.current(with)?, negated(*within)?),
            Check::ChunkDelta { scale, by } => {
                let remembered = self.values.remembered(&leaf.of)?;
                let start = self.chunk_from(remembered, *scale, i64::from(by.unwrap_or(1)));
                start.map(|start| start.max(remembered))
            }
            Check::ChunkDelay { scale, within } => {
                self.chunk_from(Value::Time(self.now), *scale, -i64::from(within.unwrap_or(0)))
            }
            Check::ChunkRefDelay { with, scale, within } => {
                self.chunk_from(self.values.current(with)?, *scale, -i64::from(within.unwrap_or(0)))
            }
        }
    }

    /// The beginning of the chunk that is `chunks` after the chunk of a value.
    fn chunk_from(&self, value: Value, scale: crate::Scale, chunks: i64) -> Option<Value> {
        let Value::Time(time) = value else { return None };
        let index = self.calendar.index(time, scale).checked_add(chunks)?;
        self.calendar.border(index, scale).map(Value::Time)
    }
}

fn shifted(value: Value, by: Amount) -> Option<Value> {
    match (value, by) {
        (Value::Time(time), Amount::Time(by)) => time.checked_add(by).ok().map(Value::Time),
        (Value::Number(number), Amount::Number(by)) => number.checked_add(by).map(Value::Number),
        _ => None,
    }
}

fn negated(amount: Amount) -> Option<Amount> {
    Some(match amount {
        Amount::Time(time) => Amount::Time(SignedDuration::ZERO.checked_sub(time)?),
        Amount::Number(number) => Amount::Number(number.checked_neg()?),
    })
}
