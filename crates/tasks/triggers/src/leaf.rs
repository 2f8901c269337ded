//! Evaluates one leaf. Allocates nothing.

use jiff::{SignedDuration, Timestamp};

use crate::calendar::Calendar;
use crate::trigger::{Amount, Check, Leaf, Scale};
use crate::value::{Kind, Value, Values};
use crate::verdict::{Difference, Operand, Reason, Threshold};

/// The result for a leaf, with the difference if one was computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evaluation {
    pub(crate) difference: Option<Difference>,
    pub(crate) reason: Reason,
}

impl From<Reason> for Evaluation {
    fn from(reason: Reason) -> Self {
        Self { difference: None, reason }
    }
}

pub(crate) fn evaluate(
    leaf: &Leaf,
    values: &(impl Values + ?Sized),
    now: Timestamp,
    calendar: &Calendar,
) -> Evaluation {
    let Some(current) = values.current(&leaf.of) else { return Reason::NoValue.into() };
    let kind = leaf.check.kind();
    if let Some(wrong) = wrong_kind(current, kind, Operand::Current) {
        return wrong.into();
    }
    let whole_chunks = |from: Value, to: Value| match leaf.check.scale() {
        Some(scale) => chunks_between(from, to, scale, calendar),
        None => between(from, to),
    };
    match &leaf.check {
        Check::Delta { .. } | Check::ChunkDelta { .. } => {
            let Some(remembered) = values.remembered(&leaf.of) else { return Reason::FirstRun.into() };
            if let Some(wrong) = wrong_kind(remembered, kind, Operand::Remembered) {
                return wrong.into();
            }
            if current < remembered {
                let by = between(current, remembered);
                return Evaluation { difference: Some(by.negated()), reason: Reason::Regressed { by } };
            }
            leaf.threshold().evaluate(whole_chunks(remembered, current))
        }
        Check::Delay { .. } | Check::ChunkDelay { .. } => {
            leaf.threshold().evaluate(whole_chunks(current, Value::Time(now)))
        }
        Check::RefDelay { with, .. } | Check::ChunkRefDelay { with, .. } => {
            let Some(reference) = values.current(with) else { return Reason::NoReference.into() };
            if let Some(wrong) = wrong_kind(reference, kind, Operand::Reference) {
                return wrong.into();
            }
            leaf.threshold().evaluate(whole_chunks(current, reference))
        }
    }
}

fn wrong_kind(value: Value, needed: Kind, operand: Operand) -> Option<Reason> {
    let found = value.kind();
    (found != needed).then_some(Reason::WrongKind { operand, found, needed })
}

/// `to - from`. The caller has checked that both have the same kind.
fn between(from: Value, to: Value) -> Difference {
    match (from, to) {
        (Value::Time(from), Value::Time(to)) => Difference::Time(to.duration_since(from)),
        (from, to) => Difference::Number(number_of(to) - number_of(from)),
    }
}

fn number_of(value: Value) -> i128 {
    match value {
        Value::Number(number) => i128::from(number),
        Value::Time(time) => time.as_nanosecond(),
    }
}

fn chunks_between(from: Value, to: Value, scale: Scale, calendar: &Calendar) -> Difference {
    match (from, to) {
        (Value::Time(from), Value::Time(to)) => {
            Difference::Chunks(calendar.index(to, scale) - calendar.index(from, scale), scale)
        }
        _ => between(from, to),
    }
}

impl Check {
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Delta { by: Amount::Number(_) } | Self::RefDelay { within: Amount::Number(_), .. } => {
                Kind::Number
            }
            _ => Kind::Time,
        }
    }
}

impl Leaf {
    #[must_use]
    pub fn threshold(&self) -> Threshold {
        let chunks = |count: u32, scale| Difference::Chunks(i64::from(count), scale);
        match self.check {
            Check::Delta { by } => Threshold::AtLeast(by.into()),
            Check::Delay { within } => Threshold::AtMost(Difference::Time(within)),
            Check::RefDelay { within, .. } => Threshold::AtMost(within.into()),
            Check::ChunkDelta { scale, by: None } => Threshold::New(scale),
            Check::ChunkDelta { scale, by: Some(by) } => Threshold::AtLeast(chunks(by, scale)),
            Check::ChunkDelay { scale, within: None } | Check::ChunkRefDelay { scale, within: None, .. } => {
                Threshold::Same(scale)
            }
            Check::ChunkDelay { scale, within: Some(within) }
            | Check::ChunkRefDelay { scale, within: Some(within), .. } => {
                Threshold::AtMost(chunks(within, scale))
            }
        }
    }
}

impl Threshold {
    fn evaluate(self, difference: Difference) -> Evaluation {
        let size = difference.size();
        let least = |least: i128| match least - size {
            missing if missing > 0 => Reason::NotYet { missing: difference.resized(missing) },
            _ => Reason::Holds,
        };
        let most = |most: i128| match size - most {
            by if by > 0 => Reason::TooFarBehind { by: difference.resized(by) },
            _ => Reason::Holds,
        };
        let reason = match self {
            Self::AtLeast(threshold) => least(threshold.size()),
            Self::New(_) => least(1),
            Self::AtMost(threshold) => most(threshold.size()),
            Self::Same(_) if size < 0 => Reason::Upcoming { by: difference.negated() },
            Self::Same(_) => most(0),
        };
        Evaluation { difference: Some(difference), reason }
    }
}

impl Difference {
    /// In its smallest unit: nanoseconds, ones, or chunks.
    fn size(self) -> i128 {
        match self {
            Self::Time(time) => time.as_nanos(),
            Self::Number(number) => number,
            Self::Chunks(count, _) => i128::from(count),
        }
    }

    fn resized(self, size: i128) -> Self {
        match self {
            Self::Time(_) => {
                let size = size.clamp(SignedDuration::MIN.as_nanos(), SignedDuration::MAX.as_nanos());
                Self::Time(SignedDuration::from_nanos_i128(size))
            }
            Self::Number(_) => Self::Number(size),
            Self::Chunks(_, scale) => Self::Chunks(size as i64, scale),
        }
    }

    fn negated(self) -> Self {
        self.resized(-self.size())
    }
}

impl From<Amount> for Difference {
    fn from(amount: Amount) -> Self {
        match amount {
            Amount::Time(time) => Self::Time(time),
            Amount::Number(number) => Self::Number(i128::from(number)),
        }
    }
}
