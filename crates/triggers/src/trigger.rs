//! What triggers are made of.

use jiff::SignedDuration;

use crate::value::Parameter;

/// How much a value may differ, in exact triggers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Of moments: an exact time, so a day is 24 hours.
    Time(SignedDuration),
    /// Of numbers.
    Number(i64),
}

/// The size of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scale {
    /// So many minutes, counted from the beginning of the day; a divisor of the minutes of a day.
    Minutes(u16),
    /// An hour.
    Hour,
    /// A day of the calendar, which has 23 or 25 hours twice a year.
    Day,
    /// A week.
    Week,
    /// A month.
    Month,
    /// A year.
    Year,
}

/// What a leaf compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// The value has grown by so much since the last run: `current - last >= by`.
    Delta {
        /// By at least this.
        by: Amount,
    },
    /// The value is not far behind the time: `now - current <= within`.
    Delay {
        /// By at most this.
        within: SignedDuration,
    },
    /// The value is not far behind another one: `reference - current <= within`.
    RefDelay {
        /// The other one.
        with: Parameter,
        /// By at most this.
        within: Amount,
    },
    /// As `Delta`, in whole chunks. Without a difference: it is in a later chunk than at the last run.
    ChunkDelta {
        /// The chunks.
        scale: Scale,
        /// By at least so many.
        by: Option<u32>,
    },
    /// As `Delay`, in whole chunks. Without a difference: it is in the chunk of the time.
    ChunkDelay {
        /// The chunks.
        scale: Scale,
        /// By at most so many.
        within: Option<u32>,
    },
    /// As `RefDelay`, in whole chunks. Without a difference: both are in the same chunk.
    ChunkRefDelay {
        /// The other one.
        with: Parameter,
        /// The chunks.
        scale: Scale,
        /// By at most so many.
        within: Option<u32>,
    },
}

/// One condition on one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// What it looks at.
    pub of: Parameter,
    /// How.
    pub check: Check,
}

/// A condition inside of an aggregate: a leaf, or an aggregate of the other kind, which holds leaves alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    /// One condition.
    Leaf(Leaf),
    /// Inside of `all`: one of these. Inside of `any`: all of these.
    Of(Vec<Leaf>),
}

/// When a task fires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// One condition.
    Leaf(Leaf),
    /// All of them.
    All(Vec<Group>),
    /// At least one of them.
    Any(Vec<Group>),
}
