//! The result of a check.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::trigger::{Leaf, Path, Scale};
use crate::value::{Kind, Parameter, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub fires: bool,
    /// Every leaf in the order of the trigger, even after the deciding one.
    pub leaves: Vec<LeafVerdict>,
    /// What to remember if the run succeeds: the current values of all parameters that have one,
    /// references included.
    pub seen: BTreeMap<Parameter, Value>,
    /// The next moment at which `fires` changes if no value changes. `None`: only a value can
    /// change it. Exact to the nanosecond: round it up for a timer in milliseconds.
    pub next: Option<Timestamp>,
    /// If it fires: the first moment at which it no longer does, if no value changes.
    pub until: Option<Timestamp>,
}

impl Verdict {
    /// The leaves whose value moved back: they wait until it passes the remembered one again.
    pub fn regressed(&self) -> impl Iterator<Item = &LeafVerdict> {
        self.leaves.iter().filter(|leaf| matches!(leaf.reason, Reason::Regressed { .. }))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafVerdict {
    pub path: Path,
    pub leaf: Leaf,
    pub current: Option<Value>,
    /// Also set if the leaf does not compare with it.
    pub remembered: Option<Value>,
    pub reference: Option<Value>,
    /// `current - remembered`, `now - current`, or `reference - current`; `None` if it was not
    /// computed.
    pub difference: Option<Difference>,
    pub threshold: Threshold,
    pub holds: bool,
    pub reason: Reason,
    /// The next moment at which `holds` changes if no value changes.
    pub next: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    Time(SignedDuration),
    /// Wider than a value, so that it never overflows.
    Number(i128),
    Chunks(i64, Scale),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    AtLeast(Difference),
    /// Also below zero.
    AtMost(Difference),
    /// A later chunk than the remembered one.
    New(Scale),
    Same(Scale),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Holds,
    /// Nothing is remembered of its parameter: it is the first run, or the parameter is new in the
    /// trigger.
    FirstRun,
    NotYet {
        missing: Difference,
    },
    /// It is behind the time or the reference by more than allowed.
    TooFarBehind {
        by: Difference,
    },
    /// It is in a later chunk than the time or the reference, and the same chunk is required.
    Upcoming {
        by: Difference,
    },
    NoValue,
    NoReference,
    /// It moved back below the remembered value. An operator has to change or delete the remembered
    /// value, or the value has to pass it again.
    Regressed {
        by: Difference,
    },
    /// A number where a time is needed, or the reverse.
    WrongKind {
        operand: Operand,
        found: Kind,
        needed: Kind,
    },
}

impl Reason {
    #[must_use]
    pub const fn holds(self) -> bool {
        matches!(self, Self::Holds | Self::FirstRun)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    Current,
    Remembered,
    Reference,
}
