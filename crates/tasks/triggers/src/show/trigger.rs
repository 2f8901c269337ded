//! Triggers and their parts.

use std::fmt::{self, Display};

use crate::duration::show_duration;
use crate::trigger::{Aggregate, Amount, Check, Group, Leaf, Scale, Trigger};

impl Display for Amount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => out.write_str(&show_duration(*time)),
            Self::Number(number) => write!(out, "{number}"),
        }
    }
}

/// One chunk: `day`, `30m chunk`.
impl Display for Scale {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Minutes(minutes) => write!(out, "{} chunk", minutes_of(*minutes)),
            Self::Hour => out.write_str("hour"),
            Self::Day => out.write_str("day"),
            Self::Week => out.write_str("week"),
            Self::Month => out.write_str("month"),
            Self::Year => out.write_str("year"),
        }
    }
}

impl Scale {
    /// `2 calendar days`, `1 chunk of 30m`: distinct from exact durations.
    pub(crate) fn count(self, chunks: i64) -> String {
        let plural = if chunks.unsigned_abs() == 1 { "" } else { "s" };
        match self {
            Self::Minutes(minutes) => format!("{chunks} chunk{plural} of {}", minutes_of(minutes)),
            _ => format!("{chunks} calendar {self}{plural}"),
        }
    }
}

fn minutes_of(minutes: u16) -> String {
    if minutes == 0 {
        return "0m".to_owned();
    }
    show_duration(jiff::SignedDuration::from_mins(i64::from(minutes)))
}

impl Display for Leaf {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = &self.of;
        let count = |scale: &Scale, chunks: &u32| scale.count(i64::from(*chunks));
        match &self.check {
            Check::Delta { by } => write!(out, "{of} grew by {by} or more"),
            Check::Delay { within } => {
                write!(out, "{of} is at most {} behind the time", show_duration(*within))
            }
            Check::RefDelay { with, within } => write!(out, "{of} is at most {within} behind {with}"),
            Check::ChunkDelta { scale, by: None } => write!(out, "{of} came into a new {scale}"),
            Check::ChunkDelta { scale, by: Some(by) } => {
                write!(out, "{of} grew by {} or more", count(scale, by))
            }
            Check::ChunkDelay { scale, within: None } => {
                write!(out, "{of} is in the same {scale} as the time")
            }
            Check::ChunkDelay { scale, within: Some(within) } => {
                write!(out, "{of} is at most {} behind the time", count(scale, within))
            }
            Check::ChunkRefDelay { with, scale, within: None } => {
                write!(out, "{of} is in the same {scale} as {with}")
            }
            Check::ChunkRefDelay { with, scale, within: Some(within) } => {
                write!(out, "{of} is at most {} behind {with}", count(scale, within))
            }
        }
    }
}

impl Display for Trigger {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaf(leaf) => leaf.fmt(out),
            Self::All(groups) => join_groups(out, groups, Aggregate::All),
            Self::Any(groups) => join_groups(out, groups, Aggregate::Any),
        }
    }
}

fn join_groups(out: &mut fmt::Formatter<'_>, groups: &[Group], how: Aggregate) -> fmt::Result {
    join(out, groups, how, |out, group| match group {
        Group::Leaf(leaf) => leaf.fmt(out),
        Group::Of(leaves) if leaves.len() == 1 => leaves[0].fmt(out),
        Group::Of(leaves) => {
            out.write_str("(")?;
            join(out, leaves, how.inner(), |out, leaf| leaf.fmt(out))?;
            out.write_str(")")
        }
    })
}

pub(super) fn join<T>(
    out: &mut fmt::Formatter<'_>,
    members: &[T],
    how: Aggregate,
    mut show: impl FnMut(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    if members.is_empty() {
        return write!(out, "{how} of nothing, which never holds");
    }
    for (place, member) in members.iter().enumerate() {
        if place > 0 {
            out.write_str(match how {
                Aggregate::All => " and ",
                Aggregate::Any => " or ",
            })?;
        }
        show(out, member)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn every_check_reads_as_a_sentence() {
        let with = || "orders.loaded_to".parse().unwrap();
        let hours = |hours| Amount::Time(SignedDuration::from_hours(hours));
        let (day, half) = (Scale::Day, Scale::Minutes(30));
        for (check, sentence) in [
            (Check::Delta { by: hours(6) }, "a.b grew by 6h or more"),
            (Check::Delta { by: Amount::Number(5) }, "a.b grew by 5 or more"),
            (Check::Delay { within: SignedDuration::from_mins(90) }, "a.b is at most 1h 30m behind the time"),
            (Check::RefDelay { with: with(), within: hours(1) }, "a.b is at most 1h behind orders.loaded_to"),
            (Check::ChunkDelta { scale: day, by: None }, "a.b came into a new day"),
            (Check::ChunkDelta { scale: half, by: None }, "a.b came into a new 30m chunk"),
            (Check::ChunkDelta { scale: half, by: Some(2) }, "a.b grew by 2 chunks of 30m or more"),
            (Check::ChunkDelay { scale: Scale::Week, within: None }, "a.b is in the same week as the time"),
            (
                Check::ChunkDelay { scale: day, within: Some(1) },
                "a.b is at most 1 calendar day behind the time",
            ),
            (
                Check::ChunkRefDelay { with: with(), scale: Scale::Month, within: None },
                "a.b is in the same month as orders.loaded_to",
            ),
            (
                Check::ChunkRefDelay { with: with(), scale: Scale::Year, within: Some(2) },
                "a.b is at most 2 calendar years behind orders.loaded_to",
            ),
        ] {
            assert_eq!(Leaf { of: "a.b".parse().unwrap(), check }.to_string(), sentence);
        }
    }
}
