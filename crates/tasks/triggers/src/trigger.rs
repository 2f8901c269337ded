//! What triggers are made of.

use std::fmt;

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
    /// So many minutes, counted from the beginning of the day, which the day offset moves. They divide the minutes of a day
    /// ([`Scale::minutes`] refuses others); a number that does not stands for the next smaller one that does.
    Minutes(u16),
    /// An hour as the clock shows it, from minute zero on; the day offset does not move it.
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

impl Trigger {
    /// How it joins its members; `None` for a leaf alone.
    #[must_use]
    pub const fn aggregate(&self) -> Option<Aggregate> {
        match self {
            Self::Leaf(_) => None,
            Self::All(_) => Some(Aggregate::All),
            Self::Any(_) => Some(Aggregate::Any),
        }
    }

    /// Every leaf with its place, in the order in which they are written.
    pub fn leaves(&self) -> impl Iterator<Item = (Path, &Leaf)> {
        let (alone, aggregate, groups) = match self {
            Self::Leaf(leaf) => (Some(leaf), Aggregate::All, &[][..]),
            Self::All(groups) => (None, Aggregate::All, groups.as_slice()),
            Self::Any(groups) => (None, Aggregate::Any, groups.as_slice()),
        };
        let members = groups.iter().enumerate().flat_map(move |(member, group)| {
            let nested = matches!(group, Group::Of(_));
            let path =
                move |inner| Path { member: Some((aggregate, member)), inner: nested.then_some(inner) };
            group.leaves().iter().enumerate().map(move |(inner, leaf)| (path(inner), leaf))
        });
        alone.into_iter().map(|leaf| (Path::default(), leaf)).chain(members)
    }
}

impl Group {
    /// Its leaves: one, or those of the inner aggregate.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        match self {
            Self::Leaf(leaf) => std::slice::from_ref(leaf),
            Self::Of(leaves) => leaves,
        }
    }
}

impl Leaf {
    /// The parameter that it compares with, if it does.
    #[must_use]
    pub const fn reference(&self) -> Option<&Parameter> {
        match &self.check {
            Check::RefDelay { with, .. } | Check::ChunkRefDelay { with, .. } => Some(with),
            _ => None,
        }
    }
}

/// How an aggregate joins its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// Every one of them.
    All,
    /// At least one of them.
    Any,
}

impl Aggregate {
    /// What an aggregate inside of this one is.
    #[must_use]
    pub const fn inner(self) -> Self {
        match self {
            Self::All => Self::Any,
            Self::Any => Self::All,
        }
    }
}

impl fmt::Display for Aggregate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::All => "all",
            Self::Any => "any",
        })
    }
}

/// Where in a trigger a leaf stands: `all[1].any[0]`; nothing if it stands alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// The outer aggregate and the place in it, from 0 on.
    pub member: Option<(Aggregate, usize)>,
    /// The place in the inner aggregate, if it stands in one.
    pub inner: Option<usize>,
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((aggregate, member)) = self.member else { return Ok(()) };
        write!(out, "{aggregate}[{member}]")?;
        self.inner.map_or(Ok(()), |inner| write!(out, ".{}[{inner}]", aggregate.inner()))
    }
}
