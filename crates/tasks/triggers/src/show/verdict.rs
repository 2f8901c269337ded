//! Verdicts, and the reasons in them.

use std::fmt::{self, Display};

use super::Shown;
use crate::duration::show_duration;
use crate::verdict::{Difference, LeafVerdict, Operand, Reason, Threshold, Verdict};

impl Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => out.write_str(&show_duration(*time)),
            Self::Number(number) => number.fmt(out),
            Self::Chunks(count, scale) => out.write_str(&scale.count(*count)),
        }
    }
}

impl Display for Threshold {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(difference) => write!(out, "at least {difference}"),
            Self::AtMost(difference) => write!(out, "at most {difference}"),
            Self::New(scale) => write!(out, "a new {scale}"),
            Self::Same(scale) => write!(out, "the same {scale}"),
        }
    }
}

impl Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds => out.write_str("holds"),
            Self::FirstRun => out.write_str("holds, as nothing is remembered yet"),
            Self::NotYet { missing } => write!(out, "not yet: {missing} more is needed"),
            Self::TooFarBehind { by } => write!(out, "too far behind, by {by}"),
            Self::Upcoming { by } => write!(out, "ahead, by {by}"),
            Self::NoValue => out.write_str("there is no value"),
            Self::NoReference => out.write_str("there is no value to compare with"),
            Self::Regressed { by } => write!(out, "regressed: {by} below what is remembered"),
            Self::WrongKind { operand, found, needed } => {
                write!(out, "wrong kind: {operand} is {found}, {needed} is needed")
            }
        }
    }
}

impl Display for Operand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Current => "the value",
            Self::Remembered => "what is remembered",
            Self::Reference => "the value to compare with",
        })
    }
}

/// Two lines: the condition and the reason, then the figures.
impl Display for Shown<'_, LeafVerdict> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what: leaf, calendar } = self;
        let path = leaf.path.to_string();
        let gap = if path.is_empty() { "" } else { ": " };
        writeln!(out, "{} {path}{gap}{}: {}", if leaf.holds { "+" } else { "-" }, leaf.leaf, leaf.reason)?;
        out.write_str("    ")?;
        match &leaf.current {
            Some(value) => write!(out, "current {}", calendar.show(value))?,
            None => out.write_str("no current value")?,
        }
        if leaf.leaf.check.is_delta() {
            match &leaf.remembered {
                Some(value) => write!(out, ", remembered {}", calendar.show(value))?,
                None => out.write_str(", nothing remembered")?,
            }
        }
        if let (Some(with), Some(value)) = (leaf.leaf.reference(), &leaf.reference) {
            write!(out, ", {with} {}", calendar.show(value))?;
        }
        if let Some(difference) = leaf.difference {
            write!(out, ", difference {difference}")?;
        }
        write!(out, ", needed {}", leaf.threshold)?;
        match &leaf.next {
            Some(next) if leaf.holds => write!(out, ", holds until {}", calendar.show(next)),
            Some(next) => write!(out, ", holds from {}", calendar.show(next)),
            None => Ok(()),
        }
    }
}

/// Whether it fires, then every leaf. No line feed at the end.
impl Display for Shown<'_, Verdict> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what: verdict, calendar } = self;
        match (verdict.fires, &verdict.next) {
            (true, Some(next)) => write!(out, "fires, until {}", calendar.show(next))?,
            (true, None) => out.write_str("fires")?,
            (false, Some(next)) => {
                write!(out, "does not fire, but by the time alone at {}", calendar.show(next))?;
            }
            (false, None) => out.write_str("does not fire")?,
        }
        verdict.leaves.iter().try_for_each(|leaf| write!(out, "\n{}", calendar.show(leaf)))
    }
}
