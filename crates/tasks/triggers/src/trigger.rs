//! Triggers and their parts.

use std::fmt;

use jiff::SignedDuration;

use crate::value::Parameter;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Exact: a day is 24 hours.
    Time(SignedDuration),
    Number(i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scale {
    /// Minutes, counted from the beginning of the day, which the day offset moves. They divide the
    /// minutes of a day ([`Scale::minutes`] refuses others); another number stands for the next
    /// smaller divisor.
    Minutes(u16),
    /// An hour on the clock; the day offset does not move it.
    Hour,
    /// A calendar day, which may have 23 or 25 hours.
    Day,
    Week,
    Month,
    Year,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// The value has grown since the last run: `current - last >= by`.
    Delta { by: Amount },
    /// The value is not far behind the time: `now - current <= within`.
    Delay { within: SignedDuration },
    /// The value is not far behind another one: `reference - current <= within`.
    RefDelay { with: Parameter, within: Amount },
    /// `Delta` in whole chunks. Without `by`: in a later chunk than at the last run.
    ChunkDelta { scale: Scale, by: Option<u32> },
    /// `Delay` in whole chunks. Without `within`: in the current chunk.
    ChunkDelay { scale: Scale, within: Option<u32> },
    /// `RefDelay` in whole chunks. Without `within`: both in the same chunk.
    ChunkRefDelay { with: Parameter, scale: Scale, within: Option<u32> },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    pub of: Parameter,
    pub check: Check,
}

/// A member of an aggregate: a leaf, or an aggregate of the other kind, which contains leaves only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    Leaf(Leaf),
    /// Inside `all`: one of these. Inside `any`: all of these.
    Of(Vec<Leaf>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    Leaf(Leaf),
    All(Vec<Group>),
    Any(Vec<Group>),
}

impl Trigger {
    /// `None` for a single leaf.
    #[must_use]
    pub const fn aggregate(&self) -> Option<Aggregate> {
        match self {
            Self::Leaf(_) => None,
            Self::All(_) => Some(Aggregate::All),
            Self::Any(_) => Some(Aggregate::Any),
        }
    }

    /// Every leaf with its path, in the order in which they are written.
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
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        match self {
            Self::Leaf(leaf) => std::slice::from_ref(leaf),
            Self::Of(leaves) => leaves,
        }
    }
}

impl Leaf {
    #[must_use]
    pub const fn reference(&self) -> Option<&Parameter> {
        match &self.check {
            Check::RefDelay { with, .. } | Check::ChunkRefDelay { with, .. } => Some(with),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    All,
    Any,
}

impl Aggregate {
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

/// The position of a leaf in a trigger: `all[1].any[0]`; empty for a single leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// The outer aggregate and the index in it.
    pub member: Option<(Aggregate, usize)>,
    pub inner: Option<usize>,
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((aggregate, member)) = self.member else { return Ok(()) };
        write!(out, "{aggregate}[{member}]")?;
        self.inner.map_or(Ok(()), |inner| write!(out, ".{}[{inner}]", aggregate.inner()))
    }
}
