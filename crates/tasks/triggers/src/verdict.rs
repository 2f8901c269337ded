//! What a check says.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::trigger::{Leaf, Path, Scale};
use crate::value::{Kind, Parameter, Value};

/// Whether a task should run, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it should.
    pub fires: bool,
    /// What each leaf says, in the order of the trigger. All of them are asked, even when one would decide.
    pub leaves: Vec<LeafVerdict>,
    /// What is to be remembered if the run succeeds: the current values of all parameters of the trigger that have one, references
    /// included.
    pub seen: BTreeMap<Parameter, Value>,
    /// The next moment at which `fires` is another one if no value changes. `None`: only a value can change it. It is exact to the
    /// nanosecond: a timer that knows milliseconds has to round it up.
    pub next: Option<Timestamp>,
    /// If it fires: it does so before this moment and no longer at it, if no value changes. `None`: as long as no value changes, or
    /// it does not fire.
    pub until: Option<Timestamp>,
}

impl Verdict {
    /// The leaves whose value was moved back: they wait until it has come past the remembered one again.
    pub fn regressed(&self) -> impl Iterator<Item = &LeafVerdict> {
        self.leaves.iter().filter(|leaf| matches!(leaf.why, Why::Regressed { .. }))
    }
}

/// What one leaf says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafVerdict {
    /// Where it stands in the trigger.
    pub path: Path,
    /// The leaf.
    pub leaf: Leaf,
    /// The value of its parameter.
    pub current: Option<Value>,
    /// What was remembered of it, also if the leaf does not look at that.
    pub remembered: Option<Value>,
    /// The value of the parameter that it compares with.
    pub reference: Option<Value>,
    /// What the check compared, if it came so far: `current - remembered`, `now - current`, or `reference - current`.
    pub difference: Option<Difference>,
    /// What the difference has to be.
    pub threshold: Threshold,
    /// Whether it holds.
    pub holds: bool,
    /// Why, or why not.
    pub why: Why,
    /// The next moment at which `holds` is another one if no value changes.
    pub next: Option<Timestamp>,
}

/// How far one value is from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// An exact time.
    Time(SignedDuration),
    /// Of two numbers; wider than a value, so that it never overflows.
    Number(i128),
    /// Whole chunks.
    Chunks(i64, Scale),
}

/// What a difference has to be for a leaf to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// This or more.
    AtLeast(Difference),
    /// This or less; below zero too.
    AtMost(Difference),
    /// A later chunk than the remembered one.
    New(Scale),
    /// The same chunk.
    Same(Scale),
}

/// Why a leaf holds or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It holds.
    Holds,
    /// It holds because nothing is remembered of its parameter: the first run, or a parameter that is new in the trigger.
    FirstRun,
    /// It has not grown enough.
    NotYet {
        /// What is missing.
        missing: Difference,
    },
    /// It is behind the time or the reference by more than is allowed.
    TooFarBehind {
        /// By how much more.
        by: Difference,
    },
    /// It is in a later chunk than the time or the reference, where the same one is asked for.
    Ahead {
        /// By how much.
        by: Difference,
    },
    /// The parameter has no value.
    NoValue,
    /// The parameter that it is compared with has no value.
    NoReference,
    /// It is below what is remembered: it was moved back. Somebody has to set back or delete what is remembered, or the value has to
    /// come past it again.
    Regressed {
        /// By how much.
        by: Difference,
    },
    /// A number where a time is needed, or the other way round.
    WrongKind {
        /// Which value.
        whose: Whose,
        /// What it is.
        found: Kind,
        /// What it should be.
        needed: Kind,
    },
}

impl Why {
    /// Whether the leaf holds.
    #[must_use]
    pub const fn holds(self) -> bool {
        matches!(self, Self::Holds | Self::FirstRun)
    }
}

/// One of the values that a leaf looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The current one.
    Current,
    /// The remembered one.
    Remembered,
    /// The one it is compared with.
    Reference,
}
